import { type FeatureTable, requireColumns } from './feature-table.ts'
import { countBelow } from './quantiles.ts'

/** Maximum bins of values; bin 0 holds missing values. */
export const value_bins_max = 255

export interface HistogramBins {
  names: readonly string[]
  /**
   * Ascending upper limits of the bins of each column, except of the last: bin 1 holds values up to
   * and including the first, bin 2 those up to the second. Bin 0 holds NaN.
   */
  edges: readonly Float64Array[]
}

/** A table in bins: one byte per value, column by column. */
export interface BinnedTable {
  columns: readonly Uint8Array[]
  bin_counts: Uint16Array
  rows: number
}

/**
 * Bins with about equal numbers of rows: G. Ke et al., "LightGBM", NeurIPS 2017, section 2.1. A
 * feature with fewer values than bins has one bin per value. Throws a RangeError unless 1 <=
 * `bins_max` <= 255.
 */
export function fitBins(table: FeatureTable, bins_max = value_bins_max): HistogramBins {
  if (!(bins_max >= 1 && bins_max <= value_bins_max)) {
    throw new RangeError(`bins_max is ${bins_max}, not 1 to ${value_bins_max}`)
  }
  return {
    names: table.names,
    edges: table.columns.map((column) => edgesOf(column, bins_max)),
  }
}

function edgesOf(column: Float64Array, bins_max: number): Float64Array {
  const values = column.filter((value) => !Number.isNaN(value)).sort()
  const distinct = values.filter((value, i) => value !== values[i - 1])
  const cut = distinct.length <= bins_max ? distinct : values
  const bins = Math.min(distinct.length, bins_max)
  const edges: number[] = []
  for (let bin = 1; bin < bins; bin++) {
    let above = Math.round((bin * cut.length) / bins)
    const value = cut[above - 1]!
    while (cut[above] === value) above++
    if (above === cut.length) break
    const edge = between(value, cut[above]!)
    if (edge !== edges.at(-1)) edges.push(edge)
  }
  return Float64Array.from(edges)
}

/** A number from `low` to below `high`, the middle if representable. */
function between(low: number, high: number): number {
  const middle = low / 2 + high / 2
  return middle < high ? middle : low
}

/** The bins of a table's values. Throws a RangeError unless its columns are those of `bins`. */
export function binTable(bins: HistogramBins, table: FeatureTable): BinnedTable {
  requireColumns(table, bins.names)
  return {
    columns: table.columns.map((column, i) => binColumn(column, bins.edges[i]!)),
    bin_counts: Uint16Array.from(bins.edges, (edges) => edges.length + 2),
    rows: table.rows,
  }
}

function binColumn(column: Float64Array, edges: Float64Array): Uint8Array {
  const binned = new Uint8Array(column.length)
  for (let row = 0; row < column.length; row++) {
    const value = column[row]!
    if (Number.isNaN(value)) continue
    binned[row] = countBelow(edges, value) + 1
  }
  return binned
}
