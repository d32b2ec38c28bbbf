/**
 * How good forecasts are. Columns of a score are as long as each other, else a RangeError is
 * thrown. Rows with NaN are left out; null where no row is left.
 */

/**
 * Mean pinball loss of one quantile, in the unit of the forecast: R. Koenker and G. Bassett,
 * "Regression quantiles", Econometrica 46(1), 1978. Below is better.
 */
export function pinballLoss(
  actual: Float64Array,
  predicted: Float64Array,
  level: number,
): number | null {
  return meanOver(actual, predicted, (value, quantile) =>
    value >= quantile ? level * (value - quantile) : (1 - level) * (quantile - value),
  )
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

/**
 * Continuous ranked probability score, in the unit of the forecast: twice the integral of the
 * pinball loss over all levels (T. Gneiting and R. Ranjan, Journal of Business & Economic
 * Statistics 29(3), 2011), each level standing for the levels next to it. `levels` ascend.
 */
export function crpsOfQuantiles(
  actual: Float64Array,
  quantiles: readonly Float64Array[],
  levels: readonly number[],
): number | null {
  let sum: number | null = levels.length === 0 ? null : 0
  levels.forEach((level, i) => {
    const loss = pinballLoss(actual, columnOf(quantiles, i), level)
    const from = i === 0 ? 0 : (levels[i - 1]! + level) / 2
    const to = i === levels.length - 1 ? 1 : (level + levels[i + 1]!) / 2
    sum = sum === null || loss === null ? null : sum + 2 * loss * (to - from)
  })
  return sum
}

/** Share of the rows, 0 to 1, that lie within their intervals, the bounds included. */
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

/** Mean absolute error, in the unit of the forecast. */
export function meanAbsoluteError(actual: Float64Array, predicted: Float64Array): number | null {
  return meanOver(actual, predicted, (value, forecast) => Math.abs(forecast - value))
}

/** Mean absolute error in percent of what is possible at most: the rated power, say. */
export function normalisedError(
  actual: Float64Array,
  predicted: Float64Array,
  most: number,
): number | null {
  const error = meanAbsoluteError(actual, predicted)
  return error === null || most <= 0 ? null : (100 * error) / most
}

/** Root of the mean squared error, in the unit of the forecast. */
export function rootMeanSquareError(actual: Float64Array, predicted: Float64Array): number | null {
  const squared = meanOver(actual, predicted, (value, forecast) => (forecast - value) ** 2)
  return squared === null ? null : Math.sqrt(squared)
}

/** Mean of forecast less actual, in the unit of the forecast: above 0 promises too much. */
export function bias(actual: Float64Array, predicted: Float64Array): number | null {
  return meanOver(actual, predicted, (value, forecast) => forecast - value)
}

/**
 * How much of a reference's error a forecast does without, 1 all of it, below 0 worse than the
 * reference; null where either is unknown or the reference makes no error.
 */
export function skill(score: number | null, reference: number | null): number | null {
  return score === null || reference === null || reference <= 0 ? null : 1 - score / reference
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
