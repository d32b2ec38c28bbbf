/** Energy counters of devices: registers that only rise, until they overflow or are reset. */

/** Over its rating an inverter delivers some per cent for a while; and a counter moves in steps. */
const overload_ratio = 1.1
const step_kwh = 1

/**
 * Where a counter overflows, kWh: registers of 32 bits, or of 31 where the sign is not used, that
 * count watt-hours times 10^-3 to 10^3.
 */
const overflows_kwh: readonly number[] = [-3, -2, -1, 0, 1, 2, 3].flatMap((exponent) =>
  [2 ** 31, 2 ** 32].map((count) => (count * 10 ** exponent) / 1000),
)

/**
 * What an energy counter rose by, kWh, 0 or more, between two of its readings `elapsed_s` apart.
 *
 * A rise counts if the device, of `rated_kw`, could have delivered it in that time. A fall is an
 * overflow if exactly one of the usual register widths explains it by a rise that the device could
 * have delivered. All else is `null`: a reset, a replaced device, a reading that cannot be true.
 */
export function counterIncrease(
  before_kwh: number,
  after_kwh: number,
  { elapsed_s, rated_kw }: { elapsed_s: number; rated_kw: number },
): number | null {
  const most_kwh = (rated_kw * overload_ratio * elapsed_s) / 3600 + step_kwh
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
