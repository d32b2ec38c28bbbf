/**
 * Which limit would take the top off what a plant is expected to deliver. The expectation is the
 * clear-sky shape of each hour, scaled by what the same time of day gave of its own shape on the
 * last days. Pure.
 */
import { day_ms } from '@heliograph/domain/utc-day'
import type { Energy } from './clear-sky-energy.ts'
import { limitsOf, type Plant } from './limits.ts'

export const hour_ms = 3_600_000

/** How far back a time of day is looked at. */
export const recent_days = 14
/** Days without which nothing is said of an hour. */
export const days_min = 3
/** Days of every hour of daylight that make for more than low confidence. */
export const days_good = 7
/** So far ahead the weather of the last days says little. */
export const ahead_h_max = 48
/** Below this part of the rated power the clear sky is no measure: it counts as night. */
const light_min_ratio = 0.01
/** What the limit leaves of the best hour. */
export const kept_ratio = 0.9

/** An hour, or the part of one that is left at the end of a window; Unix ms. */
export interface Span {
  start_ms: number
  end_ms: number
}

/** Quantiles over the last days: `p10_kw` is what one day in ten stayed below. */
export interface ExpectedHour extends Span {
  /** All three are null where too few days are known, and 0 at night. */
  p10_kw: number | null
  p50_kw: number | null
  p90_kw: number | null
  /** Days that it stands on; null at night, which needs none. */
  days: number | null
}

/** What the plant delivered, and could have without limits, by the hour it began in, Unix ms. */
export type RecentHours = ReadonlyMap<number, number>

export function hoursOf({ start_ms, end_ms }: Span): Span[] {
  const spans: Span[] = []
  for (let at = start_ms; at < end_ms; at += hour_ms) {
    spans.push({ start_ms: at, end_ms: Math.min(at + hour_ms, end_ms) })
  }
  return spans
}

/** `until_ms` ends what is known of the last days; `clear` is of the plant. */
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
  const light_min_kwh = light_min_ratio * rated_power_kw * length_h
  const clear_kwh = clear(span.start_ms, span.end_ms)
  if (clear_kwh < light_min_kwh) return { ...span, p10_kw: 0, p50_kw: 0, p90_kw: 0, days: null }
  const ratios: number[] = []
  const newest = Math.max(1, Math.ceil((span.end_ms - until_ms) / day_ms))
  for (let nth = newest; nth < newest + recent_days; nth += 1) {
    const then = { start_ms: span.start_ms - nth * day_ms, end_ms: span.end_ms - nth * day_ms }
    const then_kwh = clear(then.start_ms, then.end_ms)
    const measured_kwh = measuredIn(then, recent, clear)
    if (measured_kwh !== null && then_kwh >= light_min_kwh) ratios.push(measured_kwh / then_kwh)
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

/** Of a span that may begin within an hour: the part of each sum that the sun gives in it. */
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

/** Between the two nearest of ascending values, along a straight line. */
function quantile(ascending: readonly number[], share: number): number {
  const place = share * (ascending.length - 1)
  const below = ascending[Math.floor(place)]!
  return below + (place - Math.floor(place)) * (ascending[Math.ceil(place)]! - below)
}

interface SuggestedLimit {
  /** Whole percent of rated power, 1 to 90. */
  limit_pct: number
  /** What a command of that percentage allows, kW. */
  limit_kw: number
  /** What the limit would keep back of the `p50_kw`, kWh; more than 0. */
  curtailed_energy_kwh: number
}

/** Null where nothing is expected of which a whole percent could be taken off. */
export function suggestedLimit(
  hours: readonly ExpectedHour[],
  plant: Plant,
): SuggestedLimit | null {
  const best_kw = Math.max(0, ...hours.map(({ p50_kw }) => p50_kw ?? 0))
  const limit_pct = Math.floor((100 * kept_ratio * best_kw) / plant.rated_power_kw)
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

/** What of the hours and of the time until then makes a suggestion worse, or none. */
export function doubtsOf(hours: readonly ExpectedHour[], now_ms: number): Reason[] {
  const lit = hours.filter(({ days }) => days !== null)
  const end_ms = hours.at(-1)!.end_ms
  const few = (days_wanted: number) => lit.filter(({ days }) => days! < days_wanted)
  const is_unknown = lit.length > 0 && few(days_min).length === lit.length
  return [
    ...(lit.length === 0 ? (['no_daylight'] as const) : []),
    ...(is_unknown ? (['no_recent_output'] as const) : []),
    ...(!is_unknown && few(days_good).length > 0 ? (['few_recent_days'] as const) : []),
    ...(end_ms > now_ms + ahead_h_max * hour_ms ? (['far_ahead'] as const) : []),
    ...(end_ms <= now_ms ? (['window_is_past'] as const) : []),
  ]
}
