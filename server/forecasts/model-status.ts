/** Models of a site as records of the API: their state, and their accuracy by window. */
import { day_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { addSums, noSums, type ScoreSums, scoresOf } from '@heliograph/forecast/score-sums'
import type { Queries } from '../storage/database.ts'
import { assignedMarket } from './assigned-market.ts'
import { nextRun } from './forecast-records.ts'
import { lastTrainings, modelsInUse, newestTrained, type TrainingFacts } from './model-store.ts'
import type { PriceFacts } from './price-store.ts'
import { type RunBasis, readRunBasis } from './run-basis.ts'
import type { ModelMetrics, ModelStatus } from './schemas.ts'
import { scored_days_max } from './score-runs.ts'
import { readPlants, type Target, targetOf, targetsOf } from './targets.ts'
import type { LeadTime } from './vintage-steps.ts'

const windows_days = [7, 30, scored_days_max] as const
/** Older models are degraded. */
const trained_days_max = 7
const drift = { count_min: 50, error_ratio: 1.5, bias_ratio: 0.05 } as const

interface WindowSums {
  window_days: (typeof windows_days)[number]
  lead_time: LeadTime
  sums: ScoreSums
}

interface ModelState {
  kind: 'production' | 'price'
  /** `site`, `logger:7`, or the code of a market. */
  name: string
  logger_id: number | null
  /** Reference of errors in percent; null for prices. */
  rated_kw: number | null
  model:
    | {
        version: number
        trained_at: Date
        facts: Omit<TrainingFacts, 'step_minutes' | 'excluded'> &
          Partial<Pick<TrainingFacts, 'excluded'> & Pick<PriceFacts, 'method'>>
      }
    | undefined
  absence: RunBasis['absence']
  trial: Awaited<ReturnType<typeof newestTrained>>[number] | undefined
  training: { error: string | null; sample_count: number } | undefined
  last_run_at: Date | null
  windows: WindowSums[]
}

/** Models of the site, its plants by id, and its assigned market. */
export async function readModelStatus(
  db: Queries,
  site_id: string,
  now: Date,
): Promise<ModelStatus[]> {
  const plants = await readPlants(db, site_id)
  if (plants.length === 0) return []
  const today = utcDayStart(now)
  const targets = targetsOf(plants)
  const [models, trials, basis, trainings, runs, scores, price] = await Promise.all([
    modelsInUse(db, site_id),
    newestTrained(db, site_id),
    readRunBasis(db, site_id, { targets, day: today, now }),
    lastTrainings(db, site_id),
    lastRuns(db, site_id, today),
    scoresOfDays(db, site_id, today),
    priceState(db, site_id, today),
  ])
  const site_kw = plants.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)
  const subjects = [{ logger_id: null, rated_power_kw: site_kw }, ...plants]
  const production = subjects.map(({ logger_id, rated_power_kw }): ModelState => {
    const name = targetOf(logger_id)
    const isOf = ({ target }: { target: Target }) => target === name
    const own = scores.filter(isOf)
    return {
      kind: 'production',
      name,
      logger_id,
      rated_kw: rated_power_kw,
      model: models.find(isOf),
      absence: basis.get(name)!.absence,
      trial: trials.find(isOf),
      training: trainings.find(isOf),
      last_run_at: runs.find(isOf)?.at ?? null,
      windows: (['intraday', 'day_ahead'] as const).flatMap((lead_time) =>
        windowsOf(
          lead_time,
          own.filter((day) => day.lead_time === lead_time),
          today,
        ),
      ),
    }
  })
  return [...production, ...price].map((state) => modelStatus(state, now))
}

interface DaySums {
  date: string
  sums: ScoreSums
}

function windowsOf(lead_time: LeadTime, days: readonly DaySums[], today: number): WindowSums[] {
  return windows_days.map((window_days) => {
    const since = utcDate(today - window_days * day_ms)
    const within = days.filter(({ date }) => date >= since)
    const sums = within.reduce((total, day) => addSums(total, day.sums), noSums)
    return { window_days, lead_time, sums }
  })
}

const scoresOfDays = (db: Queries, site_id: string, today: number) =>
  db.query<DaySums & { target: Target; lead_time: LeadTime }>(
    `select target, lead_time, target_date as date, sums from forecast_scores
     where site_id = $1 and target_date >= $2 and target_date < $3`,
    [site_id, utcDate(today - scored_days_max * day_ms), utcDate(today)],
  )

/** Issue time of the last run for the last seven days or later, by target. */
const lastRuns = (db: Queries, site_id: string, today: number) =>
  db.query<{ target: Target; at: Date }>(
    `select target, max(issued_at) as at from forecast_runs
     where site_id = $1 and not is_hindcast and target_date >= $2 group by target`,
    [site_id, utcDate(today - 7 * day_ms)],
  )

/** Empty without an assigned market. */
async function priceState(db: Queries, site_id: string, today: number): Promise<ModelState[]> {
  const market = await assignedMarket(db, { site_id, logger_id: null }, utcDate(today))
  if (!market) return []
  const { market_code } = market
  const [[model], [training], [run], days] = await Promise.all([
    db.query<{ version: number; trained_at: Date; facts: PriceFacts }>(
      `select version, trained_at, facts from price_models
       where market_code = $1 and state = 'in_use'`,
      [market_code],
    ),
    db.query<{ error: string | null; sample_count: number }>(
      'select error, day_count as sample_count from price_trainings where market_code = $1',
      [market_code],
    ),
    db.query<{ at: Date | null }>(
      'select max(issued_at) as at from price_runs where market_code = $1 and not is_hindcast',
      [market_code],
    ),
    db.query<DaySums>(
      `select delivery_date as date, sums from price_scores
       where market_code = $1 and delivery_date >= $2 and delivery_date < $3`,
      [market_code, utcDate(today - scored_days_max * day_ms), utcDate(today)],
    ),
  ])
  return [
    {
      kind: 'price',
      name: market_code,
      logger_id: null,
      rated_kw: null,
      model,
      absence: null,
      trial: undefined,
      training,
      last_run_at: run?.at ?? null,
      windows: windowsOf('day_ahead', days, today),
    },
  ]
}

function modelStatus(state: ModelState, now: Date): ModelStatus {
  const { kind, name, model, training } = state
  const drift_detected = hasDrifted(state)
  const is_old =
    model !== undefined && now.getTime() - model.trained_at.getTime() > trained_days_max * day_ms
  const excluded = model?.facts.excluded
  return {
    model: `${kind}:${name}`,
    kind,
    logger_id: state.logger_id,
    version: model ? String(model.version) : null,
    status: statusOf(state, drift_detected || is_old),
    fallback_reason: state.absence,
    last_trial: trialOf(state),
    trained_at: model?.trained_at.toISOString() ?? null,
    training_from_at: model?.facts.from_at ?? null,
    training_to_at: model?.facts.to_at ?? null,
    training_sample_count: model?.facts.sample_count ?? training?.sample_count ?? 0,
    excluded_sample_count: excluded
      ? Object.values(excluded).reduce((sum, count) => sum + count, 0)
      : null,
    method: model?.facts.method ?? null,
    training_s: model?.facts.training_s ?? null,
    hold_out_days: model?.facts.hold_out_days ?? null,
    last_run_at: state.last_run_at?.toISOString() ?? null,
    next_run_at: new Date(nextRun(now.getTime())).toISOString(),
    last_error: training?.error ?? null,
    metrics: state.windows.map((window) => metricsOf(window, state.rated_kw)),
    drift_detected,
  }
}

function statusOf(
  { model, training, absence }: ModelState,
  is_wrong: boolean,
): ModelStatus['status'] {
  if (training?.error != null || (model && is_wrong)) return 'degraded'
  if (model) return 'ok'
  return absence === 'physics_was_better' ? 'disabled' : 'insufficient_data'
}

function trialOf({ trial }: ModelState): ModelStatus['last_trial'] {
  if (!trial) return null
  const { version, trained_at, state, scores } = trial
  return {
    version: String(version),
    trained_at: trained_at.toISOString(),
    used: state !== 'worse',
    sample_count: scores.sample_count,
    pinball_loss_kw: significant(scores.pinball_loss_kw),
    previous_pinball_loss_kw: significant(scores.previous_pinball_loss_kw),
    mae_kw: significant(scores.mae_kw),
    p10_p90_coverage_pct: significant(scores.p10_p90_coverage_pct),
  }
}

function metricsOf(
  { window_days, lead_time, sums }: WindowSums,
  rated_kw: number | null,
): ModelMetrics {
  const scores = scoresOf(sums)
  const kw = (value: number | null) => (rated_kw === null ? null : significant(value))
  const price = (value: number | null) => (rated_kw === null ? significant(value) : null)
  const pct = (value: number | null) =>
    rated_kw === null || value === null ? null : significant((100 * value) / rated_kw)
  return {
    window_days,
    lead_time,
    mae_kw: kw(scores.mae),
    rmse_kw: kw(scores.rmse),
    nmae_pct: pct(scores.mae),
    nrmse_pct: pct(scores.rmse),
    mbe_kw: kw(scores.bias),
    mape_pct: kw(scores.mape_pct),
    r2_ratio: significant(scores.r2),
    crps_kw: kw(scores.pinball === null ? null : 2 * scores.pinball),
    pinball_loss_kw: kw(scores.pinball),
    mae_per_mwh: price(scores.mae),
    rmse_per_mwh: price(scores.rmse),
    mbe_per_mwh: price(scores.bias),
    pinball_loss_per_mwh: price(scores.pinball),
    p10_p90_coverage_pct: significant(scores.coverage_pct),
    skill_vs_persistence_pct: significant(scores.skill_pct),
    sample_count: sums.count,
    hindcast_count: sums.hindcasts,
    curtailed_excluded_count: sums.curtailed,
  }
}

/** Judged by the day-ahead metrics, as the description of `drift_detected` says. */
function hasDrifted({ windows, rated_kw }: ModelState): boolean {
  const of = (days: number) =>
    windows.find(({ lead_time, window_days }) => lead_time === 'day_ahead' && window_days === days)
  const [week, quarter] = [of(7)?.sums, of(90)?.sums]
  if (!week || !quarter || week.count < drift.count_min) return false
  const [now, usual] = [scoresOf(week), scoresOf(quarter)]
  const is_biased = rated_kw !== null && Math.abs(now.bias!) > drift.bias_ratio * rated_kw
  return is_biased || now.mae! > drift.error_ratio * usual.mae!
}
