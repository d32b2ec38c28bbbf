/** Half open, [start_ms, end_ms), Unix ms. */
export interface Span {
  start_ms: number
  end_ms: number
}

/** The part of the time between two neighbouring samples that lies in the span. */
export interface Interval extends Span {
  /** Index of the sample at or before `start_ms`; the next one is at or after `end_ms`. */
  from: number
  to: number
}

/** Steps on either side of an interval that define its nominal step. */
const steps_aside = 5
const nominal_step_ms_max = 300_000

/**
 * The intervals between neighbouring samples, clipped to the span. Gaps, longer than twice the
 * nominal step, are left out. Adjacent spans with the same samples add up exactly.
 *
 * The nominal step is the lower median of the 11 nearby steps, so that a series may change its
 * rate, and at most 300 s, since long steps alone prove no rate. (rdtools' `energy_from_power` uses
 * the median of the whole series.)
 *
 * @param times_ms ascending; equal times cover nothing
 * @throws RangeError if times descend
 */
export function intervals(times_ms: readonly number[], span: Span): Interval[] {
  const steps_ms = times_ms.slice(1).map((time_ms, index) => time_ms - times_ms[index]!)
  const back = steps_ms.findIndex((step_ms) => !(step_ms >= 0))
  if (back >= 0) throw new RangeError(`times_ms[${back + 1}] is before the one it follows`)
  const covered: Interval[] = []
  for (const [from, step_ms] of steps_ms.entries()) {
    const start_ms = Math.max(times_ms[from]!, span.start_ms)
    const end_ms = Math.min(times_ms[from + 1]!, span.end_ms)
    if (start_ms >= end_ms || step_ms > 2 * nominal_step_ms_max) continue
    if (!isLongForHere(steps_ms, from)) covered.push({ from, to: from + 1, start_ms, end_ms })
  }
  return covered
}

/** Longer than twice the lower median of the nearby steps. */
function isLongForHere(steps_ms: readonly number[], index: number): boolean {
  const last = Math.min(index + steps_aside, steps_ms.length - 1)
  let shorter = 0
  let counted = 0
  for (let near = Math.max(0, index - steps_aside); near <= last; near++) {
    const near_ms = steps_ms[near]!
    if (near_ms === 0) continue
    counted++
    if (2 * near_ms < steps_ms[index]!) shorter++
  }
  return 2 * shorter >= counted
}

/**
 * Seconds of the span that each sample represents by the trapezoidal rule. The weighted sum of
 * values is the integral of the straight lines between them; sums of consecutive spans add up.
 */
export function sampleWeights(times_ms: readonly number[], span: Span): Float64Array {
  const weights_s = new Float64Array(times_ms.length)
  for (const { from, to, start_ms, end_ms } of intervals(times_ms, span)) {
    const first_ms = times_ms[from]!
    const inside_s = (end_ms - start_ms) / 1000
    const later = ((start_ms + end_ms) / 2 - first_ms) / (times_ms[to]! - first_ms)
    weights_s[from]! += inside_s * (1 - later)
    weights_s[to]! += inside_s * later
  }
  return weights_s
}
