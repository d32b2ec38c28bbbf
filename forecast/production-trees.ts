import { type BlendedTrees, trainBlend } from './blended-trees.ts'
import { type FeatureTable, takeElements, takeRows } from './feature-table.ts'
import type { Plant } from './plant.ts'
import { type PlantPhysics, plantPhysics } from './plant-physics.ts'
import { dayNumbers, productionFeatures, utcDay } from './production-features.ts'
import {
  type Exclusion,
  exclusionOf,
  exclusions,
  isScorable,
  measuredPower,
  type ProductionSample,
} from './production-samples.ts'

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

/** Trees on some of the usable rows, up to a maximum. */
export function growTrees(
  prepared: Prepared,
  rows: readonly number[],
  random: () => number,
  most = rows_max,
): BlendedTrees {
  const kept = rows.length <= most ? rows : rows.filter(() => random() < most / rows.length)
  const table = takeRows(prepared.table, kept)
  return trainBlend(table, takeElements(prepared.target, kept), tree_options, random)
}
