/**
 * Suggests a limit just below the expected peak of a plant. The expected power of an hour is its
 * clear-sky energy, times the ratio of measured to clear-sky energy at the same time of day on the
 * last days. Pure.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { limitsOf, type Plant } from '@heliograph/domain/limit-shares'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { ForecastRun } from '../forecasts/run-store.ts'
import type { Energy } from './clear-sky-energy.ts'

/** Days of history for each time of day. */
export const recent_days = 14
/** With fewer measured days the expectation of an hour is null. */
export const days_min = 3
/** Measured days of every daylight hour that the confidence `medium` requires. */
export const days_good = 7
/** Beyond this lead time the weather of the last days predicts little. */
export const ahead_h_max = 48
/** Clear-sky power below this share of rated power counts as night. */
const daylight_min_ratio = 0.01
/** The suggested limit as a share of the expected peak. */
export const limit_ratio = 0.9

/** An hour, or a part of one at the end of a window; Unix ms. */
export interface Span {
  start_ms: number
  end_ms: number
}

/** Quantiles over the last days: one day in ten stayed below `p10_kw`. */
export interface ExpectedHour extends Span {
  /** All three are null with fewer than `days_min` days, and 0 at night. */
  p10_kw: number | null
  p50_kw: number | null
  p90_kw: number | null
  /** Measured days behind the quantiles; null at night, which needs none. */
  days: number | null
}

/** Energy of the plant without limits, kWh, by the start of the hour, Unix ms. */
export type RecentHours = ReadonlyMap<number, number>

export function hoursOf({ start_ms, end_ms }: Span): Span[] {
  const spans: Span[] = []
  for (let at = start_ms; at < end_ms; at += hour_ms) {
    spans.push({ start_ms: at, end_ms: Math.min(at + hour_ms, end_ms) })
  }
  return spans
}

/** `until_ms` is the end of the measured history; `clear` is the clear-sky energy of the plant. */
export function expectedHour(
  span: Span,
  {
    clear,
    recent,
    rated_power_kw,
    until_ms,
  }: {
    clear: Energy
    recent: RecentHours
    rated_power_kw: number
    until_ms: number
  },
): ExpectedHour {
  const length_h = (span.end_ms - span.start_ms) / hour_ms
  const daylight_min_kwh = daylight_min_ratio * rated_power_kw * length_h
  const clear_kwh = clear(span.start_ms, span.end_ms)
  if (clear_kwh < daylight_min_kwh) return { ...span, p10_kw: 0, p50_kw: 0, p90_kw: 0, days: null }
  const ratios: number[] = []
  const newest = Math.max(1, Math.ceil((span.end_ms - until_ms) / day_ms))
  for (let nth = newest; nth < newest + recent_days; nth += 1) {
    const then = { start_ms: span.start_ms - nth * day_ms, end_ms: span.end_ms - nth * day_ms }
    const then_kwh = clear(then.start_ms, then.end_ms)
    const measured_kwh = measuredIn(then, recent, clear)
    if (measured_kwh !== null && then_kwh >= daylight_min_kwh) ratios.push(measured_kwh / then_kwh)
  }
  ratios.sort((a, b) => a - b)
  const power = (share: number) =>
    ratios.length < days_min
      ? null
      : Math.min(rated_power_kw, Math.max(0, (quantile(ratios, share) * clear_kwh) / length_h))
  return {
    ...span,
    p10_kw: power(0.1),
    p50_kw: power(0.5),
    p90_kw: power(0.9),
    days: ratios.length,
  }
}

/**
 * Measured energy of a span that may begin within an hour: hourly sums are split in proportion to
 * clear-sky energy. Null where an hour was not measured.
 */
function measuredIn({ start_ms, end_ms }: Span, recent: RecentHours, clear: Energy): number | null {
  let sum_kwh = 0
  for (let at = Math.floor(start_ms / hour_ms) * hour_ms; at < end_ms; at += hour_ms) {
    const whole_kwh = clear(at, at + hour_ms)
    if (whole_kwh === 0) continue
    const hour_kwh = recent.get(at)
    if (hour_kwh === undefined) return null
    const part_kwh = clear(Math.max(at, start_ms), Math.min(at + hour_ms, end_ms))
    sum_kwh += (hour_kwh * part_kwh) / whole_kwh
  }
  return sum_kwh
}

/** Quantile of ascending values, linear between the two nearest. */
function quantile(ascending: readonly number[], share: number): number {
  const place = share * (ascending.length - 1)
  const below = ascending[Math.floor(place)]!
  return below + (place - Math.floor(place)) * (ascending[Math.ceil(place)]! - below)
}

interface SuggestedLimit {
  /** Whole percent of rated power, 1 to 90. */
  limit_pct: number
  /** Limit that a command of this percentage sets, kW. */
  limit_kw: number
  /** Part of the `p50_kw` energy above the limit, kWh; more than 0. */
  curtailed_energy_kwh: number
}

/** Null where less than one percent of rated power is expected. */
export function suggestedLimit(
  hours: readonly ExpectedHour[],
  plant: Plant,
): SuggestedLimit | null {
  const best_kw = Math.max(0, ...hours.map(({ p50_kw }) => p50_kw ?? 0))
  const limit_pct = Math.floor((100 * limit_ratio * best_kw) / plant.rated_power_kw)
  if (!(limit_pct >= 1)) return null
  const [limit] = limitsOf({ limit_mode: 'percent', limit_value: limit_pct }, [plant])
  const limit_kw = limit!.max_power_kw
  const curtailed_energy_kwh = hours.reduce((sum, { p50_kw, start_ms, end_ms }) => {
    return sum + (Math.max(0, (p50_kw ?? 0) - limit_kw) * (end_ms - start_ms)) / hour_ms
  }, 0)
  return { limit_pct, limit_kw, curtailed_energy_kwh }
}

export const reasons = [
  'no_forecast',
  'no_price',
  'no_position',
  'no_panels',
  'no_recent_output',
  'no_daylight',
  'little_output',
  'few_recent_days',
  'far_ahead',
  'window_is_past',
] as const
export type Reason = (typeof reasons)[number]

/** Reasons that lower the confidence of a suggestion, or prevent one. */
export function doubtsOf(hours: readonly ExpectedHour[], now_ms: number): Reason[] {
  const daylight = hours.filter(({ days }) => days !== null)
  const end_ms = hours.at(-1)!.end_ms
  const few = (days_wanted: number) => daylight.filter(({ days }) => days! < days_wanted)
  const is_unknown = daylight.length > 0 && few(days_min).length === daylight.length
  return [
    ...(daylight.length === 0 ? (['no_daylight'] as const) : []),
    ...(is_unknown ? (['no_recent_output'] as const) : []),
    ...(!is_unknown && few(days_good).length > 0 ? (['few_recent_days'] as const) : []),
    ...(end_ms > now_ms + ahead_h_max * hour_ms ? (['far_ahead'] as const) : []),
    ...(end_ms <= now_ms ? (['window_is_past'] as const) : []),
  ]
}

export interface ForecastHours {
  hours: ExpectedHour[]
  /** Issue time of the newest run. */
  run_at: string
  confidence: 'low' | 'medium' | 'high'
  peak_p50_kw: number
  peak_p90_kw: number
  energy_p50_kwh: number
}

type Run = Pick<
  ForecastRun,
  'target_date' | 'resolution_minutes' | 'issued_at' | 'confidence' | 'p10_kw' | 'p50_kw' | 'p90_kw'
>

export function utcDatesOf({ start_ms, end_ms }: Span): string[] {
  const first_ms = utcDayStart(start_ms)
  const count = Math.ceil((end_ms - first_ms) / day_ms)
  return Array.from({ length: count }, (_, nth) => utcDate(first_ms + nth * day_ms))
}

/** Null unless `runs`, one for each UTC day, cover the whole span. */
export function forecastHours(span: Span, runs: readonly Run[]): ForecastHours | null {
  const steps = runs.flatMap((run) => {
    const step_ms = run.resolution_minutes * 60_000
    return run.p50_kw.map((p50_kw, nth) => {
      const start_ms = Date.parse(run.target_date) + nth * step_ms
      const [p10_kw, p90_kw] = [run.p10_kw[nth]!, run.p90_kw[nth]!]
      return { start_ms, end_ms: start_ms + step_ms, p10_kw, p50_kw, p90_kw }
    })
  })
  const hours = hoursOf(span).map((hour) => meanOf(hour, steps))
  if (hours.length === 0 || hours.some((hour) => hour === null)) return null
  const known = hours.filter((hour) => hour !== null)
  const energy = known.map(
    ({ p50_kw, start_ms, end_ms }) => (p50_kw * (end_ms - start_ms)) / hour_ms,
  )
  const levels = ['low', 'medium', 'high'] as const
  return {
    hours: known.map((hour) => ({ ...hour, days: hour.p90_kw > 0 ? days_good : null })),
    run_at: new Date(Math.max(...runs.map(({ issued_at }) => issued_at.getTime()))).toISOString(),
    confidence: levels.find((level) => runs.some(({ confidence }) => confidence === level))!,
    peak_p50_kw: Math.max(...known.map(({ p50_kw }) => p50_kw)),
    peak_p90_kw: Math.max(...known.map(({ p90_kw }) => p90_kw)),
    energy_p50_kwh: energy.reduce((sum, kwh) => sum + kwh, 0),
  }
}

type Step = Span & { p10_kw: number; p50_kw: number; p90_kw: number }

/** Means over a span. A mean of quantiles is only close to a quantile for few steps per span. */
function meanOf(span: Span, steps: readonly Step[]): Step | null {
  let [covered_ms, p10, p50, p90] = [0, 0, 0, 0]
  for (const step of steps) {
    const within_ms = Math.min(span.end_ms, step.end_ms) - Math.max(span.start_ms, step.start_ms)
    if (within_ms <= 0) continue
    covered_ms += within_ms
    p10 += step.p10_kw * within_ms
    p50 += step.p50_kw * within_ms
    p90 += step.p90_kw * within_ms
  }
  if (covered_ms < span.end_ms - span.start_ms) return null
  const [p10_kw, p50_kw, p90_kw] = [p10 / covered_ms, p50 / covered_ms, p90 / covered_ms]
  return { ...span, p10_kw, p50_kw, p90_kw }
}
