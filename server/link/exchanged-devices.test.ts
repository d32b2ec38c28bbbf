/** An inverter is exchanged: what is stored and asked, and the energy of both counters. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { createRollups } from '../performance/rollups/job.ts'
import { answerExchange, readOpenExchanges } from '../plant/exchange-questions.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  noon,
  park,
  readingsFrame,
  site_id,
} from './fixtures/plant.ts'
import { ingestInto } from './ingest.ts'

let database: TestDatabase
let seq = 0

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
after(() => database.drop())
beforeEach(async () => {
  await database.db.execute(
    `truncate link_frames, events, device_exchanges, touched_hours, inverter_readings,
       inverter_latest, inverter_hours, inverter_gap_hours, logger_hours`,
  )
  await give(inventoryFrame(1))
})

/** In one transaction. */
async function give(...frames: Omit<Frame, 'seq'>[]) {
  const numbered = frames.map((frame) => {
    seq += 1
    return { ...frame, seq }
  })
  const batch = { site_id, edge_id, epoch: 'e', lane: 'live' as const, frames: numbered }
  const { refused } = await ingestInto(database.db).ingest({
    ...batch,
    received_at: later(24 * 60),
  })
  assert.deepEqual(refused, [])
}

interface Exchange {
  at?: number
  from?: string | null
  to?: string | null
  kind?: string
  id?: string
}

const exchange = ({
  at = noon,
  from = 'A',
  to = 'B',
  kind = 'inverter',
  id = '1',
}: Exchange = {}) => {
  const identity = (serial_number: string | null, firmware_version: string) => ({
    manufacturer: 'Maker',
    model: 'M',
    serial_number,
    firmware_version,
  })
  const event = { at, source_kind: kind, source_id: id, code: 'device_identity_changed' }
  const details = { before: identity(from, '1'), after: identity(to, '2') }
  const payload = [{ ...event, edge: 'once', severity: 'warning', message: 'another', details }]
  return { kind: 'events', payload }
}

const asked = async () =>
  (await readOpenExchanges(database.db, site_id)).map(
    ({ kind, device_id, old_serial_number, serial_number, since_at }) =>
      `${kind} ${device_id}: ${old_serial_number} is ${serial_number} since ${(since_at.getTime() - noon) / minute_ms}`,
  )

const answer = (given: 'same_place' | 'wrong_wiring', serial_number = 'B') =>
  database.db.transaction((transaction) =>
    answerExchange(transaction, {
      site_id,
      kind: 'inverter',
      device_id: '1',
      serial_number,
      answer: given,
      now: new Date(noon + hour_ms),
      by: 'Ada',
    }),
  )

const later = (minutes: number) => noon + minutes * minute_ms

test('another serial number opens one question, however often the event comes', async () => {
  await give(exchange(), exchange())
  await give(exchange())
  assert.deepEqual(await asked(), ['inverter 1: A is B since 0'])
  // An edge that lost its memory finds the exchange again.
  await give(exchange({ at: later(9) }))
  assert.deepEqual(await asked(), ['inverter 1: A is B since 0'])
  await give(exchange({ at: later(3), kind: 'pcs', id: '7.0' }))
  assert.equal((await asked()).length, 1, 'there is no such battery')
  await give(exchange({ at: later(4), kind: 'combiner', id: 'C1', from: 'X', to: 'Y' }))
  assert.deepEqual(await asked(), ['combiner C1: X is Y since 4', 'inverter 1: A is B since 0'])
})

test('the same serial number, and one that is not reported, open no question', async () => {
  await give(exchange({ to: 'A' }), exchange({ from: null }), exchange({ to: null }))
  await give(exchange({ to: '' }))
  assert.deepEqual(await asked(), [])
  assert.deepEqual(await database.db.query('select * from device_exchanges'), [])
})

test('the question closes by itself when the former device answers again, in any order', async () => {
  const events = [
    exchange(),
    exchange({ at: later(5), from: 'B', to: 'C' }),
    exchange({ at: later(10), from: 'C', to: 'A' }),
  ]
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
    [1, 2, 0],
  ]) {
    await database.db.execute('truncate device_exchanges')
    for (const nth of order) await give(events[nth]!)
    assert.deepEqual(await asked(), [], order.join())
  }
  await give(exchange({ at: later(20), from: 'A', to: 'B' }))
  assert.deepEqual(await asked(), ['inverter 1: A is B since 20'])
})

test('"same place, new device" ends the question, and a late event does not open it again', async () => {
  await give(exchange({ at: later(5), from: 'B', to: 'C' }))
  assert.equal(await answer('same_place', 'B'), null, 'not the present serial number')
  assert.deepEqual(await answer('same_place', 'C'), { site_file_is_outdated: false })
  await give(exchange(), exchange({ at: later(9), from: 'B', to: 'C' }))
  assert.deepEqual(await asked(), [])
  assert.equal(await answer('same_place', 'C'), null, 'answered before')
  const [inverter] = await database.db.query(
    'select inverter_id, serial_number, retired_at from inverters where inverter_id = 1',
  )
  assert.deepEqual(inverter, { inverter_id: 1, serial_number: 'C', retired_at: null })
  await give(exchange({ at: later(20), from: 'C', to: 'D' }))
  assert.deepEqual(await asked(), ['inverter 1: C is D since 20'])
})

test('wrong wiring leaves the question open until the former device is back', async () => {
  await give(exchange())
  assert.deepEqual(await answer('wrong_wiring'), { site_file_is_outdated: false })
  const [open] = await readOpenExchanges(database.db, site_id)
  assert.deepEqual([open?.wrong_wiring_by, open?.wrong_wiring_at], ['Ada', new Date(later(60))])
  await give(exchange({ at: later(90), from: 'B', to: 'A' }))
  assert.deepEqual(await asked(), [])
})

/** The inventory with a serial number of inverter 1. */
function named(serial_number?: string) {
  const site = park()
  if (serial_number !== undefined) site.loggers[0]!.inverters[0]!.serial_number = serial_number
  return inventoryFrame(1, site)
}

test('site.yaml answers as a person does, before or after the event', async () => {
  await give(exchange())
  await give(named('B'))
  assert.deepEqual(await asked(), [])
  await give(named())
  assert.deepEqual(await asked(), [], 'nor is it asked again')
  await give(named('C'))
  await give(exchange({ at: later(5), from: 'B', to: 'C' }))
  assert.deepEqual(await asked(), [])
  await give(exchange({ at: later(9), from: 'C', to: 'D' }))
  assert.deepEqual(await answer('same_place', 'D'), { site_file_is_outdated: true })
})

test('nothing is asked about a device that is out of service', async () => {
  await give(exchange())
  const site = park()
  site.loggers[0]!.inverters.shift()
  await give(inventoryFrame(1, site))
  assert.deepEqual(await asked(), [])
})

/** 60 kW, a reading a minute, of a device whose counter shows `kwh` at `from`. */
const run = (from: number, to: number, kwh: number) =>
  readingsFrame(
    1,
    'inverter',
    Array.from({ length: to - from + 1 }, (_, nth) => ({
      inverter_id: 1,
      measured_at: later(from + nth),
      state: 'mppt' as const,
      ac_power_kw: 60,
      energy_total_kwh: kwh + nth,
    })),
  )

async function summed() {
  // Marks are due by the time of the database.
  const now = new Date(Math.max(Date.now(), noon) + 7 * 24 * hour_ms)
  const timers = { after: () => () => {} }
  await createRollups(database.db, { clock: { now: () => now }, timers, log: silent }).runDue()
  const rows = await database.db.query<{ kwh: number }>(
    `select energy_kwh as kwh from logger_hours where energy_kwh is not null order by hour_at`,
  )
  return rows.map(({ kwh }) => Math.round(kwh))
}

test('energy is that of each device, with a lower and with a higher counter, in any order', async () => {
  // Off for 40 minutes within an hour, and for five hours.
  for (const [off, back, expected] of [
    [70, 110, [60, 20, 50]],
    [70, 370, [60, 10, 50, 10]],
  ] as const) {
    const former = run(0, off, 5000)
    const event = exchange({ at: later(back) })
    // Lower, and higher by less than the former device could have delivered meanwhile.
    for (const kwh of [3, 5100]) {
      const present = run(back, back + 60, kwh)
      const orders: Parameters<typeof give>[] = [
        [former, event, present],
        [former, present, event],
        [event, present, former],
      ]
      for (const frames of orders) {
        await database.db.execute(
          `truncate device_exchanges, touched_hours, inverter_readings, inverter_hours,
             inverter_gap_hours, logger_hours, reading_blocks`,
        )
        for (const frame of frames) {
          await give(frame)
          await summed()
        }
        assert.deepEqual(await summed(), expected, `${kwh} kWh after ${back - off} minutes`)
      }
    }
  }
})
