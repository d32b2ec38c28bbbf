/** Power that a limit allows each plant, as the API distributes it, and the energy it curtails. */
import type { CurtailmentSuggestionHour } from '@heliograph/sdk'
import { clockAt, dayAt, type Span } from '../../../ui/site-clock.ts'

export interface Plant {
  logger_id: number
  name: string
  rated_power_kw: number
  /** Present power; null when unknown. */
  power_kw: number | null
}

interface Limit {
  limit_mode: 'percent' | 'kw'
  limit_value: number
}

export interface Allowed extends Plant {
  allowed_kw: number
}

/**
 * A percentage applies to the rated power of each plant; kW are shared in proportion to it. Whole
 * watts, rounded as the server rounds.
 */
export function allowedOf(plants: readonly Plant[], limit: Limit): Allowed[] {
  const { limit_mode, limit_value } = limit
  const rated_w = plants.map((plant) => wattsWithin(plant.rated_power_kw))
  const all_w = rated_w.reduce((sum, watts) => sum + watts, 0)
  const limit_w = Math.min(wattsWithin(limit_value), all_w)
  return plants.map((plant, nth) => {
    const watts =
      limit_mode === 'percent'
        ? Math.min(wattsOfPercent(rated_w[nth]!, limit_value), rated_w[nth]!)
        : shareOf(limit_w, rated_w[nth]!, all_w)
    return { ...plant, allowed_kw: watts / 1000 }
  })
}

/** Integers: products for a large site exceed the exact range of a double. */
function shareOf(limit_w: number, rated_w: number, all_w: number): number {
  return all_w === 0 ? 0 : Number((BigInt(limit_w) * BigInt(rated_w)) / BigInt(all_w))
}

/** Power rounded down to whole watts. */
function wattsWithin(power_kw: number): number {
  const nearest = Math.round(power_kw * 1000)
  return nearest / 1000 <= power_kw ? nearest : nearest - 1
}

/** Percentage of whole watts, rounded down. */
function wattsOfPercent(whole_w: number, share_pct: number): number {
  const nearest = Math.round((whole_w * share_pct) / 100)
  return (nearest * 100) / whole_w > share_pct ? nearest - 1 : nearest
}

export interface DayHours {
  date: string
  start_hour: number
  end_hour: number
}

const days_max = 4

/** Local hours that a span touches, by day, within the forecast horizon. */
export function dayHoursOf({ start_ms, end_ms }: Span, timezone: string): DayHours[] {
  const last_ms = end_ms - 1
  const last_date = dayAt(last_ms, timezone)
  const days: DayHours[] = []
  for (let at_ms = start_ms; days.length < days_max; at_ms += 20 * 3_600_000) {
    const date = dayAt(Math.min(at_ms, last_ms), timezone)
    if (days.at(-1)?.date !== date) {
      const hourAt = (ms: number) => Number(clockAt(ms, timezone).slice(11, 13))
      const start_hour = days.length === 0 ? hourAt(start_ms) : 0
      days.push({ date, start_hour, end_hour: date === last_date ? hourAt(last_ms) + 1 : 24 })
    }
    if (date === last_date) break
  }
  return days
}

interface OtherLimit extends Span {
  max_power_kw: number
}

interface Curtailed {
  energy_kwh: number | null
  /** Revenue of that energy; negative at negative prices. */
  amount: number | null
}

/**
 * Curtailed energy of the median forecast, without energy that other limits curtail already. Null
 * when a part of the span is unknown.
 */
export function curtailedBy(
  hours: readonly CurtailmentSuggestionHour[],
  allowed_kw: number,
  span: Span,
  others: readonly OtherLimit[] = [],
): Curtailed {
  let covered_ms = 0
  let energy_kwh: number | null = 0
  let amount: number | null = 0
  for (const { start_at, end_at, p50_kw, price_per_mwh } of hours) {
    const hour = overlapOf(span, { start_ms: Date.parse(start_at), end_ms: Date.parse(end_at) })
    if (!hour) continue
    covered_ms += hour.end_ms - hour.start_ms
    if (p50_kw === null) return { energy_kwh: null, amount: null }
    const kwh = curtailedKwh(p50_kw, allowed_kw, hour, others)
    energy_kwh += kwh
    if (kwh > 0 && price_per_mwh === null) amount = null
    else if (amount !== null) amount += (kwh * (price_per_mwh ?? 0)) / 1000
  }
  if (covered_ms < span.end_ms - span.start_ms - 60_000) return { energy_kwh: null, amount: null }
  return { energy_kwh, amount }
}

function overlapOf(a: Span, b: Span): Span | null {
  const [start_ms, end_ms] = [Math.max(a.start_ms, b.start_ms), Math.min(a.end_ms, b.end_ms)]
  return end_ms > start_ms ? { start_ms, end_ms } : null
}

/** Sums over intervals within which the same other limits apply. */
function curtailedKwh(
  p50_kw: number,
  allowed_kw: number,
  hour: Span,
  others: readonly OtherLimit[],
) {
  const held = others.filter((other) => overlapOf(hour, other) !== null)
  const bounds = [hour, ...held].flatMap(({ start_ms, end_ms }) => [start_ms, end_ms])
  const ends_ms = bounds
    .filter((ms) => ms > hour.start_ms && ms <= hour.end_ms)
    .sort((a, b) => a - b)
  let kwh = 0
  let from_ms = hour.start_ms
  for (const to_ms of ends_ms) {
    const holding = held.filter((one) => one.start_ms <= from_ms && one.end_ms > from_ms)
    const free_kw = Math.min(p50_kw, ...holding.map(({ max_power_kw }) => max_power_kw))
    kwh += (Math.max(0, free_kw - allowed_kw) * (to_ms - from_ms)) / 3_600_000
    from_ms = to_ms
  }
  return kwh
}
