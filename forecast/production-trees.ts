import { type BlendedTrees, predictBlend, trainBlend } from './blended-trees.ts'
import { type FeatureTable, takeElements, takeRows } from './feature-table.ts'
import type { Plant } from './plant.ts'
import { type PlantPhysics, plantPhysics } from './plant-physics.ts'
import { dayNumbers, productionFeatures, utcDay } from './production-features.ts'
import { quantile_levels } from './production-forecast.ts'
import {
  type Exclusion,
  exclusionOf,
  exclusions,
  isScorable,
  measuredPower,
  type ProductionSample,
} from './production-samples.ts'
import { clampQuantiles } from './quantiles.ts'

/** Chosen on two years of hours, real and simulated. */
const tree_options = {
  boosted_levels: [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95],
  boosting: {
    trees: 200,
    learning_rate: 0.05,
    leaves: 24,
    min_leaf: 10,
    column_share: 0.4,
    row_share: 0.5,
  },
  forest: { trees: 150, min_leaf: 6, column_share: 0.33 },
}

/** Larger data are thinned: half of the quarter hours of years carry the same information. */
const rows_max = 14_000

/** Samples with their features; rows are positions of samples. */
export interface Prepared {
  plant: Plant
  samples: readonly ProductionSample[]
  physics: PlantPhysics
  table: FeatureTable
  /** Power relative to rated power, NaN if not measured. */
  target: Float64Array
  days: Int32Array
  usable: number[]
  /** Their UTC days, ascending, numbers of `utcDay`. */
  usable_days: number[]
  /** Rows to score: the same and clipped ones. */
  scorable: number[]
  /** Excluded daylight samples by reason; `no_weather` had no forecast. */
  excluded: Record<Exclusion | 'no_weather', number>
}

export function prepare(samples: readonly ProductionSample[], plant: Plant): Prepared {
  const weather = samples.map((sample) => sample.weather)
  const physics = plantPhysics(plant, samples, weather)
  const excluded: Prepared['excluded'] = { no_weather: 0, ...noExclusions() }
  const usable: number[] = []
  const scorable: number[] = []
  for (const [row, sample] of samples.entries()) {
    if (physics.is_night[row] === 1) continue
    const has_weather = !Number.isNaN(physics.potential_ratio[row]!)
    const exclusion = exclusionOf(sample)
    if (exclusion !== null) excluded[exclusion] += 1
    else if (!has_weather) excluded.no_weather += 1
    else usable.push(row)
    if (has_weather && isScorable(sample)) scorable.push(row)
  }
  return {
    plant,
    samples,
    physics,
    table: productionFeatures({ steps: samples, physics, dayOf: utcDay }),
    target: Float64Array.from(samples, (sample) =>
      Math.min(1, measuredPower(sample, sample) / plant.rated_power_kw),
    ),
    days: dayNumbers(samples, utcDay),
    usable,
    usable_days: [...new Set(usable.map((row) => utcDay(samples[row]!)))].sort((a, b) => a - b),
    scorable,
    excluded,
  }
}

const noExclusions = () =>
  Object.fromEntries(exclusions.map((name) => [name, 0])) as Record<Exclusion, number>

/** Trees on the deviation of some usable rows from physics, up to a maximum of rows. */
export function growTrees(
  prepared: Prepared,
  rows: readonly number[],
  level: number,
  random: () => number,
  most = rows_max,
): BlendedTrees {
  const kept = rows.length <= most ? rows : rows.filter(() => random() < most / rows.length)
  const table = takeRows(prepared.table, kept)
  const target = takeElements(prepared.target, kept)
  const usual = usualPower(takeElements(prepared.physics.potential_ratio, kept), level)
  const deviation = target.map((power, i) => power - usual[i]!)
  return trainBlend(table, deviation, tree_options, random)
}

/** Power by physics at the plant's level (`PhysicalErrors`), relative to rated power. */
const usualPower = (potential_ratio: Float64Array, level: number) =>
  potential_ratio.map((computed) => Math.min(1, level * computed))

/**
 * Quantiles of power relative to rated power, a column for each of `quantile_levels`: those of the
 * deviation from physics at the plant's level, plus that. Trees cannot extrapolate: grown on power,
 * they would forecast the sun of winter in spring.
 */
export function predictTrees(
  trees: BlendedTrees,
  table: FeatureTable,
  potential_ratio: Float64Array,
  level: number,
): Float64Array[] {
  const usual = usualPower(potential_ratio, level)
  const quantiles = predictBlend(trees, table, quantile_levels)
  for (const column of quantiles) {
    for (let i = 0; i < column.length; i++) column[i]! += usual[i]!
  }
  clampQuantiles(quantiles, 0, 1)
  return quantiles
}
