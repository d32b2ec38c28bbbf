/** Fewer say nothing of a peer. */
const others_min = 3

/**
 * For each value the median of all others that are known, into `medians`, as long as they; not a
 * number for one that is not known (NaN), or with fewer than three others.
 */
export function mediansOfOthers(values: Float64Array, medians: Float64Array): void {
  // Sorted by insertion, and in `medians` itself: a group is small, and few moments are alike.
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
  // Without the value itself all that is not below it moves down by one.
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
