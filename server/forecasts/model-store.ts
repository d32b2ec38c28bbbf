/** Trained models of targets and markets, with their training data and scores. */

import type { Queries, Transaction } from '../storage/database.ts'
import { insertRow, putRow } from '../storage/rows.ts'
import type { Target } from './targets.ts'

/** Training data of a model; counts are of daylight steps. */
export interface TrainingFacts {
  step_minutes: number
  from_at: string
  to_at: string
  sample_count: number
  /** Excluded steps by reason. */
  excluded: Record<string, number>
  /** Last days, on which the model was scored before it was trained on them. */
  hold_out_days: number
  training_s: number
}

/** Scores over the daylight steps of the hold-out. */
export interface HoldOutScores {
  sample_count: number
  /** Mean pinball loss of P10, P50 and P90, by which models are compared. */
  pinball_loss_kw: number | null
  /** Same for the predecessor: the model in use before, or the physical model. */
  previous_pinball_loss_kw: number | null
  mae_kw: number | null
  bias_kw: number | null
  p10_p90_coverage_pct: number | null
}

interface ModelHead {
  target: Target
  version: number
  trained_at: Date
  facts: TrainingFacts
  scores: HoldOutScores
}

interface ModelSeries {
  table: 'forecast_models' | 'price_models'
  key: Readonly<Record<string, string>>
}

export const productionModels = (site_id: string, target: Target): ModelSeries => ({
  table: 'forecast_models',
  key: { site_id, target },
})

export const priceModels = (market_code: string): ModelSeries => ({
  table: 'price_models',
  key: { market_code },
})

const isOf = ({ key }: ModelSeries) =>
  Object.keys(key)
    .map((name, nth) => `${name} = $${nth + 1}`)
    .join(' and ')

export interface NewModel<Facts = TrainingFacts, Scores = HoldOutScores> {
  trained_at: Date
  facts: Facts
  scores: Scores
  model: Uint8Array
  /** Worse than the model in use: only its scores are stored. */
  is_worse: boolean
}

export const modelInUse = <Facts = TrainingFacts>(db: Queries, series: ModelSeries) =>
  db.queryOne<{ version: number; facts: Facts; model: Buffer }>(
    `select version, facts, model from ${series.table}
     where ${isOf(series)} and state = 'in_use'`,
    Object.values(series.key),
  )

/** Training error of a target whose stored model cannot be read; it is retrained at once. */
export const unreadable = 'the stored model cannot be read'

/**
 * Takes an unreadable model out of use, such as one of another program version, and records this
 * once as a training error of its target.
 */
export async function retireUnreadable(
  db: Queries,
  site_id: string,
  { target, version, at }: { target: Target; version: number; at: Date },
): Promise<void> {
  await db.execute(
    `with set_aside as (
       update forecast_models set state = 'followed', model = null
       where site_id = $1 and target = $2 and version = $3 and state = 'in_use'
       returning version)
     insert into forecast_trainings (site_id, target, ended_at, error, sample_count)
     select $1, $2, $4, $5, 0 from set_aside
     on conflict (site_id, target) do update set ended_at = excluded.ended_at,
       error = excluded.error`,
    [site_id, target, version, at.toISOString(), unreadable],
  )
}

/** The newest trained model of each target of a site, in use or not. */
export const newestTrained = (db: Queries, site_id: string) =>
  db.query<ModelHead & { state: 'in_use' | 'followed' | 'worse' }>(
    `select distinct on (target) target, version, trained_at, facts, scores, state
     from forecast_models where site_id = $1 order by target, version desc`,
    [site_id],
  )

/** Models in use by all targets of a site, without their binary data. */
export const modelsInUse = (db: Queries, site_id: string) =>
  db.query<ModelHead>(
    `select target, version, trained_at, facts, scores from forecast_models
     where site_id = $1 and state = 'in_use'`,
    [site_id],
  )

export async function nextVersion(db: Queries, series: ModelSeries): Promise<number> {
  const [row] = await db.query<{ version: number }>(
    `select coalesce(max(version), 0) + 1 as version from ${series.table} where ${isOf(series)}`,
    Object.values(series.key),
  )
  return row!.version
}

/** Stores a model as the next version and puts it to use unless it is worse. */
export async function storeModel<Facts, Scores>(
  tx: Transaction,
  series: ModelSeries,
  { trained_at, facts, scores, model, is_worse }: NewModel<Facts, Scores>,
): Promise<number> {
  const { table, key } = series
  const version = await nextVersion(tx, series)
  if (!is_worse) {
    await tx.execute(
      `update ${table} set state = 'followed', model = null
       where ${isOf(series)} and state = 'in_use'`,
      Object.values(key),
    )
  }
  const columns = {
    ...key,
    version,
    trained_at,
    state: is_worse ? 'worse' : 'in_use',
    facts: JSON.stringify(facts),
    scores: JSON.stringify(scores),
    model: is_worse ? null : Buffer.from(model),
  }
  await insertRow(tx, table, columns)
  return version
}

interface LastTraining {
  target: Target
  ended_at: Date
  /** null without an error; too little training data is not an error. */
  error: string | null
  /** Steps usable for training. */
  sample_count: number
}

export const lastTrainings = (db: Queries, site_id: string) =>
  db.query<LastTraining>(
    'select target, ended_at, error, sample_count from forecast_trainings where site_id = $1',
    [site_id],
  )

export async function recordTraining(
  db: Queries,
  site_id: string,
  { target, ...training }: LastTraining,
): Promise<void> {
  await putRow(db, 'forecast_trainings', { site_id, target }, { ...training })
}
