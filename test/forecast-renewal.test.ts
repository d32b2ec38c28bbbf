/** When forecasts that were issued no longer stand, and what takes the place of a lost model. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import {
  type ProductionModel,
  serialiseProduction,
  trainProduction,
} from '../forecast/production-model.ts'
import { seededRandom } from '../forecast/seeded-random.ts'
import { testSettings } from '../server/fixtures/job-settings.ts'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { addPast } from '../server/forecasts/fixtures/history.ts'
import { nextRun } from '../server/forecasts/forecast-records.ts'
import {
  type NewModel,
  productionModels,
  recordTraining,
  storeModel,
} from '../server/forecasts/model-store.ts'
import { plantOf, runForecasts } from '../server/forecasts/production-runs.ts'
import { readForecastSite, type Target } from '../server/forecasts/targets.ts'
import { createThread, type ForecastThread } from '../server/forecasts/thread.ts'
import { sitesToTrain } from '../server/forecasts/train.ts'
import { createJobTable } from '../server/jobs.ts'
import { silent } from './postgres.ts'

const today = Date.parse('2026-06-21T00:00:00Z')
const tomorrow = '2026-06-22'
let site: ServedSite
let thread: ForecastThread
let model: ProductionModel

before(async () => {
  site = await servedSite()
  site.clock.set('2026-06-21T09:00:00Z')
  thread = createThread()
  const truth = await addPast(site.db, {
    site_id: 'demo',
    from_ms: today - 30 * day_ms,
    to_ms: today,
  })
  const known = (await readForecastSite(site.db, 'demo'))!
  const plant = plantOf(known, known.targets[1]!)!
  const samples = truth.map((weather) => ({
    start_ms: weather.start_ms,
    end_ms: weather.end_ms,
    weather,
    lead_time_h: 24,
    available_kwh: (weather.ghi_w_m2! / 1000) * plant.rated_power_kw,
    completeness_pct: 100,
    is_curtailed: false,
    is_clipped: false,
    is_faulty: false,
  }))
  model = trainProduction(samples, plant, seededRandom(1)).model!
})
after(async () => {
  await thread.close()
  await site.close()
})

interface Told {
  logger_id: number | null
  model: string
  model_version: string | null
  fallback_reason: string | null
  cached: boolean
  run_id: number
}

const forecast = async (): Promise<Told[]> => {
  const { status, body } = await site.get(`/predictions/forecast?date=${tomorrow}`)
  assert.equal(status, 200, JSON.stringify(body))
  return [body.meta.site, ...body.data]
}
const told = (all: Told[]) =>
  all.map(({ model, model_version, fallback_reason }) => [model, model_version, fallback_reason])
const job = (through = thread) =>
  runForecasts({
    db: site.db,
    clock: site.clock,
    log: silent,
    thread: through,
    signal: new AbortController().signal,
  })
const runsOf = async (date = tomorrow) => {
  const rows = await site.db.query<{ target: Target }>(
    'select target from forecast_runs where target_date = $1 order by run_id',
    [date],
  )
  return rows.map(({ target }) => target)
}
const facts = {
  step_minutes: 60,
  sample_count: 400,
  excluded: {},
  hold_out_days: 7,
  training_s: 1,
  from_at: '2026-05-22T04:00:00.000Z',
  to_at: '2026-06-14T00:00:00.000Z',
}
const scores = {
  sample_count: 84,
  pinball_loss_kw: 5.5,
  previous_pinball_loss_kw: 4.25,
  mae_kw: 12,
  bias_kw: 1,
  p10_p90_coverage_pct: 70,
}
const trained = (target: Target, change: Partial<NewModel> = {}) =>
  site.db.transaction(async (tx) => {
    await recordTraining(tx, 'demo', {
      target,
      ended_at: site.clock.now(),
      error: null,
      sample_count: 400,
    })
    return storeModel(tx, productionModels('demo', target), {
      trained_at: site.clock.now(),
      facts,
      scores,
      is_worse: false,
      model: serialiseProduction(model),
      ...change,
    })
  })
const untried = ['physical', null, 'no_model_yet']
const blend = (version: number) => ['blend', String(version), null]
const all: Target[] = ['site', 'logger:1', 'logger:2']

test('a crash while the runs of a day are kept leaves none of them', async () => {
  await site.db.query(`
    create function break_off() returns trigger language plpgsql as
      'begin raise exception ''the disk is full''; end';
    create trigger break_off before insert on forecast_runs for each row
      when (new.target = 'logger:2') execute function break_off()`)
  await assert.rejects(job(), /demo/)
  assert.deepEqual(await runsOf('2026-06-21'), [])
  await site.db.query('drop trigger break_off on forecast_runs')
  await job()
  assert.deepEqual(await runsOf(), all)
  await job()
  assert.deepEqual(await runsOf(), all)
})

test('a plant that has no run is forecast with the others again', async () => {
  await site.db.execute("delete from forecast_runs where target = 'logger:2'")
  const found = await forecast()
  assert.deepEqual([found[2]!.cached, told(found)], [false, [untried, untried, untried]])
  assert.equal((await forecast())[2]!.cached, true)
})

test('the model of one plant forecasts as soon as it is in use, asked or by the job', async () => {
  await trained('logger:1')
  const asked = await forecast()
  assert.deepEqual([told(asked), asked[0]!.cached], [[untried, blend(1), untried], false])
  assert.equal((await forecast())[0]!.cached, true)
  await trained('logger:1')
  await job()
  const found = await forecast()
  assert.deepEqual([told(found), found[0]!.cached], [[untried, blend(2), untried], true])
})

test('a model that cannot be read counts as none, is told once, and is trained anew', async () => {
  await trained('site')
  await trained('logger:2')
  const format = { ...model, format: 99 } as unknown as ProductionModel
  await trained('logger:1', { model: serialiseProduction(format) })
  const due = () => sitesToTrain(site.db, { only_untried: true, now: site.clock.now() })
  assert.deepEqual(await due(), [])
  const found = await forecast()
  assert.deepEqual(told(found), [blend(1), untried, blend(1)])
  assert.deepEqual(await due(), ['demo'])
  const again = await forecast()
  assert.deepEqual([again[1]!.cached, again[1]!.run_id], [true, found[1]!.run_id])
  const [, status] = (await site.get('/predictions/model-status')).body.data
  assert.deepEqual(
    [status.status, status.version, status.last_error, status.fallback_reason],
    ['degraded', null, 'the stored model cannot be read', 'no_model_yet'],
  )
  await trained('logger:1')
  assert.deepEqual(await due(), [])
  assert.deepEqual(told(await forecast()), [blend(1), blend(4), blend(1)])
})

test('a model that lost to physics is told with the figures of both', async () => {
  await site.db.execute("delete from forecast_models where target = 'logger:2'")
  await trained('logger:2', { is_worse: true })
  assert.deepEqual(told(await forecast())[2], ['physical', null, 'physics_was_better'])
  const status = (await site.get('/predictions/model-status')).body.data[2]
  assert.deepEqual(
    [status.status, status.version, status.fallback_reason, status.training_sample_count],
    ['disabled', null, 'physics_was_better', 400],
  )
  const { used, sample_count, pinball_loss_kw, previous_pinball_loss_kw } = status.last_trial
  assert.deepEqual(
    [used, sample_count, pinball_loss_kw, previous_pinball_loss_kw],
    [false, 84, 5.5, 4.25],
  )
  await site.db.execute("delete from forecast_models where target = 'logger:2'")
  assert.deepEqual(told(await forecast())[2], ['physical', null, 'too_little_history'])
})

test('plants that are described anew are forecast anew, and outages are not waited for', async () => {
  const [before_it] = await forecast()
  const at = site.clock.now().getTime() + hour_ms
  await site.db.execute("update sites set inventory_at = $1 where site_id = 'demo'", [
    new Date(at).toISOString(),
  ])
  // An edge whose clock is ahead changes nothing until then.
  assert.equal((await forecast())[0]!.run_id, before_it!.run_id)
  site.clock.set(new Date(at + 1))
  const [after_it] = await forecast()
  assert.ok(after_it!.run_id > before_it!.run_id)
  assert.equal((await forecast())[0]!.run_id, after_it!.run_id)
})

test('the model of a plant is read once for all days', async () => {
  await site.db.execute('delete from forecast_runs')
  const asked: number[][] = []
  await job({
    ...thread,
    run(task) {
      if ('items' in task) asked.push(task.items.map(({ days }) => days.length))
      return thread.run(task)
    },
  })
  assert.deepEqual(asked, [[3, 3, 3]])
})

test('the next run is told as the job is planned', () => {
  const { schedule } = createJobTable(testSettings).find(({ name }) => name === 'run_forecasts')!
  const [, first, step] = /^([0-9]+)-59[/]([0-9]+) [*] [*] [*] [*]$/.exec(schedule!)!
  const isPlanned = (minute: number) =>
    minute >= Number(first) && (minute - Number(first)) % Number(step) === 0
  const minutes = Array.from({ length: 60 }, (_, minute) => minute)
  assert.deepEqual(
    minutes.filter((minute) => nextRun(today + minute * 60_000 - 1) === today + minute * 60_000),
    minutes.filter(isPlanned),
  )
})
