/** Minimum number of other values for a median. */
const others_min = 3

/**
 * Writes the median of all other known values of each value into `medians` (same length); NaN for
 * unknown values (NaN) and with fewer than three others.
 */
export function mediansOfOthers(values: Float64Array, medians: Float64Array): void {
  // Insertion sort within `medians`: groups are small.
  let known = 0
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as number
    if (Number.isNaN(value)) continue
    let place = known
    for (; place > 0 && (medians[place - 1] as number) > value; place -= 1) {
      medians[place] = medians[place - 1] as number
    }
    medians[place] = value
    known += 1
  }
  if (known <= others_min) {
    medians.fill(Number.NaN)
    return
  }
  // Removing the value itself moves all higher values down by one.
  const count = known - 1
  const middle = count >> 1
  const below = medians[middle - 1] as number
  const at_middle = medians[middle] as number
  const above = medians[middle + 1] as number
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as number
    const upper = at_middle < value ? at_middle : above
    const lower = below < value ? below : at_middle
    const is_known = !Number.isNaN(value)
    medians[at] = is_known ? (count % 2 === 1 ? upper : (lower + upper) / 2) : Number.NaN
  }
}
