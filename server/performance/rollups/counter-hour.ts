/** What the energy counter of a device says of one hour. */
import { counterIncrease, counterStep } from '@heliograph/domain/counter'
import { reach_ms } from '@heliograph/domain/reach'
import type { Span } from '../../telemetry/energy.ts'

export interface CounterReading {
  time_ms: number
  energy_total_kwh: number
}

/** A reading of the counter, and what the power said meanwhile. */
interface CounterSample extends CounterReading {
  /** Energy by the power measured since the first of the samples, kWh. */
  by_power_kwh: number
}

/**
 * A counter stands still while the power measured amounts to more than this many of its steps and
 * this part of the rated energy together. A coarse counter moves when it is one step behind. Below
 * 1 % of its rating an inverter may measure power that its counter does not count.
 */
const still_steps = 1.25
const still_rated_ratio = 0.01
/** A counter whose next rise is this part of the energy by power was late. */
const caught_up_ratio = 0.5

/**
 * Two readings on either side of a bound between hours belong together up to this far apart: both
 * hours see both of them, and share the rise by time. What lies further apart is a gap.
 */
const counter_near_ms = reach_ms

interface CounterHour {
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
 * (`isCounterGap`) add up to the rise of the counter. Of time in which it stood still while power
 * was measured it says nothing.
 */
export function counterHour(
  readings: readonly CounterSample[],
  span: Span,
  rated_kw: number,
): CounterHour {
  const still = standingStill(readings, rated_kw)
  const inside = readings.filter(({ time_ms }) => time_ms >= span.start_ms && time_ms < span.end_ms)
  // A gap lies between two readings of a counter that moves.
  const moving = inside.filter((reading) => !still.has(reading))
  const ends = { first: readingOf(moving[0]), last: readingOf(moving.at(-1)) }
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
    const is_same = after.energy_total_kwh === before.energy_total_kwh
    if (is_same && still.has(before) && still.has(after)) continue
    const rise_kwh = riseBetween(before, after, rated_kw)
    if (rise_kwh === null) return { energy_kwh: null, open: [span], ...ends }
    energy_kwh = (energy_kwh ?? 0) + (rise_kwh * (end_ms - start_ms)) / elapsed_ms
    if (start_ms > told_ms) open.push({ start_ms: told_ms, end_ms: start_ms })
    told_ms = end_ms
  }
  if (told_ms < span.end_ms) open.push({ start_ms: told_ms, end_ms: span.end_ms })
  return { energy_kwh, open, ...ends }
}

const readingOf = (sample: CounterSample | undefined): CounterReading | null =>
  sample ? { time_ms: sample.time_ms, energy_total_kwh: sample.energy_total_kwh } : null

/** The readings between which the counter stood still while power was measured. */
function standingStill(readings: readonly CounterSample[], rated_kw: number): Set<CounterSample> {
  const still = new Set<CounterSample>()
  let from = 0
  for (let to = 1; to <= readings.length; to += 1) {
    const first = readings[from]!
    if (readings[to]?.energy_total_kwh === first.energy_total_kwh) continue
    // The rise that ends it shows whether the counter was merely late.
    const last = readings[to] ?? readings[to - 1]!
    const meanwhile = {
      // No hour counts a rise that is not plausible.
      rise_kwh: riseBetween(readings[to - 1]!, last, rated_kw) ?? 0,
      by_power_kwh: last.by_power_kwh - first.by_power_kwh,
      measured_s: (last.time_ms - first.time_ms) / 1000,
    }
    if (to - from > 1 && stoodStill(first.energy_total_kwh, meanwhile, rated_kw)) {
      for (const reading of readings.slice(from, to)) still.add(reading)
    }
    from = to
  }
  return still
}

/** Whether a counter of this value stood still, by its rise and the power measured meanwhile. */
export function stoodStill(
  energy_total_kwh: number,
  {
    rise_kwh,
    by_power_kwh,
    measured_s,
  }: { rise_kwh: number; by_power_kwh: number; measured_s: number },
  rated_kw: number,
): boolean {
  const allowed_kwh =
    still_steps * counterStep(energy_total_kwh) + (still_rated_ratio * rated_kw * measured_s) / 3600
  return by_power_kwh > allowed_kwh && rise_kwh < caught_up_ratio * by_power_kwh
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
