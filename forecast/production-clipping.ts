/**
 * Clipped steps are not learnt from, as their potential is unknown. A model of the other steps
 * underestimates bright hours: the probability of clipping at such irradiance must be added back.
 */
import { quantile_levels } from './production-forecast.ts'

/** Probability of clipping by the power of physics. */
export interface ClippingCurve {
  /** Share of steps, 0 to 1, never falling, for each tenth of the rated power from 0 on. */
  shares: readonly number[]
}

const bin_ratio = 0.1
const bins = 20
const full_parts = [0.2, 0.4, 0.6, 0.8, 1]

export function fitClipping(
  potential_ratio: Float64Array,
  is_clipped: readonly boolean[],
): ClippingCurve {
  const counts = Array.from({ length: bins }, () => ({ clipped: 0, all: 0 }))
  for (const [i, potential] of potential_ratio.entries()) {
    const bin = counts[binOf(potential)]!
    bin.all += 1
    if (is_clipped[i]) bin.clipped += 1
  }
  return { shares: risingShares(counts) }
}

const binOf = (potential_ratio: number): number =>
  Math.min(bins - 1, Math.max(0, Math.floor(potential_ratio / bin_ratio)))

/**
 * The closest never falling shares: falling neighbours are pooled (M. Ayer et al., "An empirical
 * distribution function for sampling with incomplete information", Annals of Mathematical
 * Statistics 26(4), 1955). A bin without steps has the share of the bin before.
 */
function risingShares(counts: readonly { clipped: number; all: number }[]): number[] {
  const pools: { clipped: number; all: number; width: number }[] = []
  for (const count of counts) {
    let pool = { ...count, width: 1 }
    for (let last = pools.at(-1); last !== undefined; last = pools.at(-1)) {
      if (pool.all > 0 && last.clipped * pool.all <= pool.clipped * last.all) break
      pools.pop()
      pool = {
        clipped: last.clipped + pool.clipped,
        all: last.all + pool.all,
        width: last.width + pool.width,
      }
    }
    pools.push(pool)
  }
  return pools.flatMap(({ clipped, all, width }) =>
    Array.from({ length: width }, () => (all > 0 ? clipped / all : 0)),
  )
}

/**
 * Adds clipping to the quantiles of unclipped steps, as a mixture by the curve. Inverters that clip
 * for a part of a step have a power between that of physics (or the median of the other steps, if
 * higher) and the rated power. In place; columns of `quantiles` are those of `quantile_levels`,
 * rows those of the ratios.
 */
export function addClipping(
  quantiles: readonly Float64Array[],
  curve: ClippingCurve,
  physics: { potential_ratio: Float64Array; ac_ratio: Float64Array },
): void {
  const median = quantiles[quantile_levels.indexOf(0.5)]!
  for (const [row, potential] of physics.potential_ratio.entries()) {
    const share = curve.shares[binOf(potential)]!
    if (share <= 0) continue
    const free = quantiles.map((column) => column[row]!)
    const least = Math.max(physics.ac_ratio[row]!, median[row]!)
    const full = full_parts.map((part) => least + part * (1 - least))
    const mixed = weightedQuantiles(
      [...free, ...full],
      [...free.map(() => (1 - share) / free.length), ...full.map(() => share / full.length)],
      quantile_levels,
    )
    for (const [level, column] of quantiles.entries()) column[row] = mixed[level]!
  }
}

/**
 * The smallest value at which each level, 0 to 1, of the total weight is reached. Levels ascend;
 * values come in any order, at least one, with weights of at least 0.
 */
function weightedQuantiles(
  values: readonly number[],
  weights: readonly number[],
  levels: readonly number[],
): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]!)
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  let at = 0
  let passed = weights[order[0]!]!
  return levels.map((level) => {
    // Rounding may leave a sum of weights slightly below its level.
    while (passed < level * whole * (1 - 1e-12) && at < order.length - 1) {
      at += 1
      passed += weights[order[at]!]!
    }
    return values[order[at]!]!
  })
}
