import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import { foundSite, site_id } from '../../link/fixtures/plant.ts'
import type { Database } from '../../storage/database.ts'
import { runOf, storedRuns } from './fixtures/runs.ts'
import { newestKnown } from './run.ts'
import {
  knownWeather,
  newestRun,
  readArchivedDays,
  readFetchState,
  saveFetchState,
  saveRun,
  weatherHistory,
} from './store.ts'

const start = Date.UTC(2026, 5, 21)
const at = (hour: number) => start + hour * hour_ms
const date = (hour: number) => new Date(at(hour))

let database: TestDatabase
let db: Database

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  db = database.db
})
after(() => database.drop())
beforeEach(() => database.db.execute('truncate weather_runs, weather_fetches'))

test('a run is what it was, null where it was null', async () => {
  assert.equal(await newestRun(db, site_id), null)
  const run = runOf(at(6), [0, 12.5, null, 999.5], { fetched_at: date(5), model: 'best_match' })
  run.steps[0]!.temperature_c = -12.25
  const run_id = await saveRun(db, run)
  assert.deepEqual(await newestRun(db, site_id), { ...run, run_id })
  const [facts] = await storedRuns(db, site_id, { from: date(5), to: date(6) })
  const { steps: _, ...rest } = run
  const span = { resolution_minutes: 60, from_at: date(6), to_at: date(10) }
  assert.deepEqual(facts, { ...rest, ...span, run_id })
  assert.deepEqual(await storedRuns(db, site_id, { from: date(6), to: date(9) }), [])
  assert.equal(await newestRun(db, 'other'), null)
})

test('a day of an archive that is fetched again takes the place of the one before', async () => {
  const lead_minutes = 1440
  await saveRun(db, runOf(at(0), [1, 2], { lead_minutes, fetched_at: date(100) }))
  await saveRun(db, runOf(at(0), [3, 4, 5], { lead_minutes, fetched_at: date(101) }))
  const known = await knownWeather(db, site_id, date(0), { from: date(0), to: date(24) })
  assert.deepEqual(
    known.map(({ ghi_w_m2 }) => ghi_w_m2),
    [3, 4, 5],
  )
  const days = await readArchivedDays(db, site_id, 'open_meteo', { from: date(0), to: date(24) })
  assert.deepEqual([...days], [at(0)])
  assert.equal(
    (await readArchivedDays(db, site_id, 'other', { from: date(0), to: date(24) })).size,
    0,
  )
})

const run = fc
  .record({
    from: fc.integer({ min: 0, max: 30 }),
    values: fc.array(fc.option(fc.integer({ min: 0, max: 900 })), { minLength: 1, maxLength: 12 }),
    fetched: fc.integer({ min: 0, max: 30 }),
    lead_minutes: fc.option(fc.constantFrom(1440, 2880)),
  })
  .map(({ from, values, fetched, lead_minutes }) => {
    const facts = lead_minutes
      ? { lead_minutes, fetched_at: date(99) }
      : { fetched_at: date(fetched) }
    return runOf(at(from), values, facts)
  })
const differing = {
  minLength: 1,
  maxLength: 6,
  // Two that cannot both be there.
  selector: ({ lead_minutes, fetched_at, steps }: ReturnType<typeof runOf>) =>
    lead_minutes ? `${lead_minutes} ${steps[0]!.start_ms}` : `${fetched_at.getTime()}`,
}

test('what was known is the same from the database as from all runs, and never from later', async () => {
  const window = { from: date(4), to: date(30) }
  const property = fc.asyncProperty(
    fc.uniqueArray(run, differing),
    fc.integer({ min: -40, max: 40 }),
    async (runs, by) => {
      await database.db.execute('truncate weather_runs')
      for (const each of runs) await saveRun(db, each)
      const span = { from_ms: at(4), to_ms: at(30) }
      const known = await knownWeather(db, site_id, date(by), window)
      assert.deepEqual(
        known,
        newestKnown(runs, span, () => at(by)),
      )
      assert.ok(known.every(({ issued_at }) => issued_at <= date(by)))
      const lead = (start_ms: number) => start_ms - by * hour_ms
      assert.deepEqual(
        await weatherHistory(db, site_id, window, lead),
        newestKnown(runs, span, lead),
      )
    },
  )
  await fc.assert(property, { numRuns: 40, endOnFailure: true })
})

test('a history over many pieces has each step once', async () => {
  const days = 20
  for (let day = 0; day < days; day += 1) {
    const values = Array.from({ length: 36 }, (_, hour) => day * 100 + hour)
    await saveRun(db, runOf(at(24 * day), values, { fetched_at: date(24 * day) }))
  }
  // Not on the hour, so that a step lies across the border of each piece.
  const window = { from: date(0.5), to: date(24 * days) }
  const steps = await weatherHistory(db, site_id, window, (start_ms) => start_ms)
  assert.equal(steps.length, 24 * days)
  for (const [hour, step] of steps.entries()) {
    assert.equal(step.start_ms, at(hour))
    assert.equal(step.ghi_w_m2, Math.floor(hour / 24) * 100 + (hour % 24))
  }
})

test('how the fetching goes is kept', async () => {
  assert.equal(await readFetchState(db, site_id), null)
  const state = {
    source: 'open_meteo',
    succeeded_at: null,
    failed_at: date(1),
    failure: 'no answer',
    failure_count: 3,
    due_at: date(2),
    last_modified: null,
  }
  await saveFetchState(db, site_id, state)
  assert.deepEqual(await readFetchState(db, site_id), state)
  const mended = { ...state, succeeded_at: date(3), failure_count: 0, last_modified: 'Sun' }
  await saveFetchState(db, site_id, mended)
  assert.deepEqual(await readFetchState(db, site_id), mended)
})
