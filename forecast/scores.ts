/**
 * Scores of forecasts. Columns of different lengths throw a RangeError. Rows with NaN are left out;
 * null if no row is left.
 */

/**
 * Pinball loss of a quantile, in the unit of the forecast, 0 at best: R. Koenker and G. Bassett,
 * "Regression quantiles", Econometrica 46(1), 1978.
 */
export function pinball(actual: number, quantile: number, level: number): number {
  return actual >= quantile ? level * (actual - quantile) : (1 - level) * (quantile - actual)
}

/** Mean pinball loss of one quantile. */
export function pinballLoss(
  actual: Float64Array,
  predicted: Float64Array,
  level: number,
): number | null {
  return meanOver(actual, predicted, (value, quantile) => pinball(value, quantile, level))
}

/** Mean of the pinball losses of several quantiles, a column for each level. */
export function meanPinballLoss(
  actual: Float64Array,
  quantiles: readonly Float64Array[],
  levels: readonly number[],
): number | null {
  const losses = levels.map((level, i) => pinballLoss(actual, columnOf(quantiles, i), level))
  return losses.length === 0 || losses.includes(null) ? null : mean(losses as number[])
}

/** Share of the rows, 0 to 1, within their intervals, bounds included. */
export function coverage(
  actual: Float64Array,
  lower: Float64Array,
  upper: Float64Array,
): number | null {
  requireSameLength(actual, lower)
  requireSameLength(actual, upper)
  let inside = 0
  let rows = 0
  for (let row = 0; row < actual.length; row++) {
    const [value, low, high] = [actual[row]!, lower[row]!, upper[row]!]
    if (Number.isNaN(value + low + high)) continue
    rows += 1
    if (value >= low && value <= high) inside += 1
  }
  return rows === 0 ? null : inside / rows
}

export function meanAbsoluteError(actual: Float64Array, predicted: Float64Array): number | null {
  return meanOver(actual, predicted, (value, forecast) => Math.abs(forecast - value))
}

function meanOver(
  actual: Float64Array,
  predicted: Float64Array,
  loss: (value: number, forecast: number) => number,
): number | null {
  requireSameLength(actual, predicted)
  let sum = 0
  let rows = 0
  for (let row = 0; row < actual.length; row++) {
    const of_row = loss(actual[row]!, predicted[row]!)
    if (Number.isNaN(of_row)) continue
    sum += of_row
    rows += 1
  }
  return rows === 0 ? null : sum / rows
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function columnOf(quantiles: readonly Float64Array[], level: number): Float64Array {
  const column = quantiles[level]
  if (column === undefined) throw new RangeError(`quantiles: no column for level ${level}`)
  return column
}

function requireSameLength(actual: Float64Array, other: Float64Array): void {
  if (actual.length !== other.length) {
    throw new RangeError(`${other.length} forecasts for ${actual.length} rows`)
  }
}
