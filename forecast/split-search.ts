import { type BinnedTable, value_bins_max } from './histogram-bins.ts'

/** Two numbers per bin: sum and count of its rows. */
const stride = 2 * (value_bins_max + 1)

/** Sums depend on the order of addition by rounding: a smaller relative gain is none. */
const gain_min = 1e-9

/** Sums and counts of the rows of a node, by bin, for some columns one after the other. */
export type Histogram = Float64Array

export function createHistogram(columns: number): Histogram {
  return new Float64Array(columns * stride)
}

export interface Split {
  column: number
  /** Last bin of the first child. */
  bin: number
  /** Reduction of the squared error of the node. */
  gain: number
}

/** Overwrites a histogram with the values of some rows. */
export function fillHistogram(
  histogram: Histogram,
  table: BinnedTable,
  columns: Int32Array,
  rows: Int32Array,
  values: Float64Array,
): void {
  histogram.fill(0)
  for (let slot = 0; slot < columns.length; slot++) {
    const bins = table.columns[columns[slot]!]!
    const offset = slot * stride
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      const at = offset + 2 * bins[row]!
      histogram[at]! += values[row]!
      histogram[at + 1]! += 1
    }
  }
}

/** Subtracts the histogram of one child from that of its parent, which gives the other child. */
export function subtractHistogram(parent: Histogram, child: Histogram): void {
  for (let i = 0; i < parent.length; i++) parent[i]! -= child[i]!
}

/**
 * The split of a node with the largest reduction of squared error and at least `min_leaf` rows on
 * each side; null if there is none.
 */
export function bestSplit(
  histogram: Histogram,
  table: BinnedTable,
  columns: Int32Array,
  min_leaf: number,
): Split | null {
  const { sum, count } = total(histogram, table.bin_counts[columns[0]!]!)
  const whole = (sum * sum) / count
  let most = whole + gain_min * (whole + gain_min)
  let column = -1
  let bin = -1
  for (let slot = 0; slot < columns.length; slot++) {
    const offset = slot * stride
    const last = table.bin_counts[columns[slot]!]! - 1
    let first_sum = 0
    let first_count = 0
    for (let i = 0; i < last; i++) {
      const bin_count = histogram[offset + 2 * i + 1]!
      if (bin_count === 0) continue
      first_sum += histogram[offset + 2 * i]!
      first_count += bin_count
      if (first_count < min_leaf) continue
      const second_count = count - first_count
      if (second_count < min_leaf) break
      const second_sum = sum - first_sum
      const explained =
        (first_sum * first_sum) / first_count + (second_sum * second_sum) / second_count
      if (explained > most) {
        most = explained
        column = columns[slot]!
        bin = i
      }
    }
  }
  return column < 0 ? null : { column, bin, gain: most - whole }
}

function total(histogram: Histogram, bins: number): { sum: number; count: number } {
  let sum = 0
  let count = 0
  for (let i = 0; i < bins; i++) {
    sum += histogram[2 * i]!
    count += histogram[2 * i + 1]!
  }
  return { sum, count }
}

/**
 * Moves the rows of the first child before those of the second, keeping their order, and returns
 * the start of the second. `spare` has room for as many rows.
 */
export function partitionRows(
  rows: Int32Array,
  spare: Int32Array,
  bins: Uint8Array,
  split: number,
): number {
  let first = 0
  let second = 0
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    if (bins[row]! <= split) rows[first++] = row
    else spare[second++] = row
  }
  rows.set(spare.subarray(0, second), first)
  return first
}

/** Counts for the bins of one column, all zero between uses. */
export interface BinTally {
  sums: Float64Array
  counts: Uint32Array
  /** A bit for each bin with rows. */
  occupied: Uint32Array
}

export function createBinTally(): BinTally {
  const bins = value_bins_max + 1
  return {
    sums: new Float64Array(bins),
    counts: new Uint32Array(bins),
    occupied: new Uint32Array(bins / 32),
  }
}

/**
 * As `bestSplit`, for a node whose histogram is not needed afterwards: only visits bins with rows,
 * which is faster for the many small nodes of a deep tree.
 */
export function bestSplitOfRows(
  tally: BinTally,
  table: BinnedTable,
  columns: Int32Array,
  rows: Int32Array,
  values: Float64Array,
  min_leaf: number,
): Split | null {
  let sum = 0
  for (let i = 0; i < rows.length; i++) sum += values[rows[i]!]!
  const whole = (sum * sum) / rows.length
  let best: Split | null = null
  let most = whole + gain_min * (whole + gain_min)
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!
    countBins(tally, table.columns[column]!, rows, values)
    const found = bestBin(tally, sum, rows.length, min_leaf, most)
    if (found === null) continue
    most = found.explained
    best = { column, bin: found.bin, gain: most - whole }
  }
  return best
}

function countBins(tally: BinTally, bins: Uint8Array, rows: Int32Array, values: Float64Array) {
  const { sums, counts, occupied } = tally
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    const bin = bins[row]!
    sums[bin]! += values[row]!
    counts[bin]! += 1
    occupied[bin >> 5]! |= 1 << (bin & 31)
  }
}

/** The last bin of the best first child with a gain above `most`; clears the tally. */
function bestBin(tally: BinTally, sum: number, count: number, min_leaf: number, most: number) {
  const { sums, counts, occupied } = tally
  let bin = -1
  let first_sum = 0
  let first_count = 0
  for (let word = 0; word < occupied.length; word++) {
    for (let bits = occupied[word]!; bits !== 0; bits &= bits - 1) {
      const at = word * 32 + 31 - Math.clz32(bits & -bits)
      first_sum += sums[at]!
      first_count += counts[at]!
      sums[at] = 0
      counts[at] = 0
      const second_count = count - first_count
      if (first_count < min_leaf || second_count < min_leaf) continue
      const second_sum = sum - first_sum
      const explained =
        (first_sum * first_sum) / first_count + (second_sum * second_sum) / second_count
      if (explained > most) {
        most = explained
        bin = at
      }
    }
    occupied[word] = 0
  }
  return bin < 0 ? null : { bin, explained: most }
}
