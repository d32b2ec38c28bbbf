/** How good forecasts were, as sums: those of a window are the sums of its days. */

/** A step that was forecast and whose outcome is known, kW. */
export interface ScoredStep {
  p10_kw: number
  p50_kw: number
  p90_kw: number
  actual_kw: number
  /** What smart persistence would have said; null where it had nothing to go by. */
  persistence_kw: number | null
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
  /** Of those for which persistence is known: its error, and that of the forecast. */
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

/** Below this part of rated power an error in percent says little. */
const relative_min_ratio = 0.05

export function sumsOf(step: ScoredStep, rated_kw: number): ScoreSums {
  const { p10_kw, p50_kw, p90_kw, actual_kw, persistence_kw } = step
  const error = p50_kw - actual_kw
  const is_relative = actual_kw >= relative_min_ratio * rated_kw
  const is_persistent = persistence_kw !== null
  return {
    count: 1,
    hindcasts: step.is_hindcast ? 1 : 0,
    curtailed: 0,
    abs_error: Math.abs(error),
    squared_error: error ** 2,
    error,
    pinball: pinballOf(step),
    inside: actual_kw >= p10_kw && actual_kw <= p90_kw ? 1 : 0,
    actual: actual_kw,
    squared_actual: actual_kw ** 2,
    relative_count: is_relative ? 1 : 0,
    relative_error: is_relative ? Math.abs(error) / actual_kw : 0,
    persistence_count: is_persistent ? 1 : 0,
    persistence_abs_error: is_persistent ? Math.abs(persistence_kw - actual_kw) : 0,
    persistent_abs_error: is_persistent ? Math.abs(error) : 0,
  }
}

/** Mean over P10, P50 and P90: R. Koenker and G. Bassett, Econometrica 46(1), 1978. */
export function pinballOf({
  p10_kw,
  p50_kw,
  p90_kw,
  actual_kw,
}: Omit<ScoredStep, 'persistence_kw' | 'is_hindcast'>) {
  const loss = (quantile: number, level: number) => {
    const over = actual_kw - quantile
    return over >= 0 ? level * over : (level - 1) * over
  }
  return (loss(p10_kw, 0.1) + loss(p50_kw, 0.5) + loss(p90_kw, 0.9)) / 3
}

/** What a window of sums says; null where it has no steps. */
export interface Scores {
  mae: number | null
  rmse: number | null
  bias: number | null
  mape_pct: number | null
  r2: number | null
  pinball: number | null
  coverage_pct: number | null
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
