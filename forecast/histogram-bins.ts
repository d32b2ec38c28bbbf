import { type FeatureTable, requireColumns } from './feature-table.ts'
import { countBelow } from './quantiles.ts'

/** Bins of a column: bin 0 holds what is missing, then up to this many bins of values. */
export const value_bins_max = 255

/** Where the values of each feature are cut into bins. */
export interface HistogramBins {
  names: readonly string[]
  /**
   * Ascending upper ends of the bins of each column but its last, which has none: bin 1 holds the
   * values up to and with the first, bin 2 those up to the second. Bin 0 holds NaN.
   */
  edges: readonly Float64Array[]
}

/** A table in bins: a byte for each value, column by column. */
export interface BinnedTable {
  columns: readonly Uint8Array[]
  /** Bins of each column, that of missing values included. */
  bin_counts: Uint16Array
  rows: number
}

/**
 * Bins that hold about as many rows each, so that a tree sees a feature as closely as there are
 * values of it: G. Ke et al., "LightGBM", NeurIPS 2017, section 2.1. A feature of fewer values than
 * bins has a bin for each. Throws a RangeError unless 1 <= `bins_max` <= 255.
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

/** A number from `low` to below `high`, in the middle where there is one. */
function between(low: number, high: number): number {
  const middle = low / 2 + high / 2
  return middle < high ? middle : low
}

/**
 * The bins of a table's values. Throws a RangeError unless its columns are those of `bins`.
 */
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
