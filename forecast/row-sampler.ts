/** Which rows and columns a tree is grown on. Positions come ascending: memory is read in order. */

/** Each row with the same chance and at most once; about `share` of them, at least one. */
export function drawShare(rows: number, share: number, random: () => number): Int32Array {
  const wanted = Math.max(1, Math.round(rows * share))
  const drawn = new Int32Array(wanted)
  if (wanted >= rows) return drawn.map((_, row) => row)
  // Selection sampling: D. E. Knuth, "The Art of Computer Programming" 2, algorithm 3.4.2 S.
  for (let row = 0, taken = 0; taken < wanted; row++) {
    if ((rows - row) * random() < wanted - taken) {
      drawn[taken] = row
      taken += 1
    }
  }
  return drawn
}

/**
 * `count` draws with replacement, each row as often as its weight says; equally without weights.
 */
export function drawWeighted(
  rows: number,
  count: number,
  weights: Float64Array | undefined,
  random: () => number,
): Int32Array {
  const drawn = new Int32Array(count)
  if (weights === undefined) {
    for (let i = 0; i < count; i++) drawn[i] = Math.floor(random() * rows)
    return drawn.sort()
  }
  let sum = 0
  const sums = weights.map((weight) => {
    sum += weight
    return sum
  })
  for (let i = 0; i < count; i++) drawn[i] = firstAbove(sums, random() * sum)
  return drawn.sort()
}

function firstAbove(ascending: Float64Array, value: number): number {
  let low = 0
  let high = ascending.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! > value) high = middle
    else low = middle + 1
  }
  return low
}

/** Throws a RangeError unless there is a finite weight, none below 0, for each row. */
export function requireWeights(weights: Float64Array | undefined, rows: number): void {
  if (weights === undefined) return
  if (weights.length !== rows) {
    throw new RangeError(`weights has ${weights.length} elements, not ${rows}`)
  }
  let sum = 0
  for (const weight of weights) {
    if (!(weight >= 0)) throw new RangeError(`weights: ${weight} is below 0 or no number`)
    sum += weight
  }
  if (!(sum > 0 && sum < Infinity)) throw new RangeError(`weights: their sum is ${sum}`)
}
