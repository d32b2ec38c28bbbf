/** The hourly sums of what a simulated plant measured, through the link into the database. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { Frame, Readings } from '@heliograph/domain/link'
import { addDays } from '@heliograph/domain/utc-day'
import { edge_id, foundSite } from '@heliograph/server/link/fixtures/plant'
import { ingestInto } from '@heliograph/server/link/ingest'
import {
  additive_quantities,
  addSums,
} from '@heliograph/server/performance/diagnostics/string-sums'
import { layoutOf } from '@heliograph/server/performance/rollups/inverter-span'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import { readPlant } from '@heliograph/server/performance/rollups/raw'
import { storeStringDays } from '@heliograph/server/performance/rollups/store'
import {
  decodeStrings,
  encodeStrings,
  type StoredStrings,
} from '@heliograph/server/performance/rollups/string-codec'
import { initialCounters } from '@heliograph/simulator/counters'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { historyFrames } from '@heliograph/simulator/history'
import { createSimulation } from '@heliograph/simulator/site'
import fc from 'fast-check'
import { silent, type TestDatabase, testDatabase } from './postgres.ts'

const site_id = smallSite.site_id
const hour = 3_600_000
const end = Date.UTC(2026, 5, 22)
const days = 1

let database: TestDatabase
let frames: Frame[]

before(async () => {
  database = await testDatabase()
  await foundSite(database.db, site_id)
  const counters = initialCounters(smallSite, end)
  const simulation = createSimulation(smallSite, 11)
  frames = [...historyFrames(simulation, { counters, days })]
  await store([{ seq: 1000, kind: 'inventory', payload: smallSite }])
})
after(() => database.drop())
beforeEach(clear)

async function clear(): Promise<void> {
  await database.db.execute(
    `truncate link_frames, touched_hours, inverter_readings, string_readings, weather_readings,
       logger_readings, meter_readings, inverter_hours, string_hours, string_days,
       string_steps, step_looks`,
  )
}

async function store(some: readonly Frame[]): Promise<void> {
  const source = { site_id, edge_id, epoch: 'e', lane: 'live' as const }
  await ingestInto(database.db).ingest({ ...source, frames: some, received_at: end })
}

/** The marks are made in the database's time, which is not that of the readings. */
const inHours = (hours: number) => ({ now: () => new Date(Date.now() + hours * hour) })
const timers = { after: () => () => {} }
const rollUp = (db = database.db, hours = 48) =>
  createRollups(db, { clock: inHours(hours), timers, log: silent }).runDue()

const table = (name: string) => database.db.query(`select * from ${name} order by 1, 2, 3`)
const everything = async () => ({
  inverters: await table('inverter_hours'),
  strings: await table('string_hours'),
  days: await table('string_days'),
})

test('a day of readings becomes hours that agree with counters and sensors', async () => {
  await store(frames)
  assert.ok((await rollUp()) > 0)
  const today = await database.db.queryOne<{
    is_updated: boolean
    energy_today_kwh: number | null
  }>(`select energy_at > now() as is_updated, energy_today_kwh from site_status`)
  // The roll-up runs two days from now, a day without energy.
  assert.deepEqual(today, { is_updated: true, energy_today_kwh: null })
  const [left] = await database.db.query(
    "select count(*) from touched_hours where kind in ('inverter', 'string', 'weather')",
  )
  assert.deepEqual(left, { count: 0 })
  const hours = await database.db.query<Record<string, number>>(
    'select * from inverter_hours where inverter_id = 1 order by hour_at',
  )
  assert.equal(hours.length, 24)
  const sum = (name: string) => hours.reduce((total, row) => total + row[name]!, 0)
  const readings = readingsOf(frames, 1)
  const counted = readings.at(-1)!.energy_total_kwh! - readings[0]!.energy_total_kwh!
  // The counter's rise between the readings at midnight is all but the last minute of the night.
  assert.ok(Math.abs(sum('ac_energy_kwh') - counted) < 0.01, `${sum('ac_energy_kwh')} ${counted}`)
  assert.equal(sum('covered_s'), 24 * 3600 - 60)
  assert.ok(sum('sun_covered_s') > 15 * 3600 && sum('sun_covered_s') < 17 * 3600)
  const ratio = sum('reference_ac_kwh') / (sum('reference_kwh_m2') * capacity_kwp())
  assert.ok(ratio > 0.75 && ratio < 1, `performance ratio ${ratio}`)
  const expected = sum('ac_energy_kwh') / sum('expected_energy_kwh')
  assert.ok(expected > 0.93 && expected < 1.05, `actual over expected ${expected}`)
  assert.ok(Math.abs(sum('conversion_ac_kwh') / sum('conversion_expected_kwh') - 1) < 0.02)
})

test('strings are summed by hour and by day of the site', async () => {
  await store(frames)
  await rollUp()
  const hours = await database.db.query<StoredStrings & { hour_at: Date }>(
    'select * from string_hours where inverter_id = 2 order by hour_at',
  )
  const dates = await database.db.query<StoredStrings & { local_date: string }>(
    'select * from string_days where inverter_id = 2 order by local_date',
  )
  assert.deepEqual(
    dates.map(({ local_date }) => local_date),
    ['2026-06-21', '2026-06-22'],
  )
  const of = (rows: StoredStrings[]) =>
    rows.reduce((sum, row) => sum + decodeStrings(row).energy_kwh[3]!, 0)
  assert.ok(of(hours) > 20)
  assert.ok(Math.abs(of(hours) - of(dates)) < 1e-4)
  const inverter = await database.db.query<{ kwh: number }>(
    'select sum(dc_energy_kwh) as kwh from inverter_hours where inverter_id = 2',
  )
  const all = hours.reduce(
    (sum, row) => sum + decodeStrings(row).energy_kwh.reduce((a, b) => a + b, 0),
    0,
  )
  assert.ok(Math.abs(all / inverter[0]!.kwh - 1) < 0.005)
})

test('whatever the order in which frames arrive, the sums are the same', async () => {
  const noon = frames.filter((_, nth) => nth >= 9 && nth < 13)
  await store(noon)
  await rollUp()
  const expected = await everything()
  assert.ok(expected.inverters.length > 0)
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(noon, { minLength: noon.length }),
      fc.array(fc.boolean(), { minLength: noon.length, maxLength: noon.length }),
      async (order, rolled) => {
        await clear()
        for (const [nth, frame] of order.entries()) {
          await store([frame])
          if (rolled[nth]) await rollUp()
          // A second arrival changes nothing.
          await store([frame])
        }
        await rollUp()
        assert.deepEqual(await everything(), expected)
      },
    ),
    { numRuns: 6, endOnFailure: true },
  )
})

test('readings that are committed while an hour is summed up are not forgotten', async () => {
  const { db } = database
  const [first, second] = [frames[11]!, frames[12]!]
  await store([first, second])
  await rollUp()
  const expected = await everything()
  await clear()
  await store([first])
  await rollUp(interrupted())
  assert.notDeepEqual(await everything(), expected)
  await rollUp(db, 49)
  assert.deepEqual(await everything(), expected)

  /** A database in which the second frame arrives between reading and storing. */
  function interrupted(): typeof db {
    let is_given = false
    return {
      ...db,
      transaction: (work, options) =>
        db.transaction(
          (transaction) =>
            work({
              ...transaction,
              async execute(statement, values) {
                if (!is_given && String(statement).includes('insert into inverter_hours')) {
                  is_given = true
                  await store([second])
                }
                return transaction.execute(statement, values)
              },
            }),
          options,
        ),
    }
  }
})

/** Sums of days up to a date, in which string 3 of inverter 1 loses 3 % from `onset` on. */
async function storeDays(last: string, count: number, onset: number): Promise<string[]> {
  const { db } = database
  const plant = await readPlant(db, site_id)
  const dates = Array.from({ length: count }, (_, day) => addDays(last, day - (count - 1)))
  for (const inverter_id of [1, 2]) {
    const layout = layoutOf(plant!.inverters.get(inverter_id)!.strings)
    const rows = dates.map((local_date, day) => {
      const quantities = Object.fromEntries(
        additive_quantities.map((name) => [
          name,
          layout.map(({ string_index, rated_kw }) => {
            if (name.endsWith('_s')) return name === 'limited_s' ? 0 : 50_000
            const is_losing = inverter_id === 1 && string_index === 3 && day >= onset
            const noise = 1 + Math.sin(1 + day * 7.3 + string_index * 3.1 + inverter_id) / 500
            return rated_kw * 5 * (name === 'peer_kwh' ? 1 : noise * (is_losing ? 0.97 : 1))
          }),
        ]),
      )
      const sums = { ...addSums([]), ...quantities, current_a_max: layout.map(() => 9) }
      return { inverter_id, local_date, ...encodeStrings(sums) }
    })
    await db.transaction((transaction) => storeStringDays(transaction, site_id, rows))
  }
  return dates
}

test('days that have ended are looked at once, and a lasting loss of a string is kept', async () => {
  const { db } = database
  const now = Date.UTC(2026, 5, 21, 22, 30)
  const look = (at_ms: number) =>
    createRollups(db, { clock: { now: () => new Date(at_ms) }, timers, log: silent }).runDue()
  // At the site it is the 22nd since half an hour: that day is not over.
  const dates = await storeDays('2026-06-22', 91, 60)
  assert.equal(await look(now), 0)
  const steps = await db.query<Record<string, string | number>>('select * from string_steps')
  assert.equal(steps.length, 1)
  const { inverter_id, string_index, onset_date, loss_ratio, end_date } = steps[0]!
  assert.deepEqual([inverter_id, string_index, onset_date], [1, 3, dates[60]])
  assert.ok(Math.abs(Number(loss_ratio) - 0.03) < 0.002)
  assert.equal(end_date, null)
  const looks = () => db.query('select * from step_looks order by inverter_id')
  assert.deepEqual(
    await looks(),
    [1, 2].map((id) => ({ site_id, inverter_id: id, looked_date: '2026-06-21' })),
  )
  // The days are gone now: whoever looked again would forget, or fail.
  await db.execute("delete from string_days where local_date < '2026-06-21'")
  await look(now + hour)
  assert.deepEqual(await db.query('select * from string_steps'), steps)
  await look(now + 24 * hour)
  assert.deepEqual(
    (await looks()).map(({ looked_date }) => looked_date),
    ['2026-06-22', '2026-06-22'],
  )
  assert.deepEqual(await db.query('select * from string_steps'), steps)
})

function readingsOf(all: readonly Frame[], inverter_id: number) {
  return all
    .flatMap(({ payload }) => {
      const { columns, rows } = (payload as Readings).inverter!
      return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])))
    })
    .filter((reading) => reading['inverter_id'] === inverter_id)
    .sort((a, b) => Number(a['measured_at']) - Number(b['measured_at'])) as unknown as {
    energy_total_kwh: number | null
  }[]
}

function capacity_kwp(): number {
  return (8 / 2) * 24 * 0.45484
}
