/**
 * A model of what a plant gives at a forecast of the weather, learnt from its own history: boosted
 * trees and a quantile forest on physics features, with conformal spread.
 */
import { deserialize, serialize } from 'node:v8'
import { day_ms } from '@heliograph/domain/utc-day'
import { type BlendedTrees, predictBlend, trainBlend } from './blended-trees.ts'
import { type FeatureTable, takeElements, takeRows } from './feature-table.ts'
import { fitPhysicalErrors, type PhysicalErrors, physicalQuantiles } from './physical-forecast.ts'
import { type Plant, requireSteps, type Step, stepHours } from './plant.ts'
import { type PlantPhysics, plantPhysics } from './plant-physics.ts'
import { addClipping, type ClippingCurve, fitClipping } from './production-clipping.ts'
import { dayNumbers, productionFeatures, utcDay } from './production-features.ts'
import {
  as_told,
  conformalScale,
  type ProductionForecast,
  productionForecast,
  quantile_levels,
  type SpreadOutcome,
  type SpreadScale,
  stretchQuantiles,
  threeQuantiles,
} from './production-forecast.ts'
import {
  type Exclusion,
  exclusionOf,
  exclusions,
  isScorable,
  measuredPower,
  type ProductionSample,
  type StepAhead,
} from './production-samples.ts'
import { clampQuantiles } from './quantiles.ts'

/** What a model was made of. */
interface ProductionFacts {
  step_minutes: number
  /** Of the samples that were learnt from. */
  trained_from_ms: number
  trained_to_ms: number
  sample_count: number
  /** Daylight samples that were not learnt from, and why; `no_weather` had no forecast. */
  excluded: Record<Exclusion | 'no_weather', number>
}

/** Plain data and typed arrays: survives structuredClone. */
export interface ProductionModel {
  kind: 'production'
  format: typeof model_format
  trees: BlendedTrees
  clipping: ClippingCurve
  step_scale: SpreadScale
  total_scale: SpreadScale
  /** For steps of which no weather is known. */
  physical_errors: PhysicalErrors
  facts: ProductionFacts
}

/** Changes with what a stored model means. */
const model_format = 1

/** Chosen on hours of two years, real and simulated ones. */
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

/** Fewer teach too little; whether those taught more than physics knows, days held out tell. */
const training_days_min = 20
const training_hours_min = 120
/** Rows beyond it are thinned: quarter hours of years say little that half of them do not. */
const rows_max = 14_000
const calibration_days_min = 7
const calibration_days_max = 60
/** Days that say how the errors of a day hang together. */
const total_days_min = 15
/** The least spread, far below any that matters: dawns held to more would pass for certain. */
const spread_min_ratio = 1e-4
/** A day of which a smaller part of its clear sky was learnt from says nothing of its total. */
const whole_day_ratio = 0.5

/** Samples with their features; rows are positions of samples. */
interface Prepared {
  plant: Plant
  samples: readonly ProductionSample[]
  physics: PlantPhysics
  table: FeatureTable
  /** Power over rated power, NaN where it was not measured. */
  target: Float64Array
  days: Int32Array
  /** Rows that may be learnt from. */
  usable: number[]
  /** Rows that forecasts may be held against: the same and clipped ones. */
  scorable: number[]
  excluded: ProductionFacts['excluded']
}

function prepare(samples: readonly ProductionSample[], plant: Plant): Prepared {
  const weather = samples.map((sample) => sample.weather)
  const physics = plantPhysics(plant, samples, weather)
  const excluded: ProductionFacts['excluded'] = { no_weather: 0, ...noExclusions() }
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
    scorable,
    excluded,
  }
}

const noExclusions = () =>
  Object.fromEntries(exclusions.map((name) => [name, 0])) as Record<Exclusion, number>

interface Training {
  /** Samples of daylight that can be learnt from. */
  sample_count: number
  /** null: they are fewer than 120 hours, or lie on fewer than 20 days. */
  model: ProductionModel | null
}

/**
 * Learns a plant from its samples, all of steps of one length. Samples that `exclusionOf` names,
 * nights and steps without weather are not learnt from. How far the spread has to be stretched is
 * seen on the last fifth of the history (7 to 60 days), with trees that were grown on what came
 * before; then the trees are grown again on all of it. Newer samples count as much as older ones.
 * `random` gives 0 to below 1. Throws a RangeError for steps of different lengths, and for a plant
 * without capacity.
 */
export function trainProduction(
  samples: readonly ProductionSample[],
  plant: Plant,
  random: () => number,
): Training {
  const prepared = prepare(samples, plant)
  const { usable } = prepared
  // A step by the weather of several leads is one.
  const steps = new Map(usable.map((row) => [samples[row]!.start_ms, samples[row]!]))
  const usable_h = [...steps.values()].reduce((sum, step) => sum + stepHours(step), 0)
  const day_count = new Set(usable.map((row) => utcDay(samples[row]!))).size
  const is_enough = usable_h >= training_hours_min && day_count >= training_days_min
  return {
    sample_count: usable.length,
    model: is_enough ? learn(prepared, random) : null,
  }
}

function learn(prepared: Prepared, random: () => number): ProductionModel {
  const { samples, plant, usable } = prepared
  const step_minutes = stepMinutes(samples)
  const trained_from_ms = usable.reduce((ms, row) => Math.min(ms, samples[row]!.start_ms), Infinity)
  const trained_to_ms = usable.reduce((ms, row) => Math.max(ms, samples[row]!.end_ms), 0)
  const calibrated_from_ms = calibrationStart(trained_from_ms, trained_to_ms)
  const isBefore = (row: number) => samples[row]!.start_ms < calibrated_from_ms
  const earlier = growTrees(prepared, usable.filter(isBefore), random)
  const scales = calibrate(
    prepared,
    earlier,
    usable.filter((row) => !isBefore(row)),
  )
  return {
    kind: 'production',
    format: model_format,
    trees: growTrees(prepared, usable, random),
    clipping: clippingOf(prepared),
    ...scales,
    physical_errors: fitPhysicalErrors(samples, plant),
    facts: {
      step_minutes,
      trained_from_ms,
      trained_to_ms,
      sample_count: usable.length,
      excluded: prepared.excluded,
    },
  }
}

/** Throws a RangeError unless all steps, at least one, last as long as the first. */
function stepMinutes(steps: readonly Step[]): number {
  const lengths = new Set(steps.map(({ start_ms, end_ms }) => (end_ms - start_ms) / 60_000))
  const [minutes] = lengths
  if (minutes === undefined || lengths.size > 1) {
    throw new RangeError(`steps last ${[...lengths].join(' and ')} minutes`)
  }
  return minutes
}

/** Where the last fifth of the history begins, not less than a week nor more than 60 days of it. */
function calibrationStart(first_ms: number, last_ms: number): number {
  const days = (last_ms - first_ms) / 5 / day_ms
  return last_ms - Math.min(calibration_days_max, Math.max(calibration_days_min, days)) * day_ms
}

function growTrees(prepared: Prepared, rows: readonly number[], random: () => number) {
  const kept = rows.length <= rows_max ? rows : rows.filter(() => random() < rows_max / rows.length)
  const table = takeRows(prepared.table, kept)
  return trainBlend(table, takeElements(prepared.target, kept), tree_options, random)
}

function clippingOf({ samples, physics, scorable }: Prepared): ClippingCurve {
  return fitClipping(
    takeElements(physics.potential_ratio, scorable),
    scorable.map((row) => samples[row]!.is_clipped),
  )
}

/** What the spread of trees lacks on rows that they have not seen, step by step and day by day. */
function calibrate(prepared: Prepared, trees: BlendedTrees, rows: readonly number[]) {
  const quantiles = predictBlend(trees, takeRows(prepared.table, rows), quantile_levels)
  const outcomes = () => {
    const { p10, p50, p90 } = threeQuantiles(quantiles)
    return rows.map((row, i) => ({
      p10: p10[i]!,
      p50: p50[i]!,
      p90: p90[i]!,
      actual: prepared.target[row]!,
    }))
  }
  const step_scale = conformalScale(outcomes(), spread_min_ratio)
  stretchQuantiles(quantiles, step_scale)
  const totals = dayTotals(prepared, rows, outcomes())
  return {
    step_scale,
    total_scale:
      totals.length < total_days_min ? as_told : conformalScale(totals, spread_min_ratio),
  }
}

/** Sums of each day's steps, of days whose light was mostly seen, in hours at rated power. */
function dayTotals(
  { samples, physics, days }: Prepared,
  rows: readonly number[],
  outcomes: readonly SpreadOutcome[],
): SpreadOutcome[] {
  const clear_h = new Map<number, number>()
  for (const [row, sample] of samples.entries()) {
    const sum = clear_h.get(days[row]!) ?? 0
    clear_h.set(days[row]!, sum + physics.clear_ratio[row]! * stepHours(sample))
  }
  const totals = new Map<number, SpreadOutcome & { clear_h: number }>()
  for (const [i, row] of rows.entries()) {
    const hours = stepHours(samples[row]!)
    const { p10, p50, p90, actual } = outcomes[i]!
    const sum = totals.get(days[row]!) ?? { p10: 0, p50: 0, p90: 0, actual: 0, clear_h: 0 }
    totals.set(days[row]!, {
      p10: sum.p10 + p10 * hours,
      p50: sum.p50 + p50 * hours,
      p90: sum.p90 + p90 * hours,
      actual: sum.actual + actual * hours,
      clear_h: sum.clear_h + physics.clear_ratio[row]! * hours,
    })
  }
  return [...totals]
    .filter(([day, sum]) => sum.clear_h >= whole_day_ratio * clear_h.get(day)!)
    .map(([, sum]) => sum)
}

/**
 * The forecast of a plant. Quantiles of its total hold for a day, which is what `total_scale` was
 * learnt from; give whole days, which the features look at. Where no irradiance is forecast it is
 * that of physics. Throws a RangeError for steps that overlap, descend or are not as long as those
 * that were learnt from.
 */
export function predictProduction(
  model: ProductionModel,
  plant: Plant,
  steps: readonly StepAhead[],
): ProductionForecast {
  requireSteps(steps)
  const { step_minutes } = model.facts
  if (steps.length > 0 && stepMinutes(steps) !== step_minutes) {
    throw new RangeError(`steps last ${stepMinutes(steps)} minutes, the model's ${step_minutes}`)
  }
  const physics = plantPhysics(
    plant,
    steps,
    steps.map(({ weather }) => weather),
  )
  const quantiles = physicalQuantiles(physics, () => model.physical_errors)
  const rows = [...steps.keys()].filter(
    (row) => physics.is_night[row] === 0 && !Number.isNaN(physics.potential_ratio[row]!),
  )
  const table = productionFeatures({ steps, physics, dayOf: utcDay })
  const learnt = predictBlend(model.trees, takeRows(table, rows), quantile_levels)
  stretchQuantiles(learnt, model.step_scale)
  addClipping(learnt, model.clipping, {
    potential_ratio: takeElements(physics.potential_ratio, rows),
    ac_ratio: takeElements(physics.ac_ratio, rows),
  })
  clampQuantiles(learnt, 0, 1)
  for (const [level, column] of quantiles.entries()) {
    for (const [i, row] of rows.entries()) column[row] = learnt[level]![i]!
  }
  const { total_scale } = model
  return productionForecast({ plant, steps, physics, quantiles, total_scale, is_trained: true })
}

/** A model as bytes, in the format of structured clone, which newer versions of Node still read. */
export function serialiseProduction(model: ProductionModel): Buffer {
  return serialize(model)
}

/** The model of `serialiseProduction`. Throws an Error for bytes of anything else. */
export function deserialiseProduction(bytes: Uint8Array): ProductionModel {
  const model: unknown = deserialize(bytes)
  const { kind, format } = (model ?? {}) as Partial<ProductionModel>
  if (kind !== 'production' || format !== model_format) {
    throw new Error(`bytes: not a production model of format ${model_format}`)
  }
  return model as ProductionModel
}
