/** What the energy counter of a device says of one hour. */
import { counterIncrease } from '@heliograph/domain/counter'
import { reach_ms } from '@heliograph/domain/reach'
import type { Span } from '../diagnostics/energy.ts'

export interface CounterReading {
  time_ms: number
  energy_total_kwh: number
}

/**
 * Two readings on either side of a bound between hours belong together up to this far apart: both
 * hours see both of them, and share the rise by time. What lies further apart is a gap.
 */
export const counter_near_ms = reach_ms

export interface CounterHour {
  /** Null when it says nothing, or stops saying what is true (a reset). */
  energy_kwh: number | null
  /** The parts of the span of which it says nothing, ascending. */
  open: Span[]
  /** Its first and last reading in the span; null where it was not read. */
  first: CounterReading | null
  last: CounterReading | null
}

/**
 * Energy within a span by the rises between readings that lie in it, or near each other across a
 * bound of it: of these the share of the time. `readings` ascend and reach `counter_near_ms` beyond
 * both bounds. Over spans that follow one another the energies and the gaps between them
 * (`isCounterGap`) add up to the rise of the counter.
 */
export function counterHour(
  readings: readonly CounterReading[],
  span: Span,
  rated_kw: number,
): CounterHour {
  const inside = readings.filter(({ time_ms }) => time_ms >= span.start_ms && time_ms < span.end_ms)
  const ends = { first: inside[0] ?? null, last: inside.at(-1) ?? null }
  const open: Span[] = []
  let energy_kwh: number | null = null
  let told_ms = span.start_ms
  for (let nth = 1; nth < readings.length; nth += 1) {
    const before = readings[nth - 1]!
    const after = readings[nth]!
    const start_ms = Math.max(before.time_ms, span.start_ms)
    const end_ms = Math.min(after.time_ms, span.end_ms)
    const crosses = before.time_ms < span.start_ms || after.time_ms > span.end_ms
    const elapsed_ms = after.time_ms - before.time_ms
    if (start_ms >= end_ms || (crosses && elapsed_ms > counter_near_ms)) continue
    const rise_kwh = riseBetween(before, after, rated_kw)
    if (rise_kwh === null) return { energy_kwh: null, open: [span], ...ends }
    energy_kwh = (energy_kwh ?? 0) + (rise_kwh * (end_ms - start_ms)) / elapsed_ms
    if (start_ms > told_ms) open.push({ start_ms: told_ms, end_ms: start_ms })
    told_ms = end_ms
  }
  if (told_ms < span.end_ms) open.push({ start_ms: told_ms, end_ms: span.end_ms })
  return { energy_kwh, open, ...ends }
}

/** Whether no hour counts the rise from the last reading of one hour to the next one. */
export function isCounterGap(before: CounterReading, after: CounterReading, hour: Span): boolean {
  return after.time_ms > hour.end_ms && after.time_ms - before.time_ms > counter_near_ms
}

export const riseBetween = (
  before: CounterReading,
  after: CounterReading,
  rated_kw: number,
): number | null =>
  counterIncrease(before.energy_total_kwh, after.energy_total_kwh, {
    elapsed_s: (after.time_ms - before.time_ms) / 1000,
    rated_kw,
  })
