/**
 * A model of what a plant gives at a forecast of the weather, learnt from its own history: boosted
 * trees and a quantile forest on physics features, with conformal spread.
 */
import { deserialize, serialize } from 'node:v8'
import { type BlendedTrees, predictBlend } from './blended-trees.ts'
import { takeElements, takeRows } from './feature-table.ts'
import { fitPhysicalErrors, type PhysicalErrors, physicalQuantiles } from './physical-forecast.ts'
import { type Plant, requireSteps, type Step, stepHours } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import { addClipping, type ClippingCurve, fitClipping } from './production-clipping.ts'
import { productionFeatures, utcDay } from './production-features.ts'
import {
  type Confidence,
  type ProductionForecast,
  productionForecast,
  quantile_levels,
  stretchQuantiles,
} from './production-forecast.ts'
import type { ProductionSample, StepAhead } from './production-samples.ts'
import { calibrateSpread, type Spread } from './production-spread.ts'
import { growTrees, type Prepared, prepare } from './production-trees.ts'
import { clampQuantiles } from './quantiles.ts'

/** What a model was made of. */
interface ProductionFacts {
  step_minutes: number
  /** Of the samples that were learnt from. */
  trained_from_ms: number
  trained_to_ms: number
  sample_count: number
  day_count: number
  /** Daylight samples that were not learnt from, and why; `no_weather` had no forecast. */
  excluded: Prepared['excluded']
}

/** How a model did on days that were held out of its training. */
interface ProductionTrial {
  /** How many of a hundred outcomes lay from P10 to P90. */
  coverage_pct: number
  /** What was tried, where it was trained again on those days since; null: this very model. */
  tried: ProductionModel | null
}

/** Plain data and typed arrays: survives structuredClone. */
export interface ProductionModel extends Spread {
  kind: 'production'
  format: typeof model_format
  trees: BlendedTrees
  clipping: ClippingCurve
  /** For steps of which no weather is known. */
  physical_errors: PhysicalErrors
  facts: ProductionFacts
  /** null: none was made. */
  trial: ProductionTrial | null
}

/** Changes with what a stored model means. */
const model_format = 2

/** Fewer teach too little; whether those taught more than physics knows, days held out tell. */
const training_days_min = 20
const training_hours_min = 120
/** What forecasts have to reach for more than low and medium confidence; see `confidenceMax`. */
const medium_coverage_min_pct = 60
const high_coverage_min_pct = 70
const high_days_min = 60

interface Training {
  /** Samples of daylight that can be learnt from. */
  sample_count: number
  /** null: they are fewer than 120 hours, or lie on fewer than 20 days. */
  model: ProductionModel | null
}

/**
 * Learns a plant from its samples, all of steps of one length. Samples that `exclusionOf` names,
 * nights and steps without weather are not learnt from. How far the spread has to be stretched is
 * seen on days that trees were not grown on (`calibrateSpread`); then the trees are grown again on
 * all of them. Newer samples count as much as older ones. `random` gives 0 to below 1. Throws a
 * RangeError for steps of different lengths, and for a plant without capacity.
 */
export function trainProduction(
  samples: readonly ProductionSample[],
  plant: Plant,
  random: () => number,
): Training {
  const prepared = prepare(samples, plant)
  const { usable, usable_days } = prepared
  // A step by the weather of several leads is one.
  const steps = new Map(usable.map((row) => [samples[row]!.start_ms, samples[row]!]))
  const usable_h = [...steps.values()].reduce((sum, step) => sum + stepHours(step), 0)
  const is_enough = usable_h >= training_hours_min && usable_days.length >= training_days_min
  return {
    sample_count: usable.length,
    model: is_enough ? learn(prepared, calibrateSpread(prepared, random), random) : null,
  }
}

/**
 * The model learnt again with days that came since its training, by its own spread: samples are all
 * of its steps, those that it was learnt from among them. Throws a RangeError for steps of another
 * length.
 */
export function renewProduction(
  { step_scale, total_scale, facts }: ProductionModel,
  samples: readonly ProductionSample[],
  plant: Plant,
  random: () => number,
): ProductionModel {
  requireLength(samples, facts)
  return learn(prepare(samples, plant), { step_scale, total_scale }, random)
}

function learn(prepared: Prepared, spread: Spread, random: () => number): ProductionModel {
  const { samples, plant, usable } = prepared
  const step_minutes = stepMinutes(samples)
  const trained_from_ms = usable.reduce((ms, row) => Math.min(ms, samples[row]!.start_ms), Infinity)
  const trained_to_ms = usable.reduce((ms, row) => Math.max(ms, samples[row]!.end_ms), 0)
  return {
    kind: 'production',
    format: model_format,
    trees: growTrees(prepared, usable, random),
    clipping: clippingOf(prepared),
    ...spread,
    physical_errors: fitPhysicalErrors(samples, plant),
    facts: {
      step_minutes,
      trained_from_ms,
      trained_to_ms,
      sample_count: usable.length,
      day_count: prepared.usable_days.length,
      excluded: prepared.excluded,
    },
    trial: null,
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

/** Throws a RangeError for steps, if any, that are not as long as those of a model. */
function requireLength(steps: readonly Step[], { step_minutes }: ProductionFacts): void {
  if (steps.length > 0 && stepMinutes(steps) !== step_minutes) {
    throw new RangeError(`steps last ${stepMinutes(steps)} minutes, the model's ${step_minutes}`)
  }
}

function clippingOf({ samples, physics, scorable }: Prepared): ClippingCurve {
  return fitClipping(
    takeElements(physics.potential_ratio, scorable),
    scorable.map((row) => samples[row]!.is_clipped),
  )
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
  requireLength(steps, model.facts)
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
  const confidence_max = confidenceMax(model)
  return productionForecast({ plant, steps, physics, quantiles, total_scale, confidence_max })
}

/**
 * What the forecasts of a model have earned on days that it had not seen, where 80 of a hundred
 * outcomes are meant to lie from P10 to P90: from 60 on medium, from 70 on high, if there were at
 * least 60 days to learn from. A model that was never tried is trusted no more than physics. Skill
 * is no part of it: without it a model does not come into use.
 */
function confidenceMax({ facts, trial }: ProductionModel): Confidence {
  if (trial === null) return 'medium'
  const { coverage_pct } = trial
  if (coverage_pct < medium_coverage_min_pct) return 'low'
  const is_proven = coverage_pct >= high_coverage_min_pct && facts.day_count >= high_days_min
  return is_proven ? 'high' : 'medium'
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
