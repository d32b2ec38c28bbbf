/**
 * Market periods, pure. Each period has its own start and end, so that days of 23, 24 or 25 hours
 * and resolutions of 15, 30 or 60 minutes need no special cases. Times are Unix ms, spans are
 * half-open, prices are integer micro-units of the currency per MWh.
 */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'

export interface PeriodSpan {
  start_ms: number
  end_ms: number
}

export interface PricePeriod extends PeriodSpan {
  /** Millionths of the market's currency per MWh. */
  price_micro: number
}

export type Resolution = 15 | 30 | 60

const lengthOf = ({ start_ms, end_ms }: PeriodSpan) => end_ms - start_ms
const overlap = (a: PeriodSpan, b: PeriodSpan) => a.start_ms < b.end_ms && b.start_ms < a.end_ms
const byStart = (a: PeriodSpan, b: PeriodSpan) => a.start_ms - b.start_ms || a.end_ms - b.end_ms

/** A delivery day YYYY-MM-DD of a market: 92, 96 or 100 quarter hours. */
export function deliveryDay(date: string, timezone: string): PeriodSpan {
  const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
  return { start_ms: from_ms, end_ms: to_ms }
}

/** The UTC day YYYY-MM-DD: 96 quarter hours, overlapping two delivery days. */
export function utcDay(date: string): PeriodSpan {
  const start_ms = Date.parse(`${date}T00:00:00Z`)
  return { start_ms, end_ms: start_ms + day_ms }
}

/** Delivery days that overlap a span, ascending. */
export function deliveryDates({ start_ms, end_ms }: PeriodSpan, timezone: string): string[] {
  const dates: string[] = []
  for (let at = start_ms; at < end_ms; at = deliveryDay(dates.at(-1)!, timezone).end_ms) {
    dates.push(localDate(at, timezone))
  }
  return dates
}

/** Invalid curve: contradictory or incomplete positions. */
export class CurveFault extends Error {}

interface Curve extends PeriodSpan {
  resolution_ms: number
  /** Positions count from 1, in any order. */
  points: readonly { position: number; price_micro: number }[]
  /** IEC 62325 curve type A03: a point holds until the next one. Else type A01. */
  holds: boolean
}

/**
 * Expands a curve into periods, ascending. Type A03 omits points that repeat the previous one; they
 * are restored here. Positions before the first point have no period.
 *
 * @throws CurveFault for a position outside the curve, a repeated position, or a length that is no
 * multiple of the resolution
 */
export function expandCurve({ points, resolution_ms, holds, ...span }: Curve): PricePeriod[] {
  const count = lengthOf(span) / resolution_ms
  if (!Number.isInteger(count) || count < 1) {
    throw new CurveFault('a period that is no multiple of its resolution')
  }
  const prices = new Map<number, number>()
  for (const { position, price_micro } of points) {
    if (!Number.isInteger(position) || position < 1 || position > count) {
      throw new CurveFault(`position ${position} in a period of ${count}`)
    }
    if (prices.has(position)) throw new CurveFault(`position ${position} twice`)
    prices.set(position, price_micro)
  }
  const periods: PricePeriod[] = []
  let held: number | undefined
  for (let position = 1; position <= count; position += 1) {
    const price_micro: number | undefined = prices.get(position) ?? held
    if (price_micro === undefined) continue
    const start_ms = span.start_ms + (position - 1) * resolution_ms
    periods.push({ start_ms, end_ms: start_ms + resolution_ms, price_micro })
    if (holds) held = price_micro
  }
  return periods
}

/**
 * Merges several series of an auction into one price per instant. Finer periods take precedence
 * over coarser ones. When some quarters of an hour are known, the other quarters stay unknown: the
 * hourly price is the mean of the quarters, not the price of each.
 *
 * @throws CurveFault when equal periods have different prices or periods overlap partly
 */
export function mergePeriods(series: readonly (readonly PricePeriod[])[]): PricePeriod[] {
  const finest_first = series.flat().toSorted((a, b) => lengthOf(a) - lengthOf(b) || byStart(a, b))
  const taken: PricePeriod[] = []
  for (const group of Map.groupBy(finest_first, lengthOf).values()) {
    const whole = uniquePeriods(group)
    taken.push(...withoutOverlap(whole, taken))
    taken.sort(byStart)
  }
  return taken
}

function uniquePeriods(ascending: readonly PricePeriod[]): PricePeriod[] {
  const unique: PricePeriod[] = []
  for (const period of ascending) {
    const last = unique.at(-1)
    if (!last || last.end_ms <= period.start_ms) unique.push(period)
    else if (last.start_ms !== period.start_ms || last.price_micro !== period.price_micro) {
      throw new CurveFault(`two prices at ${new Date(period.start_ms).toISOString()}`)
    }
  }
  return unique
}

/** The `periods` that overlap none of `others`; both ascending. */
function withoutOverlap(periods: readonly PricePeriod[], others: readonly PeriodSpan[]) {
  let next = 0
  return periods.filter((period) => {
    while (next < others.length && others[next]!.end_ms <= period.start_ms) next += 1
    return next === others.length || !overlap(period, others[next]!)
  })
}

/** Parts of a span without a period, ascending; `periods` ascending. */
export function holesIn(periods: readonly PeriodSpan[], span: PeriodSpan): PeriodSpan[] {
  const holes: PeriodSpan[] = []
  let at = span.start_ms
  for (const { start_ms, end_ms } of periods) {
    if (start_ms >= span.end_ms) break
    if (start_ms > at) holes.push({ start_ms: at, end_ms: start_ms })
    at = Math.max(at, end_ms)
  }
  if (at < span.end_ms) holes.push({ start_ms: at, end_ms: span.end_ms })
  return holes
}

/** Length of the shortest period; `usual` without periods or for an unsupported length. */
export function resolutionOf(periods: readonly PeriodSpan[], usual: Resolution): Resolution {
  const shortest = Math.min(...periods.map(lengthOf)) / minute_ms
  return ([15, 30, 60] as const).find((minutes) => minutes === shortest) ?? usual
}

export interface Slot extends PeriodSpan {
  /** Null when unknown. */
  price_micro: number | null
}

/** The known periods that overlap a span; gaps are filled with periods without a price. */
export function slotsOf(
  periods: readonly PricePeriod[],
  span: PeriodSpan,
  resolution_minutes: Resolution,
): Slot[] {
  const step_ms = resolution_minutes * minute_ms
  const unknown = holesIn(periods, span).flatMap((hole) => {
    const slots: Slot[] = []
    for (let start_ms = hole.start_ms; start_ms < hole.end_ms; ) {
      // Aligned to the resolution, also when the hole starts off the grid.
      const end_ms = Math.min(hole.end_ms, (Math.floor(start_ms / step_ms) + 1) * step_ms)
      slots.push({ start_ms, end_ms, price_micro: null })
      start_ms = end_ms
    }
    return slots
  })
  return [...periods.filter((period) => overlap(period, span)), ...unknown].sort(byStart)
}
