/** Forecasts of a served site: trained on its past, issued, kept, and held against what came. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { addKey, type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { addPast } from '../server/forecasts/fixtures/history.ts'
import { runAll } from '../server/forecasts/jobs.ts'
import { silent } from './postgres.ts'

const today = Date.parse('2026-06-21T00:00:00Z')
const now = '2026-06-21T09:00:00Z'
const past_days = 45
let site: ServedSite

before(async () => {
  site = await servedSite()
  site.clock.set(now)
  const span = { from_ms: today - past_days * day_ms, to_ms: today }
  await addPast(site.db, { site_id: 'demo', ...span })
})
after(() => site.close())

const context = () => ({
  db: site.db,
  clock: site.clock,
  log: silent,
  signal: new AbortController().signal,
})

interface Point {
  start_at: string
  p10_kw: number
  p50_kw: number
  p90_kw: number
  limited_p50_kw: number
}

const ask = async (path: string) => {
  const { status, body } = await site.get(`/predictions${path}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const countRuns = async () => {
  const [row] = await site.db.query<{ count: number }>(
    'select count(*)::int as count from forecast_runs where not is_hindcast',
  )
  return row!.count
}

test('what comes first is physics, and says why', async () => {
  const { data, meta } = await ask('/forecast')
  assert.deepEqual([meta.count, data.length], [2, 2])
  for (const forecast of [...data, meta.site]) {
    const { status, fallback_reason, model, model_version } = forecast
    assert.deepEqual([status, fallback_reason], ['fallback', 'no_model_yet'])
    assert.deepEqual([model, model_version, forecast.points.length], ['physical', null, 24])
    assert.equal(forecast.weather_run_at, '2026-06-21T01:00:00.000Z')
    assertQuantiles(forecast.points, forecast.logger_id === 1 ? 200 : 300)
  }
  const models = (await ask('/model-status')).data
  assert.deepEqual(
    models.map(({ model, status }: Record<string, string>) => [model, status]),
    [
      ['production:site', 'insufficient_data'],
      ['production:logger:1', 'insufficient_data'],
      ['production:logger:2', 'insufficient_data'],
    ],
  )
})

function assertQuantiles(points: readonly Point[], rated_kw: number) {
  for (const { p10_kw, p50_kw, p90_kw, limited_p50_kw, start_at } of points) {
    const ascending = [0, p10_kw, p50_kw, p90_kw, rated_kw]
    assert.deepEqual(
      ascending,
      ascending.toSorted((a, b) => a - b),
      start_at,
    )
    assert.equal(limited_p50_kw, p50_kw)
  }
  assert.ok(points.some(({ p10_kw, p90_kw }) => p10_kw < p90_kw))
}

test('a model of each target is trained once there is none, and forecasts from then on', async () => {
  await runAll(context())
  const { data, meta } = await ask('/forecast')
  for (const forecast of [...data, meta.site]) {
    const { model, model_version, status, fallback_reason, cached } = forecast
    assert.deepEqual([model, model_version, status], ['blend', '1', 'ok'])
    assert.deepEqual([fallback_reason, cached], [null, true])
    assertQuantiles(forecast.points, forecast.logger_id === 1 ? 200 : 300)
  }
  const one = await ask('/forecast/logger/2')
  assert.deepEqual(one, data[1])
  const [first] = (await ask('/model-status')).data
  assert.equal(first.version, '1')
  // Each hour by the weather forecasts of three leads, as far as they are there.
  assert.ok(first.training_sample_count > 1300, `${first.training_sample_count}`)
  // Of so short a history the days held out are learned from once they have scored the model.
  assert.equal(first.hold_out_days, 7)
  assert.ok(first.last_trial.used && first.last_trial.sample_count > 80)
  assert.ok(Date.parse(first.training_to_at) > today - day_ms)
})

test('the scores are those of the rows', async () => {
  const models = (await ask('/model-status')).data
  for (const [target, logger_ids, rated_kw] of [
    ['site', [1, 2], 300],
    ['logger:1', [1], 200],
  ] as const) {
    const steps = await scoredSteps(target, logger_ids)
    assert.ok(steps.length > 80, `${steps.length} steps`)
    const mean = (of: (step: (typeof steps)[0]) => number) =>
      steps.reduce((sum, step) => sum + of(step), 0) / steps.length
    const pinball = mean(
      ({ p10, p50, p90, actual }) =>
        (loss(p10, actual, 0.1) + loss(p50, actual, 0.5) + loss(p90, actual, 0.9)) / 3,
    )
    const wanted = {
      mae_kw: mean(({ p50, actual }) => Math.abs(p50 - actual)),
      rmse_kw: Math.sqrt(mean(({ p50, actual }) => (p50 - actual) ** 2)),
      mbe_kw: mean(({ p50, actual }) => p50 - actual),
      nmae_pct: (100 * mean(({ p50, actual }) => Math.abs(p50 - actual))) / rated_kw,
      pinball_loss_kw: pinball,
      crps_kw: 2 * pinball,
      p10_p90_coverage_pct:
        100 * mean(({ p10, p90, actual }) => (actual >= p10 && actual <= p90 ? 1 : 0)),
    }
    const { metrics } = models.find(({ model }: { model: string }) => model.endsWith(target))
    const found = metrics.find(
      (one: Record<string, unknown>) =>
        one['window_days'] === 7 && one['lead_time'] === 'day_ahead',
    )
    for (const [name, value] of Object.entries(wanted)) {
      // Energy is kept in whole Wh.
      assert.ok(
        Math.abs(found[name] - value) < 0.005,
        `${target} ${name}: ${found[name]}, ${value}`,
      )
    }
    assert.deepEqual([found.sample_count, found.hindcast_count], [steps.length, steps.length])
    // The sky of the day before says less than its forecast.
    assert.ok(found.skill_vs_persistence_pct > 20, `${found.skill_vs_persistence_pct}`)
  }
})

const loss = (quantile: number, actual: number, level: number) =>
  Math.max(level * (actual - quantile), (level - 1) * (actual - quantile))

/** Straight from the rows: hindcasts of the last 7 days, and the hours of the plants. */
const scoredSteps = (target: string, logger_ids: readonly number[]) =>
  site.db.query<{ p10: number; p50: number; p90: number; actual: number }>(
    `select s.p10, s.p50, s.p90,
            (select sum(h.energy_kwh) from logger_hours h
             where h.logger_id = any($2)
               and h.hour_at = r.target_date + (s.nth - 1) * interval '1 hour') as actual
     from forecast_runs r,
       unnest(r.p10_kw, r.p50_kw, r.p90_kw, r.is_night) with ordinality
         as s (p10, p50, p90, is_night, nth)
     where r.target = $1 and r.is_hindcast and r.target_date >= $3 and not s.is_night`,
    [target, logger_ids, utcDate(today - 7 * day_ms)],
  )

test('refresh makes a new run, once for all who ask meanwhile', async () => {
  const before = await ask('/forecast')
  const runs = await countRuns()
  site.clock.set('2026-06-21T09:30:00Z')
  const answers = await Promise.all([1, 2, 3].map(() => ask('/forecast?refresh=true')))
  assert.equal(await countRuns(), runs + 3)
  for (const { data } of answers) {
    assert.ok(data[0].run_id > before.data[0].run_id)
    assert.deepEqual([data[0].cached, data[0].run_at], [false, '2026-06-21T09:30:00.000Z'])
  }
  // From the same weather by the same model it is the same.
  const power = ({ data }: typeof before) => data[0].points.map(({ p50_kw }: Point) => p50_kw)
  assert.deepEqual(power(answers[0]), power(before))
  const cached = await ask('/forecast')
  assert.deepEqual([cached.data[0].cached, await countRuns()], [true, runs + 3])
  assert.equal(cached.data[0].run_id, answers[0].data[0].run_id)
})

test('new weather makes a new run without being asked', async () => {
  const runs = await countRuns()
  await site.db.execute(
    `insert into weather_runs
     select (jsonb_populate_record(w, jsonb_build_object('run_id', 10000, 'issued_at', $1::text,
       'fetched_at', $1::text))).* from weather_runs w where kind = 'live'`,
    ['2026-06-21T09:31:00Z'],
  )
  site.clock.set('2026-06-21T09:40:00Z')
  const { data } = await ask('/forecast')
  assert.deepEqual([data[0].cached, await countRuns()], [false, runs + 3])
  assert.equal(data[0].weather_run_at, '2026-06-21T09:31:00.000Z')
  site.clock.set('2026-06-21T22:00:00Z')
  assert.equal((await ask('/forecast')).data[0].status, 'stale')
  site.clock.set('2026-06-21T09:40:00Z')
})

test('days out of reach have no forecast, and it is not made up afterwards', async () => {
  const of = async (date: string) => {
    const { status, fallback_reason, points, total_p50_kwh } = (await ask(`/forecast?date=${date}`))
      .data[0]
    return [status, fallback_reason, points.length, total_p50_kwh === null]
  }
  assert.deepEqual(await of('2026-06-24'), ['fallback', 'beyond_horizon', 0, true])
  // Of this one there is a hindcast, which is no forecast that was issued.
  assert.deepEqual(await of('2026-06-18'), ['fallback', 'not_issued', 0, true])
  assert.deepEqual((await of('2026-06-23')).slice(0, 3), ['ok', null, 24])
})

test('limits and outages that are known lower what is left, and nothing else', async () => {
  const noon = '2026-06-22T10:00:00.000Z'
  const at = ({ points }: { points: Point[] }) => points.find(({ start_at }) => start_at === noon)!
  const both = async () => {
    const { data, meta } = await ask('/forecast?date=2026-06-22')
    return { plant: at(data[0]), other: at(data[1]), whole: at(meta.site) }
  }
  const free = await both()
  assert.equal(free.plant.limited_p50_kw, free.plant.p50_kw)
  const limit_kw = free.plant.p50_kw / 2
  await site.db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('demo', 'g', 'api', now());
    insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
    values ('demo', 'g', 1, '2026-06-22T10:30Z', '2026-06-22T12:00Z', ${limit_kw})`)
  const held = await both()
  const close = (found: number, wanted: number) =>
    assert.ok(Math.abs(found - wanted) < 1e-6, `${found}, not ${wanted}`)
  close(held.plant.limited_p50_kw, 0.75 * free.plant.p50_kw)
  close(held.whole.limited_p50_kw, free.whole.p50_kw - 0.25 * free.plant.p50_kw)
  assert.deepEqual([held.plant.p50_kw, held.other], [free.plant.p50_kw, free.other])
  await site.db.execute("update curtailment_rows set released_at = now() where group_id = 'g'")
  assert.deepEqual(await both(), free)
  await site.db.execute(
    `insert into planned_outages (site_id, start_at, end_at, unavailable_pct, created_at)
     values ('demo', '2026-06-22T00:00Z', '2026-06-23T00:00Z', 40, '2026-06-21T09:40Z')`,
  )
  const out = await both()
  for (const name of ['p10_kw', 'p50_kw', 'p90_kw', 'limited_p50_kw'] as const) {
    close(out.other[name], 0.6 * free.other[name])
    close(out.whole[name], 0.6 * free.whole[name])
  }
  await site.db.execute('delete from planned_outages')
})

test('the overview and the suggestion of a limit take the forecast that is in force', async () => {
  const { data, meta } = await ask('/forecast')
  const { body } = await site.get('/overview')
  assert.deepEqual(body.missing_sections, [])
  const { forecast_run_at, today_p50_kwh, remaining_today_p50_kwh, next_hours } = body.predictions
  assert.deepEqual([forecast_run_at, today_p50_kwh], [meta.site.run_at, meta.site.total_p50_kwh])
  // It is 09:40: a third of the hour is left.
  const left_kwh = meta.site.points
    .slice(9)
    .reduce(
      (sum: number, { p50_kw }: Point, nth: number) => sum + p50_kw * (nth === 0 ? 1 / 3 : 1),
      0,
    )
  assert.ok(Math.abs(remaining_today_p50_kwh - left_kwh) < 1e-3)
  assert.deepEqual([next_hours.length, next_hours[0].p90_kw], [13, meta.site.points[9].p90_kw])
  const key = await addKey(site.db, { key_id: 'eeeeeeeeeeee', scopes: ['plant:read'] })
  await site.db.execute("update clients set modules = array_remove(modules, 'ai_predictions')")
  assert.deepEqual((await site.get('/overview', key)).body.predictions, body.predictions)
  await site.db.execute("update clients set modules = modules || '{ai_predictions}'")

  // Noon to three by the clock at the site.
  const window = 'logger_id=1&date=2026-06-21&start_hour=12&end_hour=15'
  const suggestion = (await site.get(`/curtailment/suggest?${window}`)).body
  const hours = data[0].points.slice(10, 13)
  assert.deepEqual(
    [suggestion.basis, suggestion.forecast_run_at, suggestion.reasons],
    ['forecast_p50', data[0].run_at, ['no_price']],
  )
  assert.deepEqual(
    suggestion.hours.map(({ p50_kw }: Point) => p50_kw),
    hours.map(({ p50_kw }: Point) => p50_kw),
  )
  const best_kw = Math.max(...hours.map(({ p50_kw }: Point) => p50_kw))
  assert.equal(suggestion.suggested_limit_pct, Math.floor((0.9 * 100 * best_kw) / 200))
})

test('beside the actual stands what was forecast before the gate closed, never later', async () => {
  const window = 'start=2026-06-20T00:00:00Z&end=2026-06-21T00:00:00Z'
  const hindcast = (await ask(`/production?${window}&logger_id=1`)).data
  assert.equal(hindcast.length, 24)
  const [gate, next_gate] = ['2026-06-19T10:00:00.000Z', '2026-06-20T10:00:00.000Z']
  assert.deepEqual([hindcast[10].is_hindcast, hindcast[10].forecast_run_at], [true, gate])
  assert.equal(hindcast[10].lead_time_h, 24)
  // What was issued, with a figure of its own: before, at and after the gate.
  for (const [issued_at, kw] of [
    ['2026-06-19T08:00:00Z', 11],
    [gate, 12],
    ['2026-06-19T10:00:00.001Z', 13],
    [next_gate, 14],
    ['2026-06-20T10:00:00.001Z', 15],
  ] as const) {
    await site.db.execute(
      `insert into forecast_runs
       select (jsonb_populate_record(r, jsonb_build_object('run_id', 20000 + $2::int,
         'issued_at', $1::text, 'is_hindcast', false,
         'p50_kw', array_fill($2::float8, array[24])))).*
       from forecast_runs r where target = 'logger:1' and target_date = '2026-06-20'
         and is_hindcast`,
      [issued_at, kw],
    )
  }
  const items = (await ask(`/production?${window}&logger_id=1`)).data
  const issued = items.map(({ forecast_run_at }: { forecast_run_at: string }) => forecast_run_at)
  // From 22:00Z on it is the next day of the market.
  assert.deepEqual(issued, [...Array(22).fill(gate), next_gate, next_gate])
  assert.deepEqual([items[10].p50_kwh, items[22].p50_kwh, items[10].is_hindcast], [12, 14, false])
  await site.db.execute('delete from forecast_runs where run_id > 20000')
})

test('the actual has what curtailment kept back, and the hours of energy', async () => {
  const window = 'start=2026-06-20T10:00:00Z&end=2026-06-20T12:00:00Z&logger_id=1'
  const [free] = (await ask(`/production?${window}`)).data
  const [stored] = await site.db.query<{ energy_kwh: number }>(
    "select energy_kwh from logger_hours where logger_id = 1 and hour_at = '2026-06-20T10:00Z'",
  )
  assert.ok(Math.abs(free.actual_kwh - stored!.energy_kwh) < 0.001)
  assert.deepEqual([free.actual_available_kwh, free.curtailed], [free.actual_kwh, false])
  const set = (loss_kwh: number) =>
    site.db.execute(
      `update logger_hours set curtailment_loss_kwh = $1
       where logger_id = 1 and hour_at = '2026-06-20T10:00Z'`,
      [loss_kwh],
    )
  await set(20)
  const [held, after_it] = (await ask(`/production?${window}`)).data
  assert.equal(held.actual_kwh, free.actual_kwh)
  assert.ok(Math.abs(held.actual_available_kwh - free.actual_kwh - 20) < 0.002)
  assert.ok(Math.abs(held.error_kwh - held.p50_kwh + held.actual_available_kwh) < 1e-6)
  assert.deepEqual([held.curtailed, after_it.curtailed], [true, false])
  await set(0)
  const ahead = (await ask('/production?logger_id=1')).data
  assert.equal(ahead.length, 48)
  assert.deepEqual([ahead[30].actual_kwh, ahead[30].inside_band], [null, null])
  assert.equal((await site.get('/predictions/production?logger_id=9')).status, 404)
  // As a file, over more days than are read at once.
  const weeks = 'start=2026-06-01T05:00:00Z&end=2026-06-22T00:00:00Z&logger_id=2'
  const path = `/predictions/production?${weeks}`
  const payload = await site.file(path, 'application/x-ndjson')
  const lines = payload.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    (await ask(`/production?${weeks}`)).data,
  )
  assert.equal(lines.length, 21 * 24 - 5)
})
