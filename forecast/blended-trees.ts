import { type FeatureTable, requireTarget } from './feature-table.ts'
import {
  type BoostedTrees,
  type BoostingOptions,
  binOnce,
  predictBoosting,
  trainBinned,
} from './gradient-boosting.ts'
import {
  type ForestOptions,
  predictForest,
  type QuantileForest,
  trainForest,
} from './quantile-forest.ts'
import { blendQuantiles, interpolateQuantiles, rearrangeQuantiles } from './quantiles.ts'

export interface BlendOptions {
  /** Levels that are boosted, ascending; those between follow in proportion. */
  boosted_levels: readonly number[]
  /** `min_leaf` is that of the median; see `tailLeaf`. */
  boosting: Omit<BoostingOptions, 'quantile'>
  forest: ForestOptions
}

/** Boosted quantiles and a forest. Survives structuredClone. */
export interface BlendedTrees {
  kind: 'blended_trees'
  boosted_levels: readonly number[]
  boosted: readonly BoostedTrees[]
  forest: QuantileForest
}

/**
 * Learns the same twice: boosting is sharp and says too little of its doubt, a forest doubts too
 * much, and their mean is better than either. `random` gives 0 to below 1. Throws a RangeError as
 * `trainBoosting` and `trainForest` do.
 */
export function trainBlend(
  table: FeatureTable,
  target: Float64Array,
  options: BlendOptions,
  random: () => number,
): BlendedTrees {
  const { boosted_levels, boosting, forest } = options
  requireTarget(table, target)
  const binned = binOnce(table)
  const boosted = boosted_levels.map((quantile) => {
    const min_leaf = tailLeaf(boosting.min_leaf, quantile)
    return trainBinned(binned, target, { ...boosting, min_leaf, quantile }, random)
  })
  return {
    kind: 'blended_trees',
    boosted_levels,
    boosted,
    forest: trainForest(table, target, forest, random),
  }
}

/** Rows of a leaf of a quantile: the further in the tail, the more are needed to tell it. */
function tailLeaf(min_leaf: number, quantile: number): number {
  return Math.round((0.5 * min_leaf) / Math.min(quantile, 1 - quantile))
}

/**
 * A column for each level (ascending), none below the one before it. Throws a RangeError for other
 * columns than the trees know.
 */
export function predictBlend(
  model: BlendedTrees,
  table: FeatureTable,
  levels: readonly number[],
): Float64Array[] {
  const boosted = model.boosted.map((trees) => predictBoosting(trees, table))
  rearrangeQuantiles(boosted)
  const blended = blendQuantiles([
    interpolateQuantiles(boosted, model.boosted_levels, levels),
    predictForest(model.forest, table, levels),
  ])
  // Sums of ascending numbers ascend, but for the last digit of a rounded one.
  rearrangeQuantiles(blended)
  return blended
}
