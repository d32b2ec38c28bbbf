/** Forecasts as they were issued, asked on the command line; and the hindcasts that are kept. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type NewRun, replaceHindcasts, storeRuns } from '../server/forecasts/run-store.ts'
import { heliograph } from './command-line.ts'
import { type TestDatabase, testDatabase } from './postgres.ts'

const date = '2026-06-21'
let database: TestDatabase

before(async () => {
  database = await testDatabase()
  await database.db.query(`
    insert into clients (name, modules) values ('A', '{basic_scada}');
    insert into sites (site_id, client_id, name) values ('a', 1, 'A');
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at) values ('a', 3, 'Three', 100, 120, now(), now())`)
  await storeRuns(database.db, 'a', [
    run({ issued_at: new Date('2026-06-20T09:00Z'), total_p50_kwh: 24 }),
    run({ issued_at: new Date('2026-06-20T15:00Z'), total_p50_kwh: 48, model: 'blend' }),
    run({ issued_at: new Date('2026-06-19T10:00Z'), total_p50_kwh: 1, is_hindcast: true }),
    run({ issued_at: new Date('2026-06-20T12:00Z'), total_p50_kwh: 72, target: 'site' }),
  ])
})
after(() => database.drop())

const each = <Value>(value: Value): Value[] => Array.from({ length: 24 }, () => value)

/** A day of which each hour has the same. */
function run(change: Partial<NewRun>): NewRun {
  const total_p50_kwh = change.total_p50_kwh ?? 24
  return {
    target: 'logger:3',
    target_date: date,
    is_hindcast: false,
    model: 'physical',
    issued_at: new Date('2026-06-20T09:00Z'),
    model_version: null,
    fallback_reason: null,
    weather_source: 'open_meteo',
    resolution_minutes: 60,
    weather_issued_at: new Date('2026-06-20T06:00Z'),
    p10_kw: each(0.5),
    p50_kw: each(total_p50_kwh / 24),
    p90_kw: each(4),
    poa_irradiance_w_m2: each(null),
    ambient_temperature_c: each(null),
    cloud_cover_pct: each(null),
    is_night: each(false),
    confidence: 'medium',
    total_p10_kwh: 12,
    total_p50_kwh,
    total_p90_kwh: 96,
    ...change,
  }
}

const cli = (...words: string[]) =>
  heliograph({ DATABASE_URL: database.url }, 'forecasts', ...words, '--site', 'a', '--date', date)

test('the command line lists what was issued, and shows what was known at a time', async () => {
  const list = await cli('list', '--logger', '3')
  assert.equal(list.code, 0, list.notes)
  const lines = list.out.trimEnd().split('\n')
  assert.equal(lines.length, 3)
  assert.match(lines[1]!, /2026-06-20 09:00Z +physical +- +2026-06-20 06:00Z +12\.000 +24\.000/)
  assert.match(lines[2]!, /2026-06-20 15:00Z +blend/)
  const known = await cli('show', '--logger', '3', '--as-of', '2026-06-20T14:59Z')
  assert.match(known.out, /\n\d+ +2026-06-20 09:00Z/)
  assert.match(known.out, /\n2026-06-21 23:00Z +0\.500 +1\.000 +4\.000\n$/)
  const last = JSON.parse((await cli('show', '--logger', '3', '--json')).out)
  assert.deepEqual([last.issued_at, last.total_p50_kwh], ['2026-06-20T15:00:00.000Z', 48])
  assert.deepEqual(JSON.parse((await cli('list', '--json')).out).length, 1)
  for (const [status, told, ...args] of [
    [3, /no forecast was issued for 2026-06-21 by 2026-06-19T/, '--as-of', '2026-06-19T12:00Z'],
    [3, /logger_id: site a has no logger 9/, '--logger', '9'],
    [2, /--as-of <time>.*a time in UTC/, '--as-of', 'noon'],
  ] as const) {
    const refused = await cli('show', ...args)
    assert.deepEqual([refused.code, refused.out], [status, ''], refused.notes)
    assert.match(refused.notes, told)
  }
})

test('hindcasts stay as long as scores are made of them, but for days that have newer', async () => {
  const { db } = database
  const hindcast = (target_date: string, model_version: number) =>
    run({ target_date, model_version, model: 'blend', is_hindcast: true, target: 'site' })
  const replace = (runs: NewRun[]) =>
    replaceHindcasts(db, 'a', { target: 'site', runs, kept_from: '2026-03-23' })
  await replace([hindcast('2026-03-22', 1), hindcast('2026-03-23', 1), hindcast('2026-06-10', 1)])
  await replace([hindcast('2026-06-10', 2), hindcast('2026-06-11', 2)])
  const kept = await db.query<{ day: string; model_version: number }>(
    `select target_date::text as day, model_version from forecast_runs
     where target = 'site' and is_hindcast order by target_date`,
  )
  assert.deepEqual(
    kept.map(({ day, model_version }) => [day, model_version]),
    [
      ['2026-03-23', 1],
      ['2026-06-10', 2],
      ['2026-06-11', 2],
    ],
  )
})
