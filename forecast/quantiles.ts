export const percentile_levels: readonly number[] = Array.from({ length: 99 }, (_, i) =>
  Number(((i + 1) / 100).toFixed(2)),
)

/**
 * The quantile at `level`, 0 to 1, of `values[start..end)`, interpolated between order statistics
 * (type 7 of R. J. Hyndman and Y. Fan, The American Statistician 50(4), 1996). Reorders the values.
 * NaN for none; values must be numbers.
 */
export function quantileInPlace(
  values: Float64Array,
  level: number,
  start = 0,
  end = values.length,
): number {
  if (end <= start) return Number.NaN
  const position = (end - start - 1) * level
  const below = start + Math.floor(position)
  const low = selectInPlace(values, below, start, end)
  const share = position - Math.floor(position)
  if (share === 0) return low
  let high = Infinity
  for (let i = below + 1; i < end; i++) if (values[i]! < high) high = values[i]!
  return low + (high - low) * share
}

/** Moves the value of rank `k` to position `k`, smaller values before it, larger after. */
function selectInPlace(values: Float64Array, k: number, start: number, end: number): number {
  let low = start
  let high = end - 1
  // Quickselect: C. A. R. Hoare, Communications of the ACM 4(7), 1961, algorithm 65.
  while (low < high) {
    const pivot = medianOfThree(values[low]!, values[(low + high) >> 1]!, values[high]!)
    let i = low
    let j = high
    while (i <= j) {
      while (values[i]! < pivot) i++
      while (values[j]! > pivot) j--
      if (i <= j) {
        const value = values[i]!
        values[i++] = values[j]!
        values[j--] = value
      }
    }
    if (k <= j) high = j
    else if (k >= i) low = i
    else break
  }
  return values[k]!
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}

export function countBelow(ascending: Float64Array, bound: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Sorts the quantiles of each row, in place: separately learnt quantiles may cross, and sorted ones
 * never score worse. V. Chernozhukov, I. Fernández-Val and A. Galichon, "Quantile and probability
 * curves without crossing", Econometrica 78(3), 2010. `quantiles` has a column for each level,
 * levels ascending.
 */
export function rearrangeQuantiles(quantiles: readonly Float64Array[]): void {
  const row = new Float64Array(quantiles.length)
  const rows = quantiles[0]?.length ?? 0
  for (let i = 0; i < rows; i++) {
    for (let level = 0; level < row.length; level++) row[level] = quantiles[level]![i]!
    row.sort()
    for (let level = 0; level < row.length; level++) quantiles[level]![i] = row[level]!
  }
}

export function clampQuantiles(
  quantiles: readonly Float64Array[],
  least: number,
  most: number,
): void {
  for (const column of quantiles) {
    for (let i = 0; i < column.length; i++) column[i] = Math.min(most, Math.max(least, column[i]!))
  }
}

/**
 * Quantiles at other levels by linear interpolation; below the lowest and above the highest level
 * the outermost quantile. Levels ascend. Throws a RangeError unless there is a column for each of
 * `from`, and at least one.
 */
export function interpolateQuantiles(
  quantiles: readonly Float64Array[],
  from: readonly number[],
  to: readonly number[],
): Float64Array[] {
  if (from.length === 0 || quantiles.length !== from.length) {
    throw new RangeError(`quantiles: ${quantiles.length} columns for ${from.length} levels`)
  }
  return to.map((level) => {
    const next = from.findIndex((known) => known >= level)
    const above = quantiles[next < 0 ? from.length - 1 : next]!
    if (next <= 0 || from[next] === level) return above.slice()
    const below = quantiles[next - 1]!
    const share = (level - from[next - 1]!) / (from[next]! - from[next - 1]!)
    return above.map((high, row) => below[row]! + (high - below[row]!) * share)
  })
}

/**
 * The mean of several quantile functions, level by level, with given or equal weights: sharper than
 * the mean of their distributions. K. C. Lichtendahl, Y. Grushka-Cockayne and R. L. Winkler, "Is it
 * better to average probabilities or quantiles?", Management Science 59(7), 2013. Throws a
 * RangeError for different counts of levels.
 */
export function blendQuantiles(
  functions: readonly (readonly Float64Array[])[],
  shares: readonly number[] = functions.map(() => 1 / functions.length),
): Float64Array[] {
  const [first = []] = functions
  for (const { length } of functions) {
    if (length !== first.length) throw new RangeError(`${length} levels, not ${first.length}`)
  }
  return first.map((column, level) =>
    column.map((_, row) =>
      functions.reduce((sum, quantiles, i) => sum + shares[i]! * quantiles[level]![row]!, 0),
    ),
  )
}
