/** State and accuracy of the models of a site. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { addSums, noSums, type ScoreSums } from '@heliograph/forecast/score-sums'
import type { Queries } from '../storage/database.ts'
import { assignedMarket } from './assigned-market.ts'
import { type HoldOutScores, lastTrainings, modelsInUse, newestTrained } from './model-store.ts'
import { type RunBasis, readRunBasis } from './run-basis.ts'
import { scored_days_max } from './score-runs.ts'
import { readPlants, type Target, targetOf, targetsOf } from './targets.ts'
import type { PriceMethod } from './tasks.ts'
import type { LeadTime } from './vintage-steps.ts'

const windows_days = [7, 30, scored_days_max] as const

export interface WindowSums {
  window_days: (typeof windows_days)[number]
  lead_time: LeadTime
  sums: ScoreSums
}

export interface ModelState {
  kind: 'production' | 'price'
  /** `site`, `logger:7`, or the code of a market. */
  name: string
  logger_id: number | null
  /** Reference of errors in percent; null for prices. */
  rated_power_kw: number | null
  model: {
    version: number
    trained_at: Date
    from_at: string
    to_at: string
    sample_count: number
    excluded: Record<string, number> | null
    /** null for production. */
    method: PriceMethod | null
    training_s: number
    hold_out_days: number
  } | null
  /** Why there is no production model; null with a model, and for prices. */
  absence: RunBasis['absence']
  /** The newest trained model, in use or not; null for prices. */
  trial: { version: number; trained_at: Date; is_worse: boolean; scores: HoldOutScores } | null
  /** null before the first training. */
  training: { ended_at: Date; error: string | null; sample_count: number } | null
  last_run_at: Date | null
  windows: WindowSums[]
}

/** Models of the site, its plants by id, and its assigned market. */
export async function readModelStates(
  db: Queries,
  site_id: string,
  now: Date,
): Promise<ModelState[]> {
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
    const model = models.find(({ target }) => target === name)
    const training = trainings.find(({ target }) => target === name)
    const trial = trials.find(({ target }) => target === name)
    return {
      kind: 'production',
      name,
      logger_id,
      rated_power_kw,
      model: model
        ? { version: model.version, trained_at: model.trained_at, method: null, ...model.facts }
        : null,
      absence: basis.get(name)!.absence,
      trial: trial ? { ...trial, is_worse: trial.state === 'worse' } : null,
      training: training ?? null,
      last_run_at: runs.get(name) ?? null,
      windows: (['intraday', 'day_ahead'] as const).flatMap((lead_time) =>
        windowsOf(
          lead_time,
          scores.filter((day) => day.target === name && day.lead_time === lead_time),
          today,
        ),
      ),
    }
  })
  return price ? [...production, price] : production
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
async function lastRuns(db: Queries, site_id: string, today: number): Promise<Map<Target, Date>> {
  const rows = await db.query<{ target: Target; at: Date }>(
    `select target, max(issued_at) as at from forecast_runs
     where site_id = $1 and not is_hindcast and target_date >= $2 group by target`,
    [site_id, utcDate(today - 7 * day_ms)],
  )
  return new Map(rows.map(({ target, at }) => [target, at]))
}

/** null without an assigned market. */
async function priceState(db: Queries, site_id: string, today: number): Promise<ModelState | null> {
  const market = await assignedMarket(db, { site_id, logger_id: null }, utcDate(today))
  if (!market) return null
  const { market_code } = market
  const [[model], [training], [run], days] = await Promise.all([
    db.query<{ version: number; trained_at: Date; facts: PriceFacts }>(
      `select version, trained_at, facts from price_models
       where market_code = $1 and state = 'in_use'`,
      [market_code],
    ),
    db.query<{ ended_at: Date; error: string | null; sample_count: number }>(
      `select ended_at, error, day_count as sample_count from price_trainings
       where market_code = $1`,
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
  return {
    kind: 'price',
    name: market_code,
    logger_id: null,
    rated_power_kw: null,
    model: model
      ? { version: model.version, trained_at: model.trained_at, excluded: null, ...model.facts }
      : null,
    absence: null,
    trial: null,
    training: training ?? null,
    last_run_at: run?.at ?? null,
    windows: windowsOf('day_ahead', days, today),
  }
}

/** Training data of a price model. */
export interface PriceFacts {
  from_at: string
  to_at: string
  /** Delivery days with prices. */
  sample_count: number
  hold_out_days: number
  method: PriceMethod
  training_s: number
}
