/**
 * The first index below `length` from which on all satisfy a condition, by bisection; `length`
 * without any.
 */
export function firstIndex(length: number, isReached: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isReached(middle)) high = middle
    else low = middle + 1
  }
  return low
}
