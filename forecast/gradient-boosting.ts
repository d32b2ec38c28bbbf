import {
  createTreeBuilder,
  type DecisionTrees,
  leafOf,
  type TreeBuilder,
} from './decision-trees.ts'
import { type FeatureTable, requireTarget } from './feature-table.ts'
import { type BinnedTable, binTable, fitBins, type HistogramBins } from './histogram-bins.ts'
import { quantileInPlace } from './quantiles.ts'
import { drawShare } from './row-sampler.ts'
import {
  bestSplit,
  createHistogram,
  fillHistogram,
  type Histogram,
  partitionRows,
  type Split,
  subtractHistogram,
} from './split-search.ts'

export interface BoostingOptions {
  /** Level of the quantile, above 0 and below 1; null for the mean. */
  quantile: number | null
  trees: number
  /** Share of a tree's output that is added, above 0 up to 1. */
  learning_rate: number
  leaves: number
  min_leaf: number
  /** Share of the columns available to a tree, above 0 up to 1. */
  column_share: number
  /** Share of the rows of a tree, above 0 up to 1. */
  row_share: number
}

export interface BoostedTrees {
  kind: 'boosted_trees'
  bins: HistogramBins
  trees: DecisionTrees
  base: number
  leaf_values: Float64Array
}

/**
 * Trees that each fit the residuals of those before: J. H. Friedman, "Greedy function
 * approximation: a gradient boosting machine", Annals of Statistics 29(5), 2001, algorithm 1, with
 * rows drawn anew for each tree (Friedman, Computational Statistics & Data Analysis 38(4), 2002)
 * and leaves split best first on histograms (G. Ke et al., "LightGBM", NeurIPS 2017). For a
 * quantile the trees follow the gradient of the pinball loss, and a leaf adds the quantile of its
 * residuals, as Friedman's section 4.3 does for the median. `random` gives 0 to below 1. Throws a
 * RangeError for options out of range, no rows, and a target that is not finite.
 */
export function trainBoosting(
  table: FeatureTable,
  target: Float64Array,
  options: BoostingOptions,
  random: () => number,
): BoostedTrees {
  requireTarget(table, target)
  return trainBinned(binOnce(table), target, options, random)
}

/** A table with its bins, shared by several models. */
interface BinnedOnce {
  bins: HistogramBins
  table: BinnedTable
}

export function binOnce(table: FeatureTable): BinnedOnce {
  const bins = fitBins(table)
  return { bins, table: binTable(bins, table) }
}

/** As `trainBoosting`, with a target checked by the caller. */
export function trainBinned(
  { bins, table }: BinnedOnce,
  target: Float64Array,
  options: BoostingOptions,
  random: () => number,
): BoostedTrees {
  requireOptions(options)
  const growth = createGrowth(table, options)
  const { predicted } = growth
  growth.residuals.set(target)
  const base = leafValue(growth, drawShare(table.rows, options.row_share, random))
  predicted.fill(base)
  for (let tree = 0; tree < options.trees; tree++) {
    setResiduals(growth, target)
    const root = growTree(
      growth,
      drawShare(table.rows, options.row_share, random),
      drawShare(table.columns.length, options.column_share, random),
    )
    addToOthers(growth, root)
  }
  return {
    kind: 'boosted_trees',
    bins,
    trees: growth.builder.trees(),
    base,
    leaf_values: Float64Array.from(growth.leaf_values),
  }
}

/** Predictions by row. Throws a RangeError for other columns than those of the training. */
export function predictBoosting(model: BoostedTrees, table: FeatureTable): Float64Array {
  const binned = binTable(model.bins, table)
  const predicted = new Float64Array(table.rows).fill(model.base)
  for (const root of model.trees.roots) {
    addTree(predicted, binned, model.trees, root, model.leaf_values)
  }
  return predicted
}

function addTree(
  predicted: Float64Array,
  table: BinnedTable,
  trees: DecisionTrees,
  root: number,
  leaf_values: ArrayLike<number>,
): void {
  for (let row = 0; row < table.rows; row++) {
    predicted[row]! += leaf_values[leafOf(trees, root, table, row)]!
  }
}

/** Adds a tree to the predictions of the rows that were not drawn for it. */
function addToOthers(growth: Growth, root: number): void {
  const { predicted, table, is_drawn, leaf_values } = growth
  const trees = growth.builder.view()
  for (let row = 0; row < table.rows; row++) {
    if (is_drawn[row] === 0) predicted[row]! += leaf_values[leafOf(trees, root, table, row)]!
  }
  is_drawn.fill(0)
}

interface Growth {
  table: BinnedTable
  options: BoostingOptions
  builder: TreeBuilder
  leaf_values: number[]
  predicted: Float64Array
  /** 1 for rows drawn for the newest tree, which already include it. */
  is_drawn: Uint8Array
  residuals: Float64Array
  gradients: Float64Array
  free: Histogram[]
  spare_rows: Int32Array
  spare_values: Float64Array
}

function createGrowth(table: BinnedTable, options: BoostingOptions): Growth {
  return {
    table,
    options,
    builder: createTreeBuilder(),
    leaf_values: [],
    predicted: new Float64Array(table.rows),
    is_drawn: new Uint8Array(table.rows),
    residuals: new Float64Array(table.rows),
    gradients: new Float64Array(table.rows),
    free: [],
    spare_rows: new Int32Array(table.rows),
    spare_values: new Float64Array(table.rows),
  }
}

function setResiduals(growth: Growth, target: Float64Array): void {
  const { residuals, gradients, predicted } = growth
  const { quantile } = growth.options
  for (let row = 0; row < target.length; row++) {
    const residual = target[row]! - predicted[row]!
    residuals[row] = residual
    gradients[row] = quantile === null ? residual : residual > 0 ? quantile : quantile - 1
  }
}

interface OpenLeaf {
  node: number
  rows: Int32Array
  /** Null with too few rows to split. */
  histogram: Histogram | null
  split: Split | null
}

/**
 * Grows a tree on the drawn rows and columns, adds it to their predictions, and returns its root.
 */
function growTree(growth: Growth, rows: Int32Array, columns: Int32Array): number {
  const { builder, options, free } = growth
  const root = builder.root()
  const histogram = isSplittable(growth, rows) ? histogramOf(growth, columns, rows) : null
  const open = [openLeaf(growth, columns, root, rows, histogram)]
  while (open.length < options.leaves) {
    const leaf = open.reduce((best, other) => (gainOf(other) > gainOf(best) ? other : best))
    if (leaf.split === null) break
    open.splice(open.indexOf(leaf), 1, ...splitLeaf(growth, columns, leaf, leaf.split))
  }
  for (const { node, rows, histogram } of open) {
    const value = options.learning_rate * leafValue(growth, rows)
    growth.leaf_values[builder.leaf(node)] = value
    for (let i = 0; i < rows.length; i++) {
      growth.predicted[rows[i]!]! += value
      growth.is_drawn[rows[i]!] = 1
    }
    if (histogram !== null) free.push(histogram)
  }
  return root
}

function gainOf({ split }: OpenLeaf): number {
  return split?.gain ?? 0
}

function isSplittable({ options }: Growth, rows: Int32Array): boolean {
  return rows.length >= 2 * options.min_leaf
}

function openLeaf(
  growth: Growth,
  columns: Int32Array,
  node: number,
  rows: Int32Array,
  histogram: Histogram | null,
): OpenLeaf {
  const { table, options } = growth
  const split = histogram && bestSplit(histogram, table, columns, options.min_leaf)
  return { node, rows, histogram, split }
}

function splitLeaf(growth: Growth, columns: Int32Array, leaf: OpenLeaf, split: Split): OpenLeaf[] {
  const bins = growth.table.columns[split.column]!
  const middle = partitionRows(leaf.rows, growth.spare_rows, bins, split.bin)
  const [first, second] = [leaf.rows.subarray(0, middle), leaf.rows.subarray(middle)]
  const child = growth.builder.split(leaf.node, split.column, split.bin)
  const [smaller, larger] = first.length <= second.length ? [first, second] : [second, first]
  const histograms = new Map<Int32Array, Histogram>()
  if (isSplittable(growth, larger)) {
    // The histogram of the larger child is the difference, without reading its rows.
    const counted = histogramOf(growth, columns, smaller)
    subtractHistogram(leaf.histogram!, counted)
    histograms.set(larger, leaf.histogram!).set(smaller, counted)
  } else growth.free.push(leaf.histogram!)
  return [first, second].map((rows, i) =>
    openLeaf(growth, columns, child + i, rows, histograms.get(rows) ?? null),
  )
}

function histogramOf(growth: Growth, columns: Int32Array, rows: Int32Array): Histogram {
  const histogram = growth.free.pop() ?? createHistogram(columns.length)
  fillHistogram(histogram, growth.table, columns, rows, growth.gradients)
  return histogram
}

/** Quantile, or mean, of the residuals of some rows. */
function leafValue({ residuals, spare_values, options }: Growth, rows: Int32Array): number {
  let sum = 0
  for (let i = 0; i < rows.length; i++) {
    const residual = residuals[rows[i]!]!
    spare_values[i] = residual
    sum += residual
  }
  if (options.quantile === null) return sum / rows.length
  return quantileInPlace(spare_values, options.quantile, 0, rows.length)
}

function requireOptions(options: BoostingOptions): void {
  const { quantile, trees, leaves, min_leaf } = options
  if (quantile !== null && !(quantile > 0 && quantile < 1)) {
    throw new RangeError(`quantile is ${quantile}, not between 0 and 1`)
  }
  if (!(trees >= 0)) throw new RangeError(`trees is ${trees}, below 0`)
  if (!(leaves >= 1)) throw new RangeError(`leaves is ${leaves}, below 1`)
  if (!(min_leaf >= 1)) throw new RangeError(`min_leaf is ${min_leaf}, below 1`)
  for (const name of ['learning_rate', 'column_share', 'row_share'] as const) {
    const share = options[name]
    if (!(share > 0 && share <= 1)) throw new RangeError(`${name} is ${share}, not above 0 to 1`)
  }
}
