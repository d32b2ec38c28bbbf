/**
 * Market periods, pure: each has its own start and end, so that days of 23, 24 or 25 hours and
 * resolutions of 15, 30 or 60 minutes need no case of their own. Times are Unix ms, spans
 * half-open, prices whole millionths of the currency per MWh.
 */
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { day_ms } from '@heliograph/domain/utc-day'

const minute_ms = 60_000

/** The price of a market period [start_ms, end_ms), Unix ms. */
export interface PricePeriod {
  start_ms: number
  end_ms: number
  /** Millionths of the market's currency per MWh. */
  price_micro: number
}

export interface PeriodSpan {
  start_ms: number
  end_ms: number
}

export type Resolution = 15 | 30 | 60

const lengthOf = ({ start_ms, end_ms }: PeriodSpan) => end_ms - start_ms
const overlap = (a: PeriodSpan, b: PeriodSpan) => a.start_ms < b.end_ms && b.start_ms < a.end_ms
const byStart = (a: PeriodSpan, b: PeriodSpan) => a.start_ms - b.start_ms || a.end_ms - b.end_ms

/** A delivery day YYYY-MM-DD of a market: 92, 96 or 100 quarters of an hour. */
export function deliveryDay(date: string, timezone: string): PeriodSpan {
  const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
  return { start_ms: from_ms, end_ms: to_ms }
}

/** The UTC day YYYY-MM-DD: always 96 quarters of an hour, and parts of two delivery days. */
export function utcDay(date: string): PeriodSpan {
  const start_ms = Date.parse(`${date}T00:00:00Z`)
  return { start_ms, end_ms: start_ms + day_ms }
}

/** The delivery days that share time with a span, ascending. */
export function deliveryDates({ start_ms, end_ms }: PeriodSpan, timezone: string): string[] {
  const dates: string[] = []
  for (let at = start_ms; at < end_ms; at = deliveryDay(dates.at(-1)!, timezone).end_ms) {
    dates.push(localDate(at, timezone))
  }
  return dates
}

/** A curve that contradicts itself. */
export class CurveFault extends Error {}

interface Curve extends PeriodSpan {
  resolution_ms: number
  /** Positions count from 1, in any order. */
  points: readonly { position: number; price_micro: number }[]
  /** A point holds until the next, the last to the end: IEC 62325 curve type A03. Else A01. */
  holds: boolean
}

/**
 * The periods of a curve, ascending. Of one that holds, points that repeat the one before are
 * absent and come back; what lies before its first point stays a hole.
 *
 * @throws CurveFault for a point outside of the curve, two at one position, or a broken length
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
 * One price for each instant out of several series of an auction. A finer period stands before a
 * coarser one: of an hour of which some quarters are known, the others stay unknown, since the
 * price of the hour is the mean of its quarters and not theirs.
 *
 * @throws CurveFault where equal periods have two prices, or periods overlap askew
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

/** Those of `periods` that share no time with any of `others`; both ascending. */
function withoutOverlap(periods: readonly PricePeriod[], others: readonly PeriodSpan[]) {
  let next = 0
  return periods.filter((period) => {
    while (next < others.length && others[next]!.end_ms <= period.start_ms) next += 1
    return next === others.length || !overlap(period, others[next]!)
  })
}

/** Those that share time with a span, whole. */
function periodsWithin<Period extends PeriodSpan>(
  periods: readonly Period[],
  span: PeriodSpan,
): Period[] {
  return periods.filter((period) => overlap(period, span))
}

/** The parts of a span that no period covers, ascending; `periods` ascending. */
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

/** How long the shortest period is; `usual` without any, and where it is not of these. */
export function resolutionOf(periods: readonly PeriodSpan[], usual: Resolution): Resolution {
  const shortest = Math.min(...periods.map(lengthOf)) / minute_ms
  return ([15, 30, 60] as const).find((minutes) => minutes === shortest) ?? usual
}

export interface Slot extends PeriodSpan {
  /** null: not known. */
  price_micro: number | null
}

/**
 * The periods of a span without a gap: those that are known, and between them periods of the
 * resolution without a price. Their number is how many are expected.
 */
export function slotsOf(
  periods: readonly PricePeriod[],
  span: PeriodSpan,
  resolution_minutes: Resolution,
): Slot[] {
  const step_ms = resolution_minutes * minute_ms
  const unknown = holesIn(periods, span).flatMap((hole) => {
    const slots: Slot[] = []
    for (let start_ms = hole.start_ms; start_ms < hole.end_ms; ) {
      // Aligned, so that a hole that begins askew leads back to the grid.
      const end_ms = Math.min(hole.end_ms, (Math.floor(start_ms / step_ms) + 1) * step_ms)
      slots.push({ start_ms, end_ms, price_micro: null })
      start_ms = end_ms
    }
    return slots
  })
  return [...periodsWithin(periods, span), ...unknown].sort(byStart)
}
