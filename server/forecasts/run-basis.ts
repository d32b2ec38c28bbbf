/** Current inputs of the forecasts of a day, and whether issued runs are outdated. */
import { day_ms } from '@heliograph/domain/durations'
import type { Queries } from '../storage/database.ts'
import { unreadable } from './model-store.ts'
import type { FallbackReason, ForecastRun } from './run-store.ts'
import type { Target } from './targets.ts'

/** Longest reach of a weather forecast. */
const weather_days_max = 16

type Absence = Extract<FallbackReason, 'no_model_yet' | 'too_little_history' | 'physics_was_better'>

export interface RunBasis {
  /** Version of the model in use; null without one. */
  version: number | null
  /** null with a model. */
  absence: Absence | null
  /** Issue time of the newest weather forecast for the day, Unix ms; null without any. */
  weather_ms: number | null
  /** Time of the last inventory, Unix ms; null without one. */
  described_ms: number | null
}

interface BasisRow {
  target: Target
  version: number | null
  newest_state: 'in_use' | 'followed' | 'worse' | null
  is_tried: boolean
  weather_at: Date | null
  described_at: Date | null
}

const basis = {
  name: 'forecast_run_basis',
  text: `
    select t.target, m.version, newest.state as newest_state, r.site_id is not null as is_tried,
           w.weather_at, s.described_at
    from unnest($2::text[]) as t (target)
    left join forecast_models m
      on m.site_id = $1 and m.target = t.target and m.state = 'in_use'
    left join lateral (
      select state from forecast_models
      where site_id = $1 and target = t.target order by version desc limit 1) newest on true
    left join forecast_trainings r
      on r.site_id = $1 and r.target = t.target and r.error is distinct from '${unreadable}'
    cross join (
      select max(issued_at) as weather_at from weather_runs
      where site_id = $1 and kind = 'live' and fetched_at <= $5
        and from_at >= $6 and from_at < $4 and to_at > $3) w
    cross join (
      select max(inventory_at) as described_at from sites
      where site_id = $1 and inventory_at <= $5) s`,
}

/** The basis of each target; `day` is midnight UTC, Unix ms. */
export async function readRunBasis(
  db: Queries,
  site_id: string,
  { targets, day, now }: { targets: readonly Target[]; day: number; now: Date },
): Promise<Map<Target, RunBasis>> {
  const rows = await db.query<BasisRow>(basis, [
    site_id,
    targets,
    new Date(day).toISOString(),
    new Date(day + day_ms).toISOString(),
    now.toISOString(),
    new Date(day - weather_days_max * day_ms).toISOString(),
  ])
  return new Map(
    rows.map((row) => [
      row.target,
      {
        version: row.version,
        absence: absenceOf(row),
        weather_ms: row.weather_at?.getTime() ?? null,
        described_ms: row.described_at?.getTime() ?? null,
      },
    ]),
  )
}

function absenceOf({ version, newest_state, is_tried }: BasisRow): Absence | null {
  if (version !== null) return null
  if (!is_tried) return 'no_model_yet'
  return newest_state === 'worse' ? 'physics_was_better' : 'too_little_history'
}

type Made = Pick<
  ForecastRun,
  'issued_at' | 'model_version' | 'fallback_reason' | 'weather_issued_at'
>

/**
 * A run is outdated by newer weather, another model (or another reason for having none), or a new
 * inventory. Outages do not count: they are applied when a run is read.
 */
export function isOutdated(run: Made, now: RunBasis): boolean {
  const is_other_model =
    run.model_version !== now.version ||
    (now.absence !== null &&
      run.fallback_reason !== 'no_weather_forecast' &&
      run.fallback_reason !== now.absence)
  const has_newer_weather =
    now.weather_ms !== null && now.weather_ms > (run.weather_issued_at?.getTime() ?? 0)
  const is_redescribed = now.described_ms !== null && now.described_ms > run.issued_at.getTime()
  return is_other_model || has_newer_weather || is_redescribed
}
