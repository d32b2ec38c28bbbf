/** Of days that are no longer scored, the forecasts that are still read stay. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { newestRuns } from './run-store.ts'
import { thinRuns } from './thin-runs.ts'
import { leadSpans, readVintageSteps } from './vintage-steps.ts'

const now = new Date('2026-06-21T02:00:00Z')
const [old, scored] = ['2026-03-22', '2026-03-23']
const brussels = { timezone: 'Europe/Brussels', gate_closure_local: '12:00' }
const lisbon = { timezone: 'Europe/Lisbon', gate_closure_local: '09:30' }
let database: TestDatabase

before(async () => {
  database = await testDatabase()
  await database.db.query(`
    insert into clients (name, modules) values ('A', '{basic_scada}');
    insert into sites (site_id, client_id, name) values ('a', 1, 'A');
    update markets set timezone = 'Europe/Brussels', gate_closure_local = '12:00';
    update markets set timezone = 'Europe/Lisbon', gate_closure_local = '09:30'
    where market_code = 'PT';`)
  for (const target_date of [old, scored]) {
    await database.db.execute(
      `insert into forecast_runs (site_id, target, target_date, issued_at, model,
         resolution_minutes, p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2, ambient_temperature_c,
         cloud_cover_pct, is_night, total_p10_kwh, total_p50_kwh, total_p90_kwh, confidence,
         is_hindcast)
       select 'a', target, $1::date, at, 'physical', 60, kw, kw, kw, kw, kw, kw,
         array_fill(false, array[24]), 0, 0, 0, 'low', is_hindcast
       from unnest(array['site', 'logger:1']) as t (target),
         unnest(array[false, true]) as h (is_hindcast),
         generate_series($1::timestamptz - interval '2 days', $1::timestamptz + interval '1 day',
           interval '7 minutes') as at,
         lateral (select array_fill(extract(epoch from at), array[24]) as kw) as power
       where not is_hindcast or at = $1::timestamptz - interval '2 days'`,
      [target_date],
    )
  }
})
after(() => database.drop())

const count = async (date: string) =>
  (await database.db.query('select from forecast_runs where target_date = $1', [date])).length

/** Everything that is read of a day once it is no longer scored. */
async function readsOf(date: string) {
  const { db } = database
  const from_ms = Date.parse(date)
  const sold = [brussels, lisbon].flatMap((gate) =>
    (['site', 'logger:1'] as const).map((target) =>
      readVintageSteps(
        db,
        { site_id: 'a', target },
        {
          lead_time: 'day_ahead',
          spans: leadSpans('day_ahead', { from_ms, to_ms: from_ms + day_ms }, gate),
        },
      ),
    ),
  )
  const asked = { targets: ['site', 'logger:1'] as const, target_date: date, until: now }
  return [await Promise.all(sold), await newestRuns(db, 'a', asked)]
}

test('beyond the days that are scored, what was sold ahead and said last stays', async () => {
  assert.equal(utcDate(now.getTime() - 90 * day_ms), scored)
  const before_it = await Promise.all([old, scored].map(readsOf))
  const whole = await count(scored)
  await thinRuns(database.db, now, new AbortController().signal)
  assert.deepEqual(await Promise.all([old, scored].map(readsOf)), before_it)
  assert.equal(await count(scored), whole)
  // Of each target: the hindcast, the newest run, two before the gates of Brussels, whose days are
  // not those of UTC, and one before that of Lisbon.
  assert.equal(await count(old), 2 * (1 + 1 + 2 + 1))
  await thinRuns(database.db, now, new AbortController().signal)
  assert.equal(await count(old), 2 * (1 + 1 + 2 + 1))
})
