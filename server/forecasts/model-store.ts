/** Trained models, by site and target, with what they learned from and how good they were. */
import type { Queries, Transaction } from '../storage/database.ts'
import type { Target } from './targets.ts'

/** What a training had to learn from; counts of steps by day. */
export interface TrainingFacts {
  step_minutes: number
  from_at: string
  to_at: string
  sample_count: number
  /** Left out, and why. */
  excluded: Record<string, number>
  /** The last days, by which the model was scored before it had seen them. */
  hold_out_days: number
  training_s: number
}

/** On the steps of the hold-out by day. */
export interface HoldOutScores {
  sample_count: number
  /** Mean of the pinball losses of P10, P50 and P90: what decides which model is better. */
  pinball_loss_kw: number | null
  /** Of what forecast until then, on the same steps: the model in use, or physics. */
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

interface StoredModel extends ModelHead {
  model: Buffer
}

export interface NewModel extends Omit<ModelHead, 'version'> {
  model: Buffer
  /** Worse than the one in use: kept by its figures alone. */
  is_worse: boolean
}

export async function modelInUse(
  db: Queries,
  site_id: string,
  target: Target,
): Promise<StoredModel | null> {
  const [row] = await db.query<StoredModel>(
    `select target, version, trained_at, facts, scores, model from forecast_models
     where site_id = $1 and target = $2 and state = 'in_use'`,
    [site_id, target],
  )
  return row ?? null
}

/** What is noted of a target whose model cannot be read: it is to be trained at once. */
export const unreadable = 'the stored model cannot be read'

/**
 * Takes a model that cannot be read out of use, as one of another version of the program may be,
 * and notes it as the failure of the target's training, once.
 */
export async function setAside(
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

/** The newest that was trained of each target of a site, whether it came into use or not. */
export const newestTrained = (
  db: Queries,
  site_id: string,
): Promise<(ModelHead & { state: 'in_use' | 'followed' | 'worse' })[]> =>
  db.query(
    `select distinct on (target) target, version, trained_at, facts, scores, state
     from forecast_models where site_id = $1 order by target, version desc`,
    [site_id],
  )

/** Of all targets of a site, without the models themselves. */
export const modelsInUse = (db: Queries, site_id: string): Promise<ModelHead[]> =>
  db.query<ModelHead>(
    `select target, version, trained_at, facts, scores from forecast_models
     where site_id = $1 and state = 'in_use'`,
    [site_id],
  )

/** Of the model of a target that is trained next; the first has 1. */
export async function nextVersion(db: Queries, site_id: string, target: Target): Promise<number> {
  const [row] = await db.query<{ version: number }>(
    `select coalesce(max(version), 0) + 1 as version from forecast_models
     where site_id = $1 and target = $2`,
    [site_id, target],
  )
  return row!.version
}

/** Keeps a model as the next version of its target; one that is not worse is in use from now on. */
export async function storeModel(
  tx: Transaction,
  site_id: string,
  { target, trained_at, facts, scores, model, is_worse }: NewModel,
): Promise<number> {
  const version = await nextVersion(tx, site_id, target)
  if (!is_worse) {
    await tx.execute(
      `update forecast_models set state = 'followed', model = null
       where site_id = $1 and target = $2 and state = 'in_use'`,
      [site_id, target],
    )
  }
  await tx.execute(
    `insert into forecast_models
       (site_id, target, version, trained_at, state, facts, scores, model)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      site_id,
      target,
      version,
      trained_at.toISOString(),
      is_worse ? 'worse' : 'in_use',
      JSON.stringify(facts),
      JSON.stringify(scores),
      is_worse ? null : model,
    ],
  )
  return version
}

/** How the last training of a target ended. */
interface LastTraining {
  target: Target
  ended_at: Date
  /** null: none; where there was too little to learn from it is no error. */
  error: string | null
  /** Steps that could be learned from. */
  sample_count: number
}

export const lastTrainings = (db: Queries, site_id: string): Promise<LastTraining[]> =>
  db.query<LastTraining>(
    'select target, ended_at, error, sample_count from forecast_trainings where site_id = $1',
    [site_id],
  )

export async function noteTraining(
  db: Queries,
  site_id: string,
  { target, ended_at, error, sample_count }: LastTraining,
): Promise<void> {
  await db.execute(
    `insert into forecast_trainings (site_id, target, ended_at, error, sample_count)
     values ($1, $2, $3, $4, $5)
     on conflict (site_id, target) do update
     set ended_at = excluded.ended_at, error = excluded.error,
       sample_count = excluded.sample_count`,
    [site_id, target, ended_at.toISOString(), error, sample_count],
  )
}
