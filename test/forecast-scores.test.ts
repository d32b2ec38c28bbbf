/** The scores of forecasts that were issued, held against the counters that inverters sent. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { runAll, trainAll } from '../server/forecasts/jobs.ts'
import { createRollups } from '../server/performance/rollups/job.ts'
import { touchReadingsSince } from '../server/telemetry/touched-hours.ts'
import { silent } from './postgres.ts'

const first_ms = Date.parse('2026-06-20T00:00:00Z')
const end_ms = first_ms + 2 * day_ms
/** An hour in which nothing was heard of inverter 3, of plant 2. */
const silent_ms = first_ms + 9 * hour_ms
/** Two hours in which a row of curtailment held plant 1. */
const held_ms = [first_ms + 35 * hour_ms, first_ms + 36 * hour_ms]
let site: ServedSite

before(async () => {
  site = await servedSite()
  for (const instant of ['2026-06-18T09:00:00Z', '2026-06-19T09:00:00Z']) {
    site.clock.set(instant)
    await runAll(context())
  }
  await site.db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('demo', 'g', 'api', now());
    insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw,
      applied_at)
    values ('demo', 'g', 1, '2026-06-21T11:00Z', '2026-06-21T13:00Z', 50, '2026-06-21T11:00Z')`)
  for (const inverter_id of [1, 2, 3]) await addReadings(inverter_id)
  await site.db.transaction((tx) => touchReadingsSince(tx, 'demo', new Date(0)))
  // Marks are due by the time of the database.
  const later = { now: () => new Date(Math.max(Date.now(), end_ms) + 2 * day_ms) }
  const timers = { after: () => () => {} }
  await createRollups(site.db, { clock: later, timers, log: silent }).runDue()
  site.clock.set('2026-06-22T00:50:00Z')
  await trainAll(context())
})
after(() => site.close())

const context = () => ({
  db: site.db,
  clock: site.clock,
  log: silent,
  signal: new AbortController().signal,
})

/** A reading a minute under another sky each hour, with a counter that rises by what was given. */
async function addReadings(inverter_id: number): Promise<void> {
  const kws = Array.from({ length: (end_ms - first_ms) / 60_000 + 1 }, (_, minute) => {
    const hour = minute / 60
    const sun = Math.max(0, Math.sin((Math.PI * ((hour % 24) - 4)) / 14))
    return 30 * sun * (0.3 + 0.15 * ((7 * Math.floor(hour) + inverter_id) % 5))
  })
  let kwh = 1000
  const counter = kws.map((kw, minute) => {
    kwh += minute > 0 ? (kw + kws[minute - 1]!) / 120 : 0
    return kwh
  })
  await site.db.execute(
    `insert into inverter_readings
       (site_id, inverter_id, measured_at, quality, state, ac_power_kw, energy_total_kwh)
     select 'demo', $1::int, $2::timestamptz + (nth - 1) * interval '1 minute', 'good', 'mppt',
       kw, kwh
     from unnest($3::float8[], $4::float8[]) with ordinality as r (kw, kwh, nth)`,
    [inverter_id, new Date(first_ms).toISOString(), kws, counter],
  )
  await site.db.execute(
    `delete from inverter_readings
     where inverter_id = 3 and measured_at > $1 and measured_at < $2`,
    [silent_ms, silent_ms + hour_ms].map((ms) => new Date(ms).toISOString()),
  )
}

interface Forecast {
  at: Date
  p10: number
  p50: number
  p90: number
}

/** Of the hours by day. Each day was forecast once, before its gate closed. */
const issued = (target: string) =>
  site.db.query<Forecast>(
    `select r.target_date + (nth - 1) * interval '1 hour' as at, s.p10, s.p50, s.p90
     from forecast_runs r,
       unnest(r.p10_kw, r.p50_kw, r.p90_kw, r.is_night) with ordinality
         as s (p10, p50, p90, is_night, nth)
     where target = $1 and target_date between '2026-06-20' and '2026-06-21' and not s.is_night
     order by at`,
    [target],
  )

/** What the counters rose from one full hour to the next, by the start of the hour, kWh. */
async function risen(inverter_ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await site.db.query<{ at: Date; kwh: number }>(
    `select measured_at as at, sum(energy_total_kwh) as kwh from inverter_readings
     where inverter_id = any($1) and measured_at = date_trunc('hour', measured_at)
     group by measured_at order by measured_at`,
    [inverter_ids],
  )
  assert.equal(rows.length, 49)
  return new Map(rows.slice(1).map(({ kwh }, nth) => [+rows[nth]!.at, kwh - rows[nth]!.kwh]))
}

const loss = (quantile: number, actual: number, level: number) =>
  Math.max(level * (actual - quantile), (level - 1) * (actual - quantile))

test('the scores of a target are those of its readings, without gaps and curtailments', async () => {
  const { data } = (await site.get('/predictions/model-status')).body
  for (const { target, inverter_ids, rated_kw, left_out, curtailed } of [
    { target: 'site', inverter_ids: [1, 2, 3], rated_kw: 300, left_out: 3, curtailed: 2 },
    { target: 'logger:1', inverter_ids: [1, 2], rated_kw: 200, left_out: 2, curtailed: 2 },
    { target: 'logger:2', inverter_ids: [3], rated_kw: 100, left_out: 1, curtailed: 0 },
  ]) {
    const actuals = await risen(inverter_ids)
    const forecasts = await issued(target)
    const isLeftOut = (at: number) =>
      (target !== 'logger:1' && at === silent_ms) || (target !== 'logger:2' && held_ms.includes(at))
    const steps = forecasts.flatMap((step) =>
      isLeftOut(+step.at) ? [] : [{ ...step, actual: actuals.get(+step.at)! }],
    )
    assert.equal(forecasts.length - steps.length, left_out)
    assert.ok(steps.length >= 28, `${steps.length} steps`)
    const mean = (of: (step: (typeof steps)[0]) => number) =>
      steps.reduce((sum, step) => sum + of(step), 0) / steps.length
    const absolute = ({ p50, actual }: { p50: number; actual: number }) => Math.abs(p50 - actual)
    const squared = mean((step) => absolute(step) ** 2)
    const level = mean(({ actual }) => actual)
    const pinball = mean(
      ({ p10, p50, p90, actual }) =>
        (loss(p10, actual, 0.1) + loss(p50, actual, 0.5) + loss(p90, actual, 0.9)) / 3,
    )
    const wanted = {
      sample_count: steps.length,
      hindcast_count: 0,
      curtailed_excluded_count: curtailed,
      mae_kw: mean(absolute),
      rmse_kw: Math.sqrt(squared),
      nmae_pct: (100 * mean(absolute)) / rated_kw,
      nrmse_pct: (100 * Math.sqrt(squared)) / rated_kw,
      mbe_kw: mean(({ p50, actual }) => p50 - actual),
      r2_ratio: 1 - squared / mean(({ actual }) => (actual - level) ** 2),
      pinball_loss_kw: pinball,
      crps_kw: 2 * pinball,
      p10_p90_coverage_pct:
        100 * mean(({ p10, p90, actual }) => (actual >= p10 && actual <= p90 ? 1 : 0)),
    }
    const { metrics } = data.find(({ model }: { model: string }) => model.endsWith(`:${target}`))
    for (const lead_time of ['day_ahead', 'intraday']) {
      const found = metrics.find(
        (one: Record<string, unknown>) =>
          one['window_days'] === 7 && one['lead_time'] === lead_time,
      )
      for (const [name, value] of Object.entries(wanted)) {
        assert.ok(
          Math.abs(found[name] - value) < 0.005,
          `${target} ${lead_time} ${name}: ${found[name]}, not ${value}`,
        )
      }
    }
  }
})
