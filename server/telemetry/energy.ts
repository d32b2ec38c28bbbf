/** Half open, [start_ms, end_ms), Unix ms. */
export interface Span {
  start_ms: number
  end_ms: number
}

/** The part of the time between two neighbouring samples that lies in the span. */
export interface Interval extends Span {
  /** Index of the sample at or before `start_ms`. */
  from: number
  /** Index of the sample at or after `end_ms`, `from + 1`. */
  to: number
}

export interface IntervalOptions {
  /** Configured sampling interval; needed only above 300 s. */
  nominal_step_s?: number
}

export interface PowerSample {
  time_ms: number
  power_kw: number | null
}

interface Energy {
  energy_kwh: number | null
  /** Seconds of the span that the energy covers. */
  covered_s: number
}

/** Steps on either side of an interval that define its nominal step. */
const steps_aside = 5
const nominal_step_max_s = 300

/**
 * The intervals between neighbouring samples, clipped to the span. Gaps, longer than twice the
 * nominal step, are left out. Adjacent spans with the same samples add up exactly.
 *
 * The nominal step is the lower median of the 11 nearby steps, so that a series may change its
 * rate, and at most 300 s or the configured step, since long steps alone prove no rate. (rdtools'
 * `energy_from_power` uses the median of the whole series.)
 *
 * @param times_ms ascending; equal times cover nothing
 * @throws RangeError if times descend
 */
export function intervals(
  times_ms: readonly number[],
  span: Span,
  options: IntervalOptions = {},
): Interval[] {
  const nominal_max_ms = Math.max(options.nominal_step_s ?? 0, nominal_step_max_s) * 1000
  const steps_ms = stepsOf(times_ms)
  const covered: Interval[] = []
  for (const [from, step_ms] of steps_ms.entries()) {
    const start_ms = Math.max(times_ms[from] as number, span.start_ms)
    const end_ms = Math.min(times_ms[from + 1] as number, span.end_ms)
    if (start_ms >= end_ms || step_ms > 2 * nominal_max_ms || isLongForHere(steps_ms, from)) {
      continue
    }
    covered.push({ from, to: from + 1, start_ms, end_ms })
  }
  return covered
}

/**
 * Energy of a span from power samples, by the trapezoidal rule over `intervals`. An interval with a
 * null at either end is not covered. Negative power, such as consumption at night, is negative
 * energy. Pass the samples beyond both bounds too, for the intervals that cross them. Null, not 0,
 * if nothing is covered.
 */
export function integratePower(
  samples: readonly PowerSample[],
  span: Span,
  options: IntervalOptions = {},
): Energy {
  const times_ms = samples.map(({ time_ms }) => time_ms)
  let energy_kwms = 0
  let covered_ms = 0
  for (const { from, to, start_ms, end_ms } of intervals(times_ms, span, options)) {
    const before = samples[from] as PowerSample
    const after = samples[to] as PowerSample
    if (!isMeasured(before.power_kw) || !isMeasured(after.power_kw)) continue
    const slope = (after.power_kw - before.power_kw) / (after.time_ms - before.time_ms)
    const middle_ms = (start_ms + end_ms) / 2
    energy_kwms += (before.power_kw + slope * (middle_ms - before.time_ms)) * (end_ms - start_ms)
    covered_ms += end_ms - start_ms
  }
  return {
    energy_kwh: covered_ms === 0 ? null : energy_kwms / 3_600_000,
    covered_s: covered_ms / 1000,
  }
}

function stepsOf(times_ms: readonly number[]): number[] {
  const steps_ms: number[] = []
  for (let index = 1; index < times_ms.length; index++) {
    const step_ms = (times_ms[index] as number) - (times_ms[index - 1] as number)
    if (!(step_ms >= 0)) throw new RangeError(`times_ms[${index}] is before the one it follows`)
    steps_ms.push(step_ms)
  }
  return steps_ms
}

/** Longer than twice the lower median of the nearby steps. */
function isLongForHere(steps_ms: readonly number[], index: number): boolean {
  const step_ms = steps_ms[index] as number
  const last = Math.min(index + steps_aside, steps_ms.length - 1)
  let shorter = 0
  let counted = 0
  for (let near = Math.max(0, index - steps_aside); near <= last; near++) {
    const near_ms = steps_ms[near] as number
    if (near_ms === 0) continue
    counted++
    if (2 * near_ms < step_ms) shorter++
  }
  return 2 * shorter >= counted
}

function isMeasured(power_kw: number | null): power_kw is number {
  return power_kw !== null && Number.isFinite(power_kw)
}
