import {
  createTreeBuilder,
  type DecisionTrees,
  leafOf,
  type TreeBuilder,
} from './decision-trees.ts'
import { type FeatureTable, requireTarget } from './feature-table.ts'
import { type BinnedTable, binTable, fitBins, type HistogramBins } from './histogram-bins.ts'
import { drawAgain } from './row-sampler.ts'
import { type BinTally, bestSplitOfRows, createBinTally, partitionRows } from './split-search.ts'

export interface ForestOptions {
  trees: number
  min_leaf: number
  /** Share of the columns available to a node, above 0 up to 1; drawn anew for each node. */
  column_share: number
}

/** A forest that stores the targets in its leaves. Survives structuredClone. */
export interface QuantileForest {
  kind: 'quantile_forest'
  bins: HistogramBins
  trees: DecisionTrees
  /** Distinct training targets, ascending; thinned to the range of ranks. */
  targets: Float64Array
  /** Positions in `targets` of the rows of all leaves, one leaf after the other. */
  leaf_ranks: Uint16Array
  /** Start of each leaf in `leaf_ranks`, and end of the last one. */
  leaf_starts: Uint32Array
}

/** Range of a 16-bit rank, and of a tree's number. */
const targets_max = 65_536
const trees_max = 65_536

/**
 * A random forest that predicts the distribution of the target: N. Meinshausen, "Quantile
 * regression forests", Journal of Machine Learning Research 7, 2006. Each tree is grown on as many
 * rows as there are, drawn with replacement, and splits by squared error; its leaves store the
 * ranks of their targets. `random` gives 0 to below 1. Throws a RangeError for options out of
 * range, no rows, and a target that is not finite.
 */
export function trainForest(
  table: FeatureTable,
  target: Float64Array,
  options: ForestOptions,
  random: () => number,
): QuantileForest {
  requireTarget(table, target)
  requireOptions(options)
  const bins = fitBins(table)
  const { targets, ranks } = rankTargets(target)
  const leaf_ranks = new Uint16Array(options.trees * table.rows)
  const growth: Growth = {
    table: binTable(bins, table),
    target,
    options,
    builder: createTreeBuilder(),
    leaf_ends: [],
    tally: createBinTally(),
    all_columns: Int32Array.from(table.columns.keys()),
    spare_rows: new Int32Array(table.rows),
    random,
  }
  for (let tree = 0; tree < options.trees; tree++) {
    const rows = growTree(growth, tree * table.rows)
    for (let i = 0; i < rows.length; i++) leaf_ranks[tree * rows.length + i] = ranks[rows[i]!]!
  }
  return {
    kind: 'quantile_forest',
    bins,
    trees: growth.builder.trees(),
    targets,
    leaf_ranks,
    leaf_starts: Uint32Array.from([0].concat(growth.leaf_ends)),
  }
}

interface Growth {
  table: BinnedTable
  target: Float64Array
  options: ForestOptions
  builder: TreeBuilder
  /** End of each leaf among the rows of all trees. */
  leaf_ends: number[]
  tally: BinTally
  all_columns: Int32Array
  spare_rows: Int32Array
  random: () => number
}

/** Grows a tree and returns its rows, leaf after leaf, numbered from `rows_before` on. */
function growTree(growth: Growth, rows_before: number): Int32Array {
  const { table, target, options, builder, tally } = growth
  const drawn = drawAgain(table.rows, growth.random)
  const open = [{ node: builder.root(), start: 0, end: drawn.length }]
  // First children come off the stack first: leaves are visited in the order of their rows.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, start, end } = next
    const rows = drawn.subarray(start, end)
    const split =
      rows.length < 2 * options.min_leaf
        ? null
        : bestSplitOfRows(tally, table, drawColumns(growth), rows, target, options.min_leaf)
    if (split === null) {
      growth.leaf_ends[builder.leaf(node)] = rows_before + end
      continue
    }
    const bins = table.columns[split.column]!
    const middle = start + partitionRows(rows, growth.spare_rows, bins, split.bin)
    const first = builder.split(node, split.column, split.bin)
    open.push({ node: first + 1, start: middle, end })
    open.push({ node: first, start, end: middle })
  }
  return drawn
}

/** Columns of a node: the first of all, after as many random exchanges. */
function drawColumns({ table, all_columns, options, random }: Growth): Int32Array {
  const wanted = Math.max(1, Math.round(table.columns.length * options.column_share))
  for (let i = 0; i < wanted; i++) {
    const other = i + Math.floor(random() * (all_columns.length - i))
    const column = all_columns[i]!
    all_columns[i] = all_columns[other]!
    all_columns[other] = column
  }
  return all_columns.subarray(0, wanted)
}

/** Distinct targets in order, thinned to the range of ranks, and the rank of each row. */
function rankTargets(target: Float64Array): { targets: Float64Array; ranks: Uint16Array } {
  const sorted = target.toSorted()
  const distinct = sorted.filter((value, i) => value !== sorted[i - 1])
  const step = Math.max(1, distinct.length / targets_max)
  const count = Math.min(distinct.length, targets_max)
  const targets = Float64Array.from({ length: count }, (_, i) => distinct[Math.floor(i * step)]!)
  const ranks = Uint16Array.from(target, (value) => lastUpTo(targets, value))
  return { targets, ranks }
}

function lastUpTo(ascending: Float64Array, value: number): number {
  let low = 0
  let high = ascending.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (ascending[middle]! <= value) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * The quantiles of each row, a column for each level (ascending, 0 to 1): the smallest target at
 * which the distribution reaches the level, with equal weight of all trees. They never cross.
 * Throws a RangeError for other columns than those of the training, and for levels that do not
 * ascend.
 */
export function predictForest(
  model: QuantileForest,
  table: FeatureTable,
  quantiles: readonly number[],
): Float64Array[] {
  requireLevels(quantiles)
  const binned = binTable(model.bins, table)
  const predicted = quantiles.map(() => new Float64Array(table.rows))
  const { roots } = model.trees
  const leaves = new Uint32Array(roots.length)
  for (let row = 0; row < table.rows; row++) {
    for (let tree = 0; tree < roots.length; tree++) {
      leaves[tree] = leafOf(model.trees, roots[tree]!, binned, row)
    }
    const entries = entriesOf(model, leaves)
    let reached = 0
    let next = 0
    for (let i = 0; i < quantiles.length; i++) {
      const wanted = quantiles[i]! * leaves.length - 1e-9
      while (next < entries.length && (next === 0 || reached < wanted)) {
        reached += shareOf(model, leaves[entries[next]! & 0xffff]!)
        next += 1
      }
      predicted[i]![row] = model.targets[entries[next - 1]! >>> 16]!
    }
  }
  return predicted
}

/** Content of leaves, one of each tree: rank (upper half) and tree (lower), by rank. */
function entriesOf({ leaf_ranks, leaf_starts }: QuantileForest, leaves: Uint32Array): Uint32Array {
  let length = 0
  for (const leaf of leaves) length += leaf_starts[leaf + 1]! - leaf_starts[leaf]!
  const entries = new Uint32Array(length)
  let i = 0
  for (let tree = 0; tree < leaves.length; tree++) {
    const end = leaf_starts[leaves[tree]! + 1]!
    for (let at = leaf_starts[leaves[tree]!]!; at < end; at++) {
      entries[i++] = leaf_ranks[at]! * 65_536 + tree
    }
  }
  return entries.sort()
}

/** Weight of one row of a leaf within its tree. */
function shareOf({ leaf_starts }: QuantileForest, leaf: number): number {
  return 1 / (leaf_starts[leaf + 1]! - leaf_starts[leaf]!)
}

function requireLevels(levels: readonly number[]): void {
  levels.forEach((level, i) => {
    if (!(level >= (levels[i - 1] ?? 0) && level <= 1)) {
      throw new RangeError(`quantiles: ${level} does not ascend from 0 to 1`)
    }
  })
}

function requireOptions({ trees, min_leaf, column_share }: ForestOptions): void {
  if (!(trees >= 1 && trees <= trees_max)) throw new RangeError(`trees is ${trees}, not 1 to 65536`)
  if (!(min_leaf >= 1)) throw new RangeError(`min_leaf is ${min_leaf}, below 1`)
  if (!(column_share > 0 && column_share <= 1)) {
    throw new RangeError(`column_share is ${column_share}, not above 0 to 1`)
  }
}
