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
  /** Boosted levels, ascending; levels in between are interpolated. */
  boosted_levels: readonly number[]
  /** `min_leaf` applies to the median; see `tailLeaf`. */
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
 * Trains boosting and a forest on the same table: boosting underestimates its uncertainty, a forest
 * overestimates it, and their mean is better than either. `random` gives 0 to below 1. Throws a
 * RangeError as `trainBoosting` and `trainForest` do.
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

/** Minimum rows in a leaf of a quantile: tails need more rows. */
function tailLeaf(min_leaf: number, quantile: number): number {
  return Math.round((0.5 * min_leaf) / Math.min(quantile, 1 - quantile))
}

/**
 * A column for each level (ascending), none below the one before. Throws a RangeError for other
 * columns than those of the training.
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
  rearrangeQuantiles(blended)
  return blended
}
