/** Scores of forecasts as sums, which add up over days. */
import { pinball } from './scores.ts'

interface ScoredStep {
  p10: number
  p50: number
  p90: number
  actual: number
  /** Forecast by persistence; null without data. */
  persistence: number | null
  is_hindcast: boolean
}

export interface ScoreSums {
  count: number
  hindcasts: number
  curtailed: number
  abs_error: number
  squared_error: number
  error: number
  pinball: number
  inside: number
  actual: number
  squared_actual: number
  relative_count: number
  relative_error: number
  persistence_count: number
  /** Errors of persistence, and of the forecast, over the steps with persistence. */
  persistence_abs_error: number
  persistent_abs_error: number
}

export const noSums: ScoreSums = {
  count: 0,
  hindcasts: 0,
  curtailed: 0,
  abs_error: 0,
  squared_error: 0,
  error: 0,
  pinball: 0,
  inside: 0,
  actual: 0,
  squared_actual: 0,
  relative_count: 0,
  relative_error: 0,
  persistence_count: 0,
  persistence_abs_error: 0,
  persistent_abs_error: 0,
}

const names = Object.keys(noSums) as (keyof ScoreSums)[]

export function addSums(a: ScoreSums, b: ScoreSums): ScoreSums {
  const sum = { ...a }
  for (const name of names) sum[name] += b[name]
  return sum
}

/** Below this share of rated power, relative errors are not computed. */
const relative_min_ratio = 0.05

/** `rated` is the maximum, in the unit of the step; 0 for prices, which have none. */
export function sumsOf(step: ScoredStep, rated: number): ScoreSums {
  const { p10, p50, p90, actual, persistence } = step
  const error = p50 - actual
  const is_relative = actual >= relative_min_ratio * rated
  const is_persistent = persistence !== null
  return {
    count: 1,
    hindcasts: step.is_hindcast ? 1 : 0,
    curtailed: 0,
    abs_error: Math.abs(error),
    squared_error: error ** 2,
    error,
    pinball:
      (pinball(actual, p10, 0.1) + pinball(actual, p50, 0.5) + pinball(actual, p90, 0.9)) / 3,
    inside: actual >= p10 && actual <= p90 ? 1 : 0,
    actual,
    squared_actual: actual ** 2,
    relative_count: is_relative ? 1 : 0,
    relative_error: is_relative ? Math.abs(error) / actual : 0,
    persistence_count: is_persistent ? 1 : 0,
    persistence_abs_error: is_persistent ? Math.abs(persistence - actual) : 0,
    persistent_abs_error: is_persistent ? Math.abs(error) : 0,
  }
}

/** Scores of a window of sums; null without steps. */
interface Scores {
  mae: number | null
  rmse: number | null
  /** Mean of P50 minus actual. */
  bias: number | null
  mape_pct: number | null
  /** Explained share of the variance; null without variance. */
  r2: number | null
  pinball: number | null
  /** Share of actual values from P10 to P90. */
  coverage_pct: number | null
  /** Reduction of the absolute error relative to persistence. */
  skill_pct: number | null
}

export function scoresOf(sums: ScoreSums): Scores {
  const { count } = sums
  const mean = (sum: number) => (count > 0 ? sum / count : null)
  const variance = sums.squared_actual - sums.actual ** 2 / Math.max(1, count)
  return {
    mae: mean(sums.abs_error),
    rmse: count > 0 ? Math.sqrt(sums.squared_error / count) : null,
    bias: mean(sums.error),
    mape_pct: sums.relative_count > 0 ? (100 * sums.relative_error) / sums.relative_count : null,
    r2: variance > 0 ? 1 - sums.squared_error / variance : null,
    pinball: mean(sums.pinball),
    coverage_pct: mean(100 * sums.inside),
    skill_pct:
      sums.persistence_abs_error > 0
        ? 100 * (1 - sums.persistent_abs_error / sums.persistence_abs_error)
        : null,
  }
}
