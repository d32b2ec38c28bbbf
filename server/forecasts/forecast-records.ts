/** Forecasts of a day as records of the API. */

import { cached } from '@heliograph/domain/cached'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded, significant } from '@heliograph/domain/significant'
import { isoTime } from '../storage/values.ts'
import type { DayForecasts } from './forecasts.ts'
import { type KnownLimit, limitedPower } from './limits.ts'
import type { ForecastRun } from './run-store.ts'
import type { Forecast, ForecastPoint } from './schemas.ts'
import { loggerOf, type Target, targetOf } from './targets.ts'

const stale_ms = 12 * hour_ms
/** Schedule of the forecast job: every five minutes, at minute 2; see server/jobs.ts. */
const run_every_ms = 300_000
const run_offset_ms = 120_000

interface RecordDay {
  date: string
  now: Date
  /** Starts of the steps of the day and its end; shared by plants, as formatting is slow. */
  instantsOf(step_ms: number): readonly string[]
}

export function recordDay(date: string, now: Date): RecordDay {
  const day_start_ms = Date.parse(date)
  const instantsOf = cached((step_ms: number) =>
    Array.from({ length: day_ms / step_ms + 1 }, (_, nth) => isoTime(day_start_ms + nth * step_ms)),
  )
  return { date, now, instantsOf }
}

export function forecastOf(day: DayForecasts, target: Target, record: RecordDay): Forecast {
  const { date, now } = record
  const day_start_ms = Date.parse(date)
  const valid_to_ms = day_start_ms + day_ms
  const logger_id = loggerOf(target)
  const shared = {
    logger_id,
    logger_name: day.plants.find((plant) => plant.logger_id === logger_id)?.name ?? null,
    date,
    valid_from_at: isoTime(day_start_ms),
    valid_to_at: isoTime(valid_to_ms),
    next_run_at: day.is_within_horizon ? isoTime(nextRun(now.getTime())) : null,
  }
  const run = day.runs.get(target)
  if (!run) {
    const fallback_reason = reasonOf(day, day_start_ms > now.getTime())
    return { ...shared, ...noForecast, fallback_reason }
  }
  const points = pointsOf(day, run, record)
  const peak = points.reduce<ForecastPoint | null>(
    (best, point) => (point.p50_kw > (best?.p50_kw ?? 0) ? point : best),
    null,
  )
  const status = statusOf(run, now)
  return {
    ...shared,
    run_id: run.run_id,
    run_at: run.issued_at.toISOString(),
    horizon_h: significant((valid_to_ms - run.issued_at.getTime()) / hour_ms),
    model: run.model,
    model_version: run.model_version === null ? null : String(run.model_version),
    weather_source: run.weather_source,
    weather_run_at: run.weather_issued_at?.toISOString() ?? null,
    resolution_minutes: run.resolution_minutes,
    cached: !day.is_new,
    points,
    total_p10_kwh: rounded(run.total_p10_kwh, 6),
    total_p50_kwh: rounded(run.total_p50_kwh, 6),
    total_p90_kwh: rounded(run.total_p90_kwh, 6),
    peak_p50_kw: peak?.p50_kw ?? 0,
    peak_at: peak?.start_at ?? null,
    confidence: status === 'ok' ? run.confidence : 'low',
    status,
    fallback_reason: run.fallback_reason,
  }
}

const noForecast = {
  run_id: null,
  run_at: null,
  horizon_h: null,
  model: null,
  model_version: null,
  weather_source: null,
  weather_run_at: null,
  resolution_minutes: null,
  cached: false,
  points: [],
  total_p10_kwh: null,
  total_p50_kwh: null,
  total_p90_kwh: null,
  peak_p50_kw: null,
  peak_at: null,
  confidence: 'low',
  status: 'fallback',
} as const satisfies Partial<Forecast> & { points: [] }

/** Time of the next forecast job, Unix ms. */
export function nextRun(now_ms: number): number {
  const turn = Math.floor((now_ms - run_offset_ms) / run_every_ms) + 1
  return turn * run_every_ms + run_offset_ms
}

function reasonOf(
  { is_within_horizon, has_place }: DayForecasts,
  is_ahead: boolean,
): Forecast['fallback_reason'] {
  if (!is_within_horizon) return is_ahead ? 'beyond_horizon' : 'not_issued'
  return has_place ? 'no_panels' : 'no_position'
}

/** The age of a past day's forecast is measured at the end of that day. */
function statusOf(run: ForecastRun, now: Date): Forecast['status'] {
  if (run.fallback_reason !== null) return 'fallback'
  const day_end_ms = Date.parse(run.target_date) + day_ms
  const until_ms = Math.min(now.getTime(), day_end_ms)
  const age_ms = until_ms - (run.weather_issued_at?.getTime() ?? 0)
  return age_ms > stale_ms ? 'stale' : 'ok'
}

function pointsOf(day: DayForecasts, run: ForecastRun, record: RecordDay): ForecastPoint[] {
  const step_ms = run.resolution_minutes * 60_000
  const step_h = step_ms / hour_ms
  const instants = record.instantsOf(step_ms)
  const limited = limitedPowers(day, run, Date.parse(record.date))
  return run.p50_kw.map((p50_kw, nth): ForecastPoint => {
    const [p10_kw, p90_kw] = [run.p10_kw[nth]!, run.p90_kw[nth]!]
    const kw = (power_kw: number) => rounded(power_kw, 6)
    return {
      start_at: instants[nth]!,
      end_at: instants[nth + 1]!,
      p10_kw: kw(p10_kw),
      p50_kw: kw(p50_kw),
      p90_kw: kw(p90_kw),
      p10_kwh: rounded(p10_kw * step_h, 6),
      p50_kwh: rounded(p50_kw * step_h, 6),
      p90_kwh: rounded(p90_kw * step_h, 6),
      poa_irradiance_w_m2: run.poa_irradiance_w_m2[nth] ?? null,
      ambient_temperature_c: run.ambient_temperature_c[nth] ?? null,
      cloud_cover_pct: run.cloud_cover_pct[nth] ?? null,
      limited_p50_kw: rounded(limited[nth]!, 6),
      is_night: run.is_night[nth]!,
    }
  })
}

/** Median power under the known limits; the site loses the sum of what its plants lose. */
function limitedPowers(day: DayForecasts, run: ForecastRun, day_start_ms: number): number[] {
  const { limits, runs } = day
  if (limits.length === 0) return run.p50_kw
  const step_ms = run.resolution_minutes * 60_000
  const logger_id = loggerOf(run.target)
  const left = (of: ForecastRun, nth: number, own: readonly KnownLimit[]) => {
    const start_ms = day_start_ms + nth * step_ms
    return limitedPower(of.p50_kw[nth]!, { start_ms, end_ms: start_ms + step_ms }, own)
  }
  const limitsOf = Map.groupBy(limits, (limit) => limit.logger_id)
  if (logger_id !== null) {
    return run.p50_kw.map((_, nth) => left(run, nth, limitsOf.get(logger_id) ?? []))
  }
  const held = [...limitsOf].flatMap(([id, own]) => {
    const plant = runs.get(targetOf(id))
    return plant?.resolution_minutes === run.resolution_minutes ? [{ plant, own }] : []
  })
  return run.p50_kw.map((p50_kw, nth) => {
    const lost = held.reduce(
      (sum, { plant, own }) => sum + plant.p50_kw[nth]! - left(plant, nth, own),
      0,
    )
    return Math.max(0, p50_kw - lost)
  })
}
