import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { day_ms, hour_ms, week_ms } from '@heliograph/domain/durations'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  inverterFrame,
  lockedOut,
  readingsFrame,
  site_id,
  untilLockedOut,
} from '../link/fixtures/plant.ts'
import { ingestInto } from '../link/ingest.ts'
import { sumAgain } from '../performance/rollups/admin.ts'
import { createRollups } from '../performance/rollups/job.ts'
import { packRows } from './blocks/packing.ts'
import { watchGaps } from './gaps/watch.ts'
import { keepTiers } from './retention.ts'
import { readReadings } from './stored-readings.ts'

/** A Monday. */
const first_ms = Date.UTC(2024, 0, 1)
const noon_ms = first_ms + 12 * hour_ms
const now_ms = first_ms + 60 * day_ms

let database: TestDatabase

beforeEach(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
afterEach(() => database.drop())

const count = async (table: string) =>
  (await database.db.query<{ count: number }>(`select count(*) from ${table}`))[0]!.count

/** Packs the rows of ended weeks, and thins what is older than its retention. */
async function thin(): Promise<void> {
  const at = (time_ms: number) => ({
    db: database.db,
    clock: { now: () => new Date(time_ms) },
    log: silent,
    signal: new AbortController().signal,
  })
  await packRows(at(now_ms))
  await packRows(at(now_ms + 3 * hour_ms))
  await keepTiers(at(now_ms), {
    retention_raw_days: 35,
    retention_minute_days: 100,
  })
}

const countReadings = async () => {
  const whole = { from_ms: first_ms, to_ms: now_ms, site_id, device_ids: [1] }
  return (await readReadings(database.db, 'inverter', whole, [])).length
}

async function ingest(seq: number, ...frames: { kind: string; payload: unknown }[]) {
  const batch = { site_id, edge_id, epoch: 'tiers', lane: 'backlog', received_at: now_ms } as const
  const numbered = frames.map((frame, index) => ({ ...frame, seq: seq + index }))
  return ingestInto(database.db).ingest({ ...batch, frames: numbered as never })
}

/** Sums up whatever is marked, and looks after the gaps. */
async function rollUp(): Promise<void> {
  const { db } = database
  await db.execute(`update touched_hours set due_at = '-infinity'`)
  const clock = { now: () => new Date(now_ms) }
  await createRollups(db, { clock, timers: { after: () => () => {} }, log: silent }).runDue()
  await watchGaps(db, new Date(now_ms))
  assert.equal(await count('touched_hours'), 0)
}

/** Two hours every five seconds, with a hole of ten minutes and one of two. */
async function measure(): Promise<void> {
  const at = Array.from({ length: 1440 }, (_, index) => index * 5)
    .filter((s) => !(s > 1800 && s < 2400) && !(s > 4000 && s < 4120))
    .map((s) => ({ s, inverter_id: 1, measured_at: noon_ms + s * 1000 }))
  await ingest(
    0,
    inventoryFrame(0),
    readingsFrame(
      0,
      'inverter',
      at.map(({ s, ...key }) => ({
        ...key,
        state: 'mppt',
        ac_power_kw: 60,
        energy_total_kwh: 1000 + s / 60,
      })),
    ),
    readingsFrame(
      0,
      'string',
      at.map(({ s, ...key }) => ({ ...key, first_string_index: 0, current_a: [8 + (s % 3), 8] })),
    ),
  )
}

/** Every hour and gap, as far as they tell of readings. */
async function everythingMade(): Promise<unknown[]> {
  const made: unknown[] = []
  for (const table of ['inverter_hours', 'string_hours', 'string_days', 'logger_hours', 'gaps']) {
    const unsettled = `- 'updated_at' - 'expected_count' - 'widest_expected_count'`
    const rows = await database.db.query<{ row: unknown }>(
      `select to_jsonb(t) ${table === 'gaps' ? unsettled : ''} as row from ${table} t order by 1`,
    )
    assert.ok(rows.length > 0, table)
    made.push(...rows)
  }
  return made
}

test('hours and gaps of a thinned week stay, whatever arrives or is asked for', async () => {
  const { db } = database
  await measure()
  await rollUp()
  const made = await everythingMade()
  const whole = await countReadings()

  await thin()
  assert.deepEqual([whole, await countReadings()], [1298, 110])
  await watchGaps(db, new Date(now_ms))
  assert.deepEqual(await everythingMade(), made)

  // What arrives late is stored whole, and its hour keeps its sum.
  const late = [1_001_000, 2_000_000].map((ms) => inverterFrame(0, noon_ms + ms, 99))
  assert.equal((await ingest(10, ...late)).stored_rows, 2)
  assert.ok((await count('touched_hours')) > 0)
  await rollUp()
  assert.equal(await countReadings(), 112)
  assert.deepEqual(await everythingMade(), made)

  const admin = { db, clock: { now: () => new Date(now_ms) } }
  const final_before_at = new Date(first_ms + week_ms)
  assert.deepEqual(await sumAgain(admin, site_id, 70), { hours: 0, final_before_at })
  assert.deepEqual(await sumAgain(admin, site_id, 50), { hours: 0, final_before_at: null })
  await thin()
  assert.equal(await countReadings(), 112, 'a thinned week is thinned once')
})

test('a silence that began in a thinned week ends where readings come again', async () => {
  const { db } = database
  const gaps = () =>
    db.query(
      `select start_at, end_at, step_s from gaps where end_at is null or end_at > $1 order by 1`,
      [new Date(first_ms + 2 * day_ms).toISOString()],
    )
  const start_at = new Date(noon_ms + 7195_000)
  await measure()
  await rollUp()
  await thin()
  const [open] = await gaps()
  assert.deepEqual(open, { start_at, end_at: null, step_s: 5 })
  const again_ms = first_ms + week_ms + 9 * hour_ms
  const readings = Array.from({ length: 60 }, (_, n) => ({
    inverter_id: 1,
    measured_at: again_ms + n * 5000,
    state: 'mppt',
    ac_power_kw: 50,
  }))
  await ingest(20, readingsFrame(0, 'inverter', readings))
  await rollUp()
  const [ended] = await gaps()
  assert.deepEqual(ended, { start_at, end_at: new Date(again_ms), step_s: 5 })
  const admin = { db, clock: { now: () => new Date(now_ms) } }
  const final_before_at = new Date(first_ms + week_ms)
  assert.deepEqual(await sumAgain(admin, site_id, 70), { hours: 1, final_before_at })
})

test('a gap that is settled after its week was thinned does not count what is left', async () => {
  const { db } = database
  const holdsSince = (at_ms: number | null) =>
    db.execute('update edges set last_seen_at = $1, journal_oldest_at = $2', [
      new Date(now_ms).toISOString(),
      at_ms === null ? null : new Date(at_ms).toISOString(),
    ])
  const settled = () =>
    db.query(`select status, backfilled_count from gaps where end_at = $1`, [
      new Date(noon_ms + 2_400_000).toISOString(),
    ])
  await holdsSince(first_ms)
  await measure()
  await rollUp()
  // Half of the hole is filled while the edge may hold the rest.
  const filled = Array.from({ length: 60 }, (_, n) =>
    inverterFrame(0, noon_ms + 1_805_000 + n * 5000),
  )
  await ingest(10, ...filled)
  await rollUp()
  assert.deepEqual(await settled(), [{ status: 'backfilling', backfilled_count: 0 }])
  await thin()
  await holdsSince(null)
  await watchGaps(db, new Date(now_ms))
  assert.deepEqual(await settled(), [{ status: 'unrecoverable', backfilled_count: 0 }])
})

test('a week becomes final only when nobody makes sums of it any more', async () => {
  const { db } = database
  await ingest(0, inventoryFrame(0), inverterFrame(0, first_ms + 14 * day_ms))
  await rollUp()
  // A sum that is under way has read that no week is final, and leaves a mark in the end.
  const end = await lockedOut(
    db,
    `select from final_weeks;
     insert into touched_hours (site_id, kind, device_id, hour_at)
     values ('${site_id}', 'inverter', 1, '2024-01-16')`,
  )
  const done = thin()
  await untilLockedOut(db)
  await end()
  await done
  assert.deepEqual(await db.query("select from final_weeks where week_at = '2024-01-15'"), [])
  await rollUp()
  await thin()
  assert.equal((await db.query("select from final_weeks where week_at = '2024-01-15'")).length, 1)
})
