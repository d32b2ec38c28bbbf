import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { type NewModel, productionModels, recordTraining, storeModel } from './model-store.ts'
import type { Target } from './targets.ts'
import { sitesToTrain } from './train.ts'
import { saveRun } from './weather/store.ts'

const trained_at = Date.parse('2026-06-21T10:15:00Z')

let database: TestDatabase
before(async () => {
  database = await testDatabase()
})
after(() => database.drop())
beforeEach(async () => {
  const { db } = database
  await db.query(`
    truncate clients cascade;
    insert into clients (name, modules) values ('A', '{basic_scada}');
    insert into sites (site_id, client_id, name)
    select id, client_id, id from clients, unnest('{a,b,gone}'::text[]) as id;
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at, retired_at)
    select site_id, nth, 'Plant', 100, 120, now(), now(), case site_id when 'gone' then now() end
    from sites, generate_series(1, 2) as nth`)
  // What the tests are about is site a.
  await trained('b', 'site', trained_at)
})

const trained = (site_id: string, target: Target, ended_ms: number, error: string | null = null) =>
  recordTraining(database.db, site_id, {
    target,
    error,
    sample_count: 0,
    ended_at: new Date(ended_ms),
  })

/** A day of the archive of site a. */
function archived(date: string, fetched_ms: number) {
  const from_ms = Date.parse(date)
  return saveRun(database.db, {
    site_id: 'a',
    source: 'open_meteo',
    kind: 'previous',
    model: 'icon',
    lead_minutes: 1440,
    issued_at: new Date(from_ms),
    fetched_at: new Date(fetched_ms),
    steps: Array.from({ length: 24 }, (_, hour) => ({
      start_ms: from_ms + hour * hour_ms,
      end_ms: from_ms + (hour + 1) * hour_ms,
      ghi_w_m2: 100,
      dni_w_m2: null,
      dhi_w_m2: null,
      temperature_c: 15,
      wind_speed_m_s: 2,
      cloud_cover_pct: null,
      relative_humidity_pct: null,
      ghi_p10_w_m2: null,
      ghi_p90_w_m2: null,
    })),
  })
}

/** A model of site a that learned from that day on. */
const learned = (date: string, is_worse = false) =>
  database.db.transaction((tx) =>
    storeModel(tx, productionModels('a', 'site'), {
      trained_at: new Date(trained_at),
      model: Buffer.from('m'),
      is_worse,
      facts: { from_at: `${date}T04:00:00.000Z` },
      scores: {},
    } as unknown as NewModel),
  )

const now = new Date(trained_at + day_ms)
const due = (at = now) => sitesToTrain(database.db, { only_untried: true, now: at })

test('a site is trained at once, and then each night', async () => {
  assert.deepEqual(await due(), ['a'])
  await trained('a', 'site', trained_at, 'the forecast thread ended')
  assert.deepEqual(await due(), [])
  assert.deepEqual(await sitesToTrain(database.db, { only_untried: false, now }), ['a', 'b'])
})

test('a first training that came to nothing is repeated when the archive has come', async () => {
  await trained('a', 'site', trained_at)
  await trained('a', 'logger:1', trained_at + minute_ms)
  // It was there when the first target was read.
  await archived('2026-06-01', trained_at - 15 * minute_ms)
  assert.deepEqual(await due(), [])
  await archived('2026-06-02', trained_at - 13 * minute_ms)
  assert.deepEqual(await due(), ['a'])
  // No run of the job follows the other for ever.
  await trained('a', 'logger:1', trained_at + 3 * minute_ms)
  assert.deepEqual(await due(), [])
})

test('a model of half of the archive is followed when the other half has come', async () => {
  await trained('a', 'site', trained_at)
  await archived('2026-05-10', trained_at + minute_ms)
  await learned('2026-05-10', true)
  assert.deepEqual(await due(), ['a'])
  await learned('2026-05-20')
  assert.deepEqual(await due(), ['a'])
  // In its morning.
  await learned('2026-05-10')
  assert.deepEqual(await due(), [])
  // Yesterday comes every day, and waits for the night.
  await archived('2026-06-20', trained_at + hour_ms)
  assert.deepEqual(await due(), [])
})

test('a past that is still being summed up is waited for, but not by the night', async () => {
  const touch = (hour_at: string, due_at = hour_at) =>
    database.db.execute(
      `insert into touched_hours (site_id, kind, device_id, hour_at, due_at)
       values ('a', 'inverter', 7, $1, $2)`,
      [hour_at, due_at],
    )
  const clear = () => database.db.execute('delete from touched_hours')
  await touch('2026-06-21T23:00:00Z')
  assert.deepEqual(await due(), [])
  assert.deepEqual(await sitesToTrain(database.db, { only_untried: false, now }), ['a', 'b'])
  await clear()
  assert.deepEqual(await due(), ['a'])
  // Today is not learned from, and what was put off may never come.
  await touch('2026-06-22T00:00:00Z')
  await touch('2026-06-20T00:00:00Z', '2026-06-22T12:00:00Z')
  assert.deepEqual(await due(), ['a'])
  assert.deepEqual(await due(new Date('2026-06-22T12:00:00Z')), [])
  await clear()
})
