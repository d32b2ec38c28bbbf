/** An inverter is exchanged: the energy of both counters. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { createRollups } from '../performance/rollups/job.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  noon,
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

const later = (minutes: number) => noon + minutes * minute_ms

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
