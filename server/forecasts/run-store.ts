/**
 * Issued forecast runs. A run never changes, so scores use forecasts as they were issued. Of days
 * that are no longer scored, only the runs at gate closures and the last run remain.
 */
import { rounded } from '@heliograph/domain/significant'
import type {
  Confidence,
  ProductionForecast,
  ProductionPoint,
} from '@heliograph/forecast/production-forecast'
import type { Queries } from '../storage/database.ts'
import { nextIdOf } from '../storage/site-ids.ts'
import type { Target } from './targets.ts'

type ForecastModel = 'blend' | 'physical'
export const fallbackReasons = [
  'no_position',
  'no_panels',
  'no_weather_forecast',
  'too_little_history',
  'no_model_yet',
  'physics_was_better',
] as const
export type FallbackReason = (typeof fallbackReasons)[number]

/** A run without its series and totals. */
interface RunHead {
  target: Target
  /** UTC day. */
  target_date: string
  issued_at: Date
  is_hindcast: boolean
  model: ForecastModel
  model_version: number | null
  fallback_reason: FallbackReason | null
  weather_source: string | null
  weather_issued_at: Date | null
  resolution_minutes: number
}

/** One value per step from 00:00Z of the day on. */
export interface RunSeries {
  p10_kw: number[]
  p50_kw: number[]
  p90_kw: number[]
  poa_irradiance_w_m2: (number | null)[]
  ambient_temperature_c: (number | null)[]
  cloud_cover_pct: (number | null)[]
  is_night: boolean[]
}

export interface NewRun extends RunHead, RunSeries {
  total_p10_kwh: number
  total_p50_kwh: number
  total_p90_kwh: number
  confidence: Confidence
}

export interface ForecastRun extends NewRun {
  run_id: number
}

/** A forecast in the precision of a stored run: watts and watt hours. */
export function seriesOf(forecast: ProductionForecast): Omit<NewRun, keyof RunHead> {
  const column = <Name extends keyof ProductionPoint>(name: Name) =>
    forecast.points.map((point) => point[name])
  const power = (name: 'p10_kw' | 'p50_kw' | 'p90_kw') => column(name).map((kw) => rounded(kw, 3))
  return {
    p10_kw: power('p10_kw'),
    p50_kw: power('p50_kw'),
    p90_kw: power('p90_kw'),
    poa_irradiance_w_m2: column('poa_irradiance_w_m2'),
    ambient_temperature_c: column('ambient_temperature_c'),
    cloud_cover_pct: column('cloud_cover_pct'),
    is_night: column('is_night'),
    total_p10_kwh: rounded(forecast.total_p10_kwh, 3),
    total_p50_kwh: rounded(forecast.total_p50_kwh, 3),
    total_p90_kwh: rounded(forecast.total_p90_kwh, 3),
    confidence: forecast.confidence,
  }
}

/** Names of the series, in the order of their columns. */
export const seriesNames = [
  'p10_kw',
  'p50_kw',
  'p90_kw',
  'poa_irradiance_w_m2',
  'ambient_temperature_c',
  'cloud_cover_pct',
  'is_night',
] as const satisfies (keyof RunSeries)[]

const columns = [
  'target',
  'target_date',
  'issued_at',
  'is_hindcast',
  'model',
  'model_version',
  'fallback_reason',
  'weather_source',
  'weather_issued_at',
  'resolution_minutes',
  ...seriesNames,
  'total_p10_kwh',
  'total_p50_kwh',
  'total_p90_kwh',
  'confidence',
] as const satisfies (keyof NewRun)[]

const read = columns.map((name) => `r.${name}`).join(', ')

const newest = {
  name: 'forecast_runs_newest',
  text: `
    select r.run_id, ${read}
    from unnest($2::text[]) as t (target)
    cross join lateral (
      select * from forecast_runs
      where site_id = $1 and target = t.target and target_date = $3::date and issued_at <= $4
        and not is_hindcast
      order by issued_at desc, run_id desc limit 1
    ) as r`,
}

/** The last run of each target for a day that was issued by `until`. */
export function newestRuns(
  db: Queries,
  site_id: string,
  asked: { targets: readonly Target[]; target_date: string; until: Date },
): Promise<ForecastRun[]> {
  const { targets, target_date, until } = asked
  return db.query<ForecastRun>(newest, [site_id, targets, target_date, until.toISOString()])
}

/** All runs for a day issued by `until`, by issue time, without hindcasts. */
export const issuedRuns = (
  db: Queries,
  of: { site_id: string; target: Target },
  { target_date, until }: { target_date: string; until: Date },
) =>
  db.query<ForecastRun>(
    `select r.run_id, ${read} from forecast_runs r
     where site_id = $1 and target = $2 and target_date = $3 and issued_at <= $4
       and not is_hindcast
     order by issued_at, run_id`,
    [of.site_id, of.target, target_date, until.toISOString()],
  )

interface VintageQuery {
  target_date: string
  before: Date
}

/** The last run before an instant, possibly a hindcast; `nth` is the number of the query. */
export type Vintage = Pick<
  ForecastRun,
  'issued_at' | 'is_hindcast' | 'resolution_minutes' | 'p10_kw' | 'p50_kw' | 'p90_kw'
> & { nth: number }

/** By index, the last run issued at `before` or earlier; issued runs come before hindcasts. */
export async function vintages(
  db: Queries,
  of: { site_id: string; target: Target },
  asked: readonly VintageQuery[],
  { with_hindcasts }: { with_hindcasts: boolean },
): Promise<Map<number, Vintage>> {
  const rows = await db.query<Vintage>(
    `select a.nth::int as nth, r.*
     from unnest($3::date[], $4::timestamptz[]) with ordinality as a (target_date, before_at, nth)
     cross join lateral (
       select issued_at, is_hindcast, resolution_minutes, p10_kw, p50_kw, p90_kw from forecast_runs
       where site_id = $1 and target = $2 and target_date = a.target_date
         and issued_at <= a.before_at and ($5 or not is_hindcast)
       order by is_hindcast, issued_at desc, run_id desc limit 1
     ) as r`,
    [
      of.site_id,
      of.target,
      asked.map(({ target_date }) => target_date),
      asked.map(({ before }) => before.toISOString()),
      with_hindcasts,
    ],
  )
  return new Map(rows.map((row) => [row.nth - 1, row]))
}

/** End of the last UTC day that has a run; null without any. */
export async function endOfRuns(
  db: Queries,
  { site_id, target }: { site_id: string; target: Target },
): Promise<Date | null> {
  const [row] = await db.query<{ end_at: Date | null }>(
    `select (max(target_date) + 1)::timestamptz as end_at
     from forecast_runs where site_id = $1 and target = $2`,
    [site_id, target],
  )
  return row!.end_at
}

const inserted = {
  name: 'forecast_runs_insert',
  text: `insert into forecast_runs (site_id, run_id, ${columns.join(', ')})
         values ($1, ${nextIdOf('site', '$1')}, ${columns.map((_, nth) => `$${nth + 2}`).join(', ')})`,
}

export async function storeRuns(db: Queries, site_id: string, runs: readonly NewRun[]) {
  for (const run of runs) {
    await db.execute(inserted, [site_id, ...columns.map((name) => run[name])])
  }
}

/** Replaces hindcasts of the same days, and deletes those of days before `kept_from`. */
export async function replaceHindcasts(
  db: Queries,
  site_id: string,
  { target, runs, kept_from }: { target: Target; runs: readonly NewRun[]; kept_from: string },
): Promise<void> {
  await db.execute(
    `delete from forecast_runs
     where site_id = $1 and target = $2 and is_hindcast
       and (target_date = any($3::date[]) or target_date < $4)`,
    [site_id, target, runs.map(({ target_date }) => target_date), kept_from],
  )
  await storeRuns(db, site_id, runs)
}
