/**
 * A model of what a plant gives at a forecast of the weather, learnt from its own history: boosted
 * trees and a quantile forest on physics features, with conformal spread.
 */
import { deserialize, serialize } from 'node:v8'
import { type BlendedTrees, predictBlend, trainBlend } from './blended-trees.ts'
import { type FeatureTable, takeElements, takeRows } from './feature-table.ts'
import { fitPhysicalErrors, type PhysicalErrors, physicalQuantiles } from './physical-forecast.ts'
import { type Plant, requireSteps, type Step, stepHours } from './plant.ts'
import { type PlantPhysics, plantPhysics } from './plant-physics.ts'
import { addClipping, type ClippingCurve, fitClipping } from './production-clipping.ts'
import { productionFeatures, solarDay, solarDays } from './production-features.ts'
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
  type ForecastWeather,
  isScorable,
  type ProductionSample,
} from './production-samples.ts'
import { clampQuantiles } from './quantiles.ts'

/** What a model was made of. */
export interface ProductionFacts {
  step_minutes: number
  /** Of the samples that were learnt from. */
  trained_from_ms: number
  trained_to_ms: number
  sample_count: number
  day_count: number
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

const day_ms = 24 * 3_600_000
/** Fewer teach too little; whether those taught more than physics knows, days held out tell. */
export const training_days_min = 20
export const training_hours_min = 120
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

export interface Trainability {
  is_enough: boolean
  /** Daylight hours that can be learnt from, and the days that they lie in. */
  usable_h: number
  day_count: number
  /** What is missing, null when nothing is. */
  reason: string | null
}

/** Whether a history suffices for `trainProduction`: 20 days with 120 daylight hours in all. */
export function trainability(samples: readonly ProductionSample[], plant: Plant): Trainability {
  return trainabilityOf(prepare(samples, plant))
}

function trainabilityOf({ plant, samples, usable }: Prepared): Trainability {
  const usable_h = usable.reduce((sum, row) => sum + stepHours(samples[row]!), 0)
  const day_count = new Set(usable.map((row) => solarDay(plant, samples[row]!))).size
  const is_enough = usable_h >= training_hours_min && day_count >= training_days_min
  const reason = is_enough
    ? null
    : `${Math.round(usable_h)} usable daylight hours on ${day_count} days, of at least ` +
      `${training_hours_min} on ${training_days_min}`
  return { is_enough, usable_h, day_count, reason }
}

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
  const lead_time_h = samples.map((sample) => sample.lead_time_h)
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
    table: productionFeatures({ plant, steps: samples, weather, lead_time_h, physics }),
    target: Float64Array.from(samples, (sample) => powerRatio(sample, plant)),
    days: solarDays(plant, samples),
    usable,
    scorable,
    excluded,
  }
}

const noExclusions = () =>
  Object.fromEntries(exclusions.map((name) => [name, 0])) as Record<Exclusion, number>

function powerRatio(sample: ProductionSample, { rated_power_kw }: Plant): number {
  if (sample.available_kwh === null) return Number.NaN
  const ratio = sample.available_kwh / stepHours(sample) / rated_power_kw
  return Math.min(1, Math.max(0, ratio))
}

/**
 * Learns a plant from its samples, all of steps of one length. Samples that `exclusionOf` names,
 * nights and steps without weather are not learnt from. How far the spread has to be stretched is
 * seen on the last fifth of the history (7 to 60 days), with trees that were grown on what came
 * before; then the trees are grown again on all of it. Newer samples count as much as older ones.
 * `random` gives 0 to below 1. Throws a RangeError where `trainability` finds the history too
 * short, for steps of different lengths, and for a plant without capacity.
 */
export function trainProduction(
  samples: readonly ProductionSample[],
  plant: Plant,
  random: () => number,
): ProductionModel {
  const step_minutes = stepMinutes(samples)
  const prepared = prepare(samples, plant)
  const { reason, day_count } = trainabilityOf(prepared)
  if (reason !== null) throw new RangeError(`samples: ${reason}`)
  const from_ms = calibrationStart(prepared)
  const isBefore = (row: number) => samples[row]!.start_ms < from_ms
  const { usable } = prepared
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
      trained_from_ms: usable.reduce((ms, row) => Math.min(ms, samples[row]!.start_ms), Infinity),
      trained_to_ms: usable.reduce((ms, row) => Math.max(ms, samples[row]!.end_ms), 0),
      sample_count: usable.length,
      day_count,
      excluded: prepared.excluded,
    },
  }
}

/** Throws a RangeError unless all steps last as long as the first. */
function stepMinutes(steps: readonly Step[]): number {
  const lengths = new Set(steps.map(({ start_ms, end_ms }) => (end_ms - start_ms) / 60_000))
  const [minutes] = lengths
  if (minutes === undefined) throw new RangeError('samples: there are none')
  if (lengths.size > 1) throw new RangeError(`steps last ${[...lengths].join(' and ')} minutes`)
  return minutes
}

/** Where the last fifth of the history begins, not less than a week nor more than 60 days of it. */
function calibrationStart({ samples, usable }: Prepared): number {
  const first_ms = usable.reduce((ms, row) => Math.min(ms, samples[row]!.start_ms), Infinity)
  const last_ms = usable.reduce((ms, row) => Math.max(ms, samples[row]!.end_ms), 0)
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

/** The steps to forecast; elements of `weather` and `lead_time_h` belong to them. */
export interface ProductionQuestion {
  plant: Plant
  steps: readonly Step[]
  /** As `trainProduction` had it; null for a step of which none is known. */
  weather: readonly (ForecastWeather | null)[]
  /** From the issue of the forecast of the weather to the start of the step. */
  lead_time_h: readonly number[]
}

/**
 * Quantiles of power over rated power for each step, a column for each of `quantile_levels`: 0 at
 * night, by physics where no irradiance is forecast, within 0 and 1, never falling with the level.
 * Steps may come in several ascending series, as samples do.
 */
export function productionQuantiles(
  model: ProductionModel,
  question: ProductionQuestion,
): { physics: PlantPhysics; quantiles: Float64Array[] } {
  const { plant, steps, weather, lead_time_h } = question
  requireKnown(model, question)
  const physics = plantPhysics(plant, steps, weather)
  const quantiles = physicalQuantiles(physics, model.physical_errors)
  const rows = [...steps.keys()].filter(
    (row) => physics.is_night[row] === 0 && !Number.isNaN(physics.potential_ratio[row]!),
  )
  const table = productionFeatures({ plant, steps, weather, lead_time_h, physics })
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
  return { physics, quantiles }
}

function requireKnown(model: ProductionModel, { steps, lead_time_h }: ProductionQuestion): void {
  if (lead_time_h.length !== steps.length) {
    throw new RangeError(`lead_time_h has ${lead_time_h.length} steps, not ${steps.length}`)
  }
  const { step_minutes } = model.facts
  if (steps.length > 0 && stepMinutes(steps) !== step_minutes) {
    throw new RangeError(`steps last ${stepMinutes(steps)} minutes, the model's ${step_minutes}`)
  }
}

/**
 * The forecast of a plant. Quantiles of its total hold for a day, which is what `total_scale` was
 * learnt from; give whole days, which the features look at. Throws a RangeError for steps that
 * overlap, descend or are not as long as those that were learnt from.
 */
export function predictProduction(
  model: ProductionModel,
  question: ProductionQuestion,
): ProductionForecast {
  requireSteps(question.steps)
  const { physics, quantiles } = productionQuantiles(model, question)
  const { total_scale } = model
  return productionForecast({ ...question, physics, quantiles, total_scale, is_trained: true })
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
