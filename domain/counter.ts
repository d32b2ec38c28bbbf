/** Inverters may exceed rated power by some percent for a while, and counters have steps. */
const overload_ratio = 1.1
const step_kwh = 1
/** Registers count in powers of ten of a watt-hour, at most a megawatt-hour. */
const steps_kwh: readonly number[] = [1000, 100, 10, 1, 0.1, 0.01, 0.001]
/** Relative step of a 32-bit float register. */
const float_step_ratio = 2 ** -23

/**
 * Where a counter overflows, kWh: registers of 32 bits, or of 31 where the sign is not used, that
 * count watt-hours times 10^-3 to 10^3.
 */
const overflows_kwh: readonly number[] = [-3, -2, -1, 0, 1, 2, 3].flatMap((exponent) =>
  [2 ** 31, 2 ** 32].map((count) => (count * 10 ** exponent) / 1000),
)

/**
 * Upper bound of the step of a counter, kWh: the largest power of ten that divides the value. The
 * value 0 gives 1 kWh.
 */
export function counterStep(value_kwh: number): number {
  if (value_kwh === 0) return step_kwh
  const isMultiple = (step: number) => {
    const steps = value_kwh / step
    return steps > 0.5 && Math.abs(steps - Math.round(steps)) < 1e-6
  }
  const shown_kwh = steps_kwh.find(isMultiple) ?? 0
  return Math.max(shown_kwh, value_kwh * float_step_ratio)
}

/**
 * Increase of an energy counter between two readings `elapsed_s` apart, kWh, 0 or more.
 *
 * A rise is valid if a device of `rated_kw` could have delivered it in that time, or if it is one
 * step of a coarse counter. A fall is an overflow if exactly one usual register width explains it
 * by a valid rise. Otherwise `null`: a reset, a replaced device, or an implausible reading.
 */
export function counterIncrease(
  before_kwh: number,
  after_kwh: number,
  { elapsed_s, rated_kw }: { elapsed_s: number; rated_kw: number },
): number | null {
  const delivered_kwh = (rated_kw * overload_ratio * elapsed_s) / 3600 + step_kwh
  const coarse_kwh = Math.min(counterStep(before_kwh), counterStep(after_kwh))
  const most_kwh = Math.max(delivered_kwh, coarse_kwh)
  const isPlausible = (rise_kwh: number) => rise_kwh >= 0 && rise_kwh <= most_kwh
  if (!(before_kwh >= 0 && after_kwh >= 0 && elapsed_s >= 0)) return null
  if (after_kwh >= before_kwh) {
    const rise_kwh = after_kwh - before_kwh
    return isPlausible(rise_kwh) ? rise_kwh : null
  }
  const explained = overflows_kwh
    .filter((overflow_kwh) => before_kwh < overflow_kwh)
    .map((overflow_kwh) => overflow_kwh - before_kwh + after_kwh)
    .filter(isPlausible)
  return explained.length === 1 ? explained[0]! : null
}
