/** How good forecasts of production are, and what they have to beat. */

import { type Plant, type Step, stepHours } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import { quantile_levels, threeQuantiles } from './production-forecast.ts'
import { isScorable, type ProductionSample } from './production-samples.ts'
import {
  bias,
  coverage,
  crpsOfQuantiles,
  meanAbsoluteError,
  meanPinballLoss,
  rootMeanSquareError,
  skill,
} from './scores.ts'

/** Over daylight steps. Errors of the median; shares of the rated power where said. */
export interface ProductionScores {
  sample_count: number
  mae_kw: number
  rmse_kw: number
  nmae_pct: number
  nrmse_pct: number
  /** Mean of forecast less actual. */
  mbe_kw: number
  /** Share of the variance that is explained; null where there is none. */
  r2: number | null
  crps_kw: number
  /** Mean of P10, P50 and P90. */
  pinball_loss_kw: number
  p10_p90_coverage_pct: number
  /** Of the mean absolute error; null without a persistence forecast. */
  skill_vs_persistence_pct: number | null
}

/** Forecasts in rows, shares of the rated power, and what came of them. */
export interface ScoredForecasts {
  /** A column for each of `quantile_levels`. */
  quantiles: readonly Float64Array[]
  actual: Float64Array
  /** NaN where there is none; such rows count for everything but the skill. */
  persistence: Float64Array
  rated_power_kw: number
}

/** Null where there are no rows. */
export function scoreProduction(forecasts: ScoredForecasts): ProductionScores | null {
  const { quantiles, actual, persistence, rated_power_kw } = forecasts
  const { p10, p50, p90 } = threeQuantiles(quantiles)
  const mae = meanAbsoluteError(actual, p50)
  if (mae === null) return null
  const kw = (ratio: number | null) => (ratio ?? Number.NaN) * rated_power_kw
  const rmse = rootMeanSquareError(actual, p50)!
  const compared = p50.map((value, row) => (Number.isNaN(persistence[row]!) ? Number.NaN : value))
  const gain = skill(meanAbsoluteError(actual, compared), meanAbsoluteError(actual, persistence))
  return {
    sample_count: actual.length,
    mae_kw: kw(mae),
    rmse_kw: kw(rmse),
    nmae_pct: 100 * mae,
    nrmse_pct: 100 * rmse,
    mbe_kw: kw(bias(actual, p50)),
    r2: explainedShare(actual, rmse),
    crps_kw: kw(crpsOfQuantiles(actual, quantiles, quantile_levels)),
    pinball_loss_kw: kw(meanPinballLoss(actual, [p10, p50, p90], [0.1, 0.5, 0.9])),
    p10_p90_coverage_pct: 100 * coverage(actual, p10, p90)!,
    skill_vs_persistence_pct: gain === null ? null : 100 * gain,
  }
}

function explainedShare(actual: Float64Array, rmse: number): number | null {
  const mean = actual.reduce((sum, value) => sum + value, 0) / actual.length
  const variance = actual.reduce((sum, value) => sum + (value - mean) ** 2, 0) / actual.length
  return variance > 0 ? 1 - (rmse * rmse) / variance : null
}

const day_ms = 24 * 3_600_000
/** How many days further back a hole is filled from. */
const days_back_max = 7
/** Lower than this the sun says nothing of the sky. */
const clear_min_ratio = 0.02
/** More than this above the clear sky is dawn, not sky. */
const index_max = 1.3

/**
 * Smart persistence, power over rated power: the clear-sky index of the same time of the last day
 * that was known when the forecast was issued, `lead_time_h` before the step (yesterday for leads
 * of less than a day), on the clear sky of the step. Where that was not measured or the sun was too
 * low, the day before it, up to a week. 0 at night, NaN where nothing was measured. T. E. Hoff and
 * R. Perez, "Modeling PV fleet output variability", Solar Energy 86(8), 2012, name it so.
 */
export function smartPersistence(
  plant: Plant,
  steps: readonly Step[],
  lead_time_h: readonly number[],
  known: readonly ProductionSample[],
): Float64Array {
  const measured = new Map<number, ProductionSample>()
  for (const sample of known) if (isScorable(sample)) measured.set(sample.start_ms, sample)
  const physics = plantPhysics(
    plant,
    steps,
    steps.map(() => null),
  )
  const index = clearSkyIndexes(plant, [...measured.values()])
  return Float64Array.from(steps, (step, i) => {
    if (physics.is_night[i] === 1) return 0
    const nearest = Math.max(1, Math.ceil((lead_time_h[i]! + stepHours(step)) / 24))
    for (let days = nearest; days < nearest + days_back_max; days++) {
      const found = index.get(step.start_ms - days * day_ms)
      if (found !== undefined) return Math.min(1, found * physics.clear_ratio[i]!)
    }
    return Number.NaN
  })
}

function clearSkyIndexes(plant: Plant, samples: readonly ProductionSample[]) {
  const physics = plantPhysics(
    plant,
    samples,
    samples.map(() => null),
  )
  const indexes = new Map<number, number>()
  for (const [i, sample] of samples.entries()) {
    const clear = physics.clear_ratio[i]!
    if (clear < clear_min_ratio) continue
    const power = sample.available_kwh! / stepHours(sample) / plant.rated_power_kw
    indexes.set(sample.start_ms, Math.min(index_max, Math.max(0, power / clear)))
  }
  return indexes
}
