/** An interval for each row: between its bounds lies what is forecast. */
export interface Intervals {
  lower: Float64Array
  upper: Float64Array
}

/**
 * By how much intervals have to grow at both ends, as a share of their width, so that `level` of
 * the rows lie in them; below 0 where they are too wide, never below -0.5. Conformalized quantile
 * regression: Y. Romano, E. Patterson and E. J. Candès, NeurIPS 2019, equations 7 and 8, with
 * errors in proportion to the width (CQR-r of M. Sesia and E. J. Candès, Stat 9(1), 2020), so that
 * a sure forecast stays sharp beside an unsure one. The rows must not have been trained on; those
 * with NaN are left out. Widths count as `width_min` at least, in the unit of the forecast.
 * A level above what the number of rows can vouch for gives the largest share seen.
 * Throws a RangeError for columns of different lengths, and where no row is left.
 */
export function calibrateIntervals(
  lower: Float64Array,
  upper: Float64Array,
  actual: Float64Array,
  level: number,
  width_min = 1e-6,
): number {
  if (lower.length !== actual.length || upper.length !== actual.length) {
    throw new RangeError(`${lower.length}, ${upper.length} bounds for ${actual.length} rows`)
  }
  const outside = actual
    .map((value, row) => {
      const width = Math.max(upper[row]! - lower[row]!, width_min)
      return Math.max(lower[row]! - value, value - upper[row]!) / width
    })
    .filter((share) => !Number.isNaN(share))
    .sort()
  if (outside.length === 0) throw new RangeError('actual: no row to calibrate with')
  const position = Math.ceil((outside.length + 1) * level) - 1
  return outside[Math.min(outside.length - 1, Math.max(0, position))]!
}

/** Intervals grown by a share of their width at both ends, as `calibrateIntervals` found it. */
export function growIntervals(
  { lower, upper }: Intervals,
  share: number,
  width_min = 1e-6,
): Intervals {
  const growth = lower.map((low, row) => share * Math.max(upper[row]! - low, width_min))
  const middle = lower.map((low, row) => (low + upper[row]!) / 2)
  return {
    lower: lower.map((low, row) => Math.min(low - growth[row]!, middle[row]!)),
    upper: upper.map((high, row) => Math.max(high + growth[row]!, middle[row]!)),
  }
}

/**
 * The level to calibrate with next, so that `wanted` of all rows are covered in the long run
 * whatever the world does: I. Gibbs and E. J. Candès, "Adaptive conformal inference under
 * distribution shift", NeurIPS 2021, equation 2. `covered_share` is the share of the last rows that
 * lay in their intervals (0 or 1 for one row), `step` how fast to follow, about 0.01 for each row.
 * The level may leave 0 to 1 for a while: holding it there would break the promise.
 */
export function adaptiveLevel(
  level: number,
  wanted: number,
  covered_share: number,
  step: number,
): number {
  return level + step * (wanted - covered_share)
}
