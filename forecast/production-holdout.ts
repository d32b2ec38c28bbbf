/** Whether a model learnt anew is better than what is in use, on days that neither has seen. */
import { takeElements } from './feature-table.ts'
import { fitPhysicalErrors, physicalQuantiles } from './physical-forecast.ts'
import { type Plant, stepHours } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import { type ProductionModel, productionQuantiles, trainProduction } from './production-model.ts'
import { isScorable, type ProductionSample } from './production-samples.ts'
import { type ProductionScores, scoreProduction, smartPersistence } from './production-scores.ts'

export interface HoldOutOptions {
  /** The days from here on are kept from learning. */
  from_ms: number
  /** The model in use, learnt from what came before `from_ms` as well; null for none. */
  current: ProductionModel | null
}

/** Of the same steps: those after `from_ms` that were measured, in daylight and with weather. */
export interface HoldOut {
  /** Learnt from what came before. */
  model: ProductionModel
  scores: ProductionScores
  current: ProductionScores | null
  physical: ProductionScores
  /** Its continuous ranked probability score is above that of what is in use, or of physics. */
  is_worse: boolean
}

/**
 * Learns a plant from the older part of its history and puts the model to the test on the newer,
 * beside the model in use and physics, so that none is ever replaced by a worse one. Null where
 * nothing was measured in the newer part. Throws a RangeError where `trainability` finds the older
 * part too short, and when the model in use has seen the newer one.
 */
export function holdOut(
  samples: readonly ProductionSample[],
  plant: Plant,
  { from_ms, current }: HoldOutOptions,
  random: () => number,
): HoldOut | null {
  if (current !== null && current.facts.trained_to_ms > from_ms) {
    throw new RangeError('current: the model in use was learnt from the hold-out')
  }
  const before = samples.filter(({ end_ms }) => end_ms <= from_ms)
  const model = trainProduction(before, plant, random)
  const test = testOf(samples, plant, from_ms)
  const scores = test.scoreModel(model)
  const physical = test.scorePhysics(before)
  if (scores === null || physical === null) return null
  const in_use = current === null ? null : test.scoreModel(current)
  const to_beat_kw = Math.min(physical.crps_kw, in_use?.crps_kw ?? Infinity)
  return { model, scores, current: in_use, physical, is_worse: scores.crps_kw > to_beat_kw }
}

/** The steps of the hold-out, series by series, and ways to score forecasts of them. */
function testOf(samples: readonly ProductionSample[], plant: Plant, from_ms: number) {
  const held_out = samples.filter(({ start_ms }) => start_ms >= from_ms)
  const question = {
    plant,
    steps: held_out,
    weather: held_out.map(({ weather }) => weather),
    lead_time_h: held_out.map(({ lead_time_h }) => lead_time_h),
  }
  const physics = plantPhysics(plant, held_out, question.weather)
  const rows = [...held_out.keys()].filter(
    (row) =>
      physics.is_night[row] === 0 && held_out[row]!.weather !== null && isScorable(held_out[row]!),
  )
  const actual = Float64Array.from(rows, (row) => {
    const { available_kwh } = held_out[row]!
    return available_kwh! / stepHours(held_out[row]!) / plant.rated_power_kw
  })
  const persistence = takeElements(
    smartPersistence(plant, held_out, question.lead_time_h, samples),
    rows,
  )
  const score = (quantiles: readonly Float64Array[]) =>
    scoreProduction({
      quantiles: quantiles.map((column) => takeElements(column, rows)),
      actual,
      persistence,
      rated_power_kw: plant.rated_power_kw,
    })
  return {
    scoreModel: (model: ProductionModel) => score(productionQuantiles(model, question).quantiles),
    scorePhysics: (history: readonly ProductionSample[]) =>
      score(physicalQuantiles(physics, fitPhysicalErrors(history, plant))),
  }
}
