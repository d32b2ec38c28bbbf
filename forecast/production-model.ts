/**
 * A model of a plant's production by forecast weather, learnt from its own history: boosted trees
 * and a quantile forest on physics features, with conformal spread.
 */
import { deserialize, serialize } from 'node:v8'
import type { BlendedTrees } from './blended-trees.ts'
import { takeElements, takeRows } from './feature-table.ts'
import { errorsOfRows, type PhysicalErrors, physicalQuantiles } from './physical-forecast.ts'
import { type Plant, requireSteps, type Step, stepHours } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import { addClipping, type ClippingCurve, fitClipping } from './production-clipping.ts'
import { productionFeatures, utcDay } from './production-features.ts'
import {
  type Confidence,
  type ProductionForecast,
  productionForecast,
  stretchQuantiles,
} from './production-forecast.ts'
import type { ProductionSample, StepAhead } from './production-samples.ts'
import { type Calibration, calibrate, mixQuantiles } from './production-spread.ts'
import { growTrees, type Prepared, predictTrees, prepare } from './production-trees.ts'
import { clampQuantiles } from './quantiles.ts'

interface ProductionFacts {
  step_minutes: number
  trained_from_ms: number
  trained_to_ms: number
  sample_count: number
  day_count: number
  /** Excluded daylight samples by reason; `no_weather` had no forecast. */
  excluded: Prepared['excluded']
}

/** Result of a model on days held out of its training. */
interface ProductionTrial {
  /** Share of outcomes from P10 to P90. */
  coverage_pct: number
  /** The tried model, if it was trained again on those days since; null: this model. */
  tried: ProductionModel | null
}

/** Plain data and typed arrays: survives structuredClone. */
export interface ProductionModel extends Calibration {
  kind: 'production'
  format: typeof model_format
  trees: BlendedTrees
  clipping: ClippingCurve
  physical_errors: PhysicalErrors
  facts: ProductionFacts
  trial: ProductionTrial | null
}

/** Incremented when the meaning of a stored model changes. */
const model_format = 3

/** Minimum training days; a hold-out shows whether the model beats physics. */
const training_days_min = 10
const training_hours_min = 60
/** Required coverage for medium and high confidence; see `confidenceMax`. */
const medium_coverage_min_pct = 60
const high_coverage_min_pct = 70
const high_days_min = 60

interface Training {
  /** Usable daylight samples. */
  sample_count: number
  /** null: fewer than 60 hours, or on fewer than 10 days. */
  model: ProductionModel | null
}

/**
 * Learns a plant from its samples, all with steps of one length. Samples excluded by `exclusionOf`,
 * nights and steps without weather are not learnt from. The spread is calibrated on days unknown to
 * the trees (`calibrate`); then the trees are grown again on all days. Samples of any age
 * have equal weight. `random` gives 0 to below 1. Throws a RangeError for steps of different
 * lengths, and for a plant without capacity.
 */
export function trainProduction(
  samples: readonly ProductionSample[],
  plant: Plant,
  random: () => number,
): Training {
  const prepared = prepare(samples, plant)
  const { usable, usable_days } = prepared
  // A step with the weather of several lead times counts once.
  const steps = new Map(usable.map((row) => [samples[row]!.start_ms, samples[row]!]))
  const usable_h = [...steps.values()].reduce((sum, step) => sum + stepHours(step), 0)
  const is_enough = usable_h >= training_hours_min && usable_days.length >= training_days_min
  return {
    sample_count: usable.length,
    model: is_enough ? learn(prepared, calibrate(prepared, random), random) : null,
  }
}

/**
 * Learns the model again with days since its training, keeping its spread; samples include those of
 * its training. Throws a RangeError for steps of another length.
 */
export function renewProduction(
  { tree_share, step_scale, total_scale, facts }: ProductionModel,
  samples: readonly ProductionSample[],
  plant: Plant,
  random: () => number,
): ProductionModel {
  requireLength(samples, facts)
  return learn(prepare(samples, plant), { tree_share, step_scale, total_scale }, random)
}

function learn(
  prepared: Prepared,
  calibration: Calibration,
  random: () => number,
): ProductionModel {
  const { samples, usable } = prepared
  const step_minutes = stepMinutes(samples)
  const trained_from_ms = usable.reduce((ms, row) => Math.min(ms, samples[row]!.start_ms), Infinity)
  const trained_to_ms = usable.reduce((ms, row) => Math.max(ms, samples[row]!.end_ms), 0)
  const physical_errors = errorsOfRows(prepared, usable)
  return {
    kind: 'production',
    format: model_format,
    trees: growTrees(prepared, usable, physical_errors.level, random),
    clipping: clippingOf(prepared),
    ...calibration,
    physical_errors,
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

/** Throws a RangeError for steps that are not as long as those of the model. */
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
 * The forecast of a plant. Quantiles of its total are calibrated for a day, and features use whole
 * days: give whole days. Steps without irradiance are forecast by physics. Throws a RangeError for
 * steps that overlap, descend or are not as long as those of the training.
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
  const potential_ratio = takeElements(physics.potential_ratio, rows)
  const learnt = mixQuantiles(
    predictTrees(model.trees, takeRows(table, rows), potential_ratio, model.physical_errors.level),
    quantiles.map((column) => takeElements(column, rows)),
    model.tree_share,
  )
  stretchQuantiles(learnt, model.step_scale)
  addClipping(learnt, model.clipping, {
    potential_ratio,
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
 * Confidence proven on unknown days, where 80 % of outcomes should lie from P10 to P90: medium from
 * 60 %, high from 70 %, with at least 60 days to learn from. A model without a trial has that of
 * physics. Skill does not count: a model without skill is not used.
 */
function confidenceMax({ facts, trial }: ProductionModel): Confidence {
  if (trial === null) return 'medium'
  const { coverage_pct } = trial
  if (coverage_pct < medium_coverage_min_pct) return 'low'
  const is_proven = coverage_pct >= high_coverage_min_pct && facts.day_count >= high_days_min
  return is_proven ? 'high' : 'medium'
}

/** A model as bytes in the format of structured clone, which newer versions of Node read. */
export function serialiseProduction(model: ProductionModel): Buffer {
  return serialize(model)
}

/** The model of `serialiseProduction`. Throws an Error for other bytes. */
export function deserialiseProduction(bytes: Uint8Array): ProductionModel {
  const model: unknown = deserialize(bytes)
  const { kind, format } = (model ?? {}) as Partial<ProductionModel>
  if (kind !== 'production' || format !== model_format) {
    throw new Error(`bytes: not a production model of format ${model_format}`)
  }
  return model as ProductionModel
}
