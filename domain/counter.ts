/** Energy counters of devices: registers that only rise, until they overflow or are reset. */

/** Over its rating an inverter delivers some per cent for a while; and a counter moves in steps. */
const overload_ratio = 1.1
const step_kwh = 1
/** Registers count in powers of ten of a watt-hour; none counts in more than a megawatt-hour. */
const steps_kwh: readonly number[] = [1000, 100, 10, 1, 0.1, 0.01, 0.001]
/** Of a register that is a float of 32 bits. */
const float_step_ratio = 2 ** -23

/**
 * Where a counter overflows, kWh: registers of 32 bits, or of 31 where the sign is not used, that
 * count watt-hours times 10^-3 to 10^3.
 */
const overflows_kwh: readonly number[] = [-3, -2, -1, 0, 1, 2, 3].flatMap((exponent) =>
  [2 ** 31, 2 ** 32].map((count) => (count * 10 ** exponent) / 1000),
)

/**
 * The step of a counter, kWh, as far as a value of it shows: the largest power of ten that divides
 * the value. The step of a register that counts in powers of ten is never more than that. The value
 * 0 shows no step and gives 1 kWh.
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
 * What an energy counter rose by, kWh, 0 or more, between two of its readings `elapsed_s` apart.
 *
 * A rise counts if the device, of `rated_kw`, could have delivered it in that time, or if it is one
 * step of a coarse counter. A fall is an
 * overflow if exactly one of the usual register widths explains it by a rise that the device could
 * have delivered. All else is `null`: a reset, a replaced device, a reading that cannot be true.
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
