/** Calibrates trees and physics together on days unknown to both. */
import { takeElements, takeRows } from './feature-table.ts'
import { errorsOfRows, physicalQuantiles } from './physical-forecast.ts'
import { stepHours } from './plant.ts'
import { takePhysics } from './plant-physics.ts'
import { utcDay } from './production-features.ts'
import {
  as_told,
  conformalScale,
  quantile_levels,
  type SpreadOutcome,
  type SpreadScale,
  stretchQuantiles,
  threeQuantiles,
} from './production-forecast.ts'
import { growTrees, type Prepared, predictTrees } from './production-trees.ts'
import { meanPinballLoss } from './scores.ts'

/** Histories up to this length are short: each fifth is held out in turn, not only the last. */
export const short_history_days_max = 120
const folds = 5
const tree_shares = [1, 0.75, 0.5, 0.25, 0] as const
/** Larger histories are thinned: every second quarter hour carries the same information. */
const folded_rows_max = 4000
const last_days_max = 60
/** Steps of a day share their error: their number counts as this many. */
const independent_per_day = 2
/** Minimum days for the correlation of errors within a day. */
const total_days_min = 15
/** Minimum spread, below any that matters: a larger one would make dawns count as certain. */
const spread_min_ratio = 1e-4
/** Days with a smaller learnt share of their clear sky have no total. */
const whole_day_ratio = 0.5

/** How a forecast is made of trees and physics. */
export interface Calibration {
  /** Share of trees, 0 to 1, in the mean with physics. */
  tree_share: number
  /** Factors for the spread of steps, and of a day's total. */
  step_scale: SpreadScale
  total_scale: SpreadScale
}

/** Rows to hold out together: of the last days only, if the history is long. */
function heldOut({ samples, usable, usable_days: days }: Prepared): number[][] {
  const dayOf = (row: number) => utcDay(samples[row]!)
  if (days.length > short_history_days_max) {
    const end = days.at(-1)! + 1
    const from = end - Math.min(last_days_max, (end - days[0]!) / folds)
    return [usable.filter((row) => dayOf(row) >= from)]
  }
  const foldOf = new Map(days.map((day, nth) => [day, Math.floor((nth * folds) / days.length)]))
  return [...Map.groupBy(usable, (row) => foldOf.get(dayOf(row))).values()]
}

/** Forecasts of held-out rows, by trees and by physics that have not seen them. */
function forecastUnseen(prepared: Prepared, random: () => number) {
  const parts = heldOut(prepared)
  const most = parts.length > 1 ? folded_rows_max : undefined
  const rows = parts.flat()
  const columns = () => quantile_levels.map(() => new Float64Array(rows.length))
  const by_trees = columns()
  const by_physics = columns()
  let at = 0
  for (const part of parts) {
    const held = new Set(part)
    const others = prepared.usable.filter((row) => !held.has(row))
    const errors = errorsOfRows(prepared, others)
    const { level } = errors
    const trees = growTrees(prepared, others, level, random, most)
    const potential_ratio = takeElements(prepared.physics.potential_ratio, part)
    const learnt = predictTrees(trees, takeRows(prepared.table, part), potential_ratio, level)
    const physical = physicalQuantiles(takePhysics(prepared.physics, part), () => errors)
    for (const [level, column] of learnt.entries()) by_trees[level]!.set(column, at)
    for (const [level, column] of physical.entries()) by_physics[level]!.set(column, at)
    at += part.length
  }
  return { rows, by_trees, by_physics }
}

/** The share of trees, of those tried, with the least loss on days unknown to both. */
function bestShare(
  actual: Float64Array,
  by_trees: readonly Float64Array[],
  by_physics: readonly Float64Array[],
): number {
  const losses = tree_shares.map((share) => {
    const { p10, p50, p90 } = threeQuantiles(mixQuantiles(by_trees, by_physics, share))
    return meanPinballLoss(actual, [p10, p50, p90], [0.1, 0.5, 0.9])!
  })
  return tree_shares[losses.indexOf(Math.min(...losses))]!
}

/** The mean of two quantile functions, weighted by the share of the first. */
export function mixQuantiles(
  first: readonly Float64Array[],
  second: readonly Float64Array[],
  share: number,
): Float64Array[] {
  return first.map((column, level) =>
    column.map((value, i) => share * value + (1 - share) * second[level]![i]!),
  )
}

/**
 * Calibrates trees on days unknown to them: the last fifth of the history (60 days at most), or
 * each fifth in turn for up to 120 days, as in R. F. Barber et al., "Predictive inference with the
 * jackknife+", Annals of Statistics 49(1), 2021, section 3. First their share beside physics, then
 * the spread of both together by step and by day.
 */
export function calibrate(prepared: Prepared, random: () => number): Calibration {
  const { rows, by_trees, by_physics } = forecastUnseen(prepared, random)
  const actual = takeElements(prepared.target, rows)
  const tree_share = bestShare(actual, by_trees, by_physics)
  const quantiles = mixQuantiles(by_trees, by_physics, tree_share)
  const outcomes = () => {
    const { p10, p50, p90 } = threeQuantiles(quantiles)
    return rows.map((_, i) => ({ p10: p10[i]!, p50: p50[i]!, p90: p90[i]!, actual: actual[i]! }))
  }
  const step_scale = conformalScale(
    outcomes(),
    spread_min_ratio,
    independent_per_day * new Set(rows.map((row) => utcDay(prepared.samples[row]!))).size,
  )
  stretchQuantiles(quantiles, step_scale)
  const totals = dayTotals(prepared, rows, outcomes())
  return {
    tree_share,
    step_scale,
    total_scale:
      totals.length < total_days_min ? as_told : conformalScale(totals, spread_min_ratio),
  }
}

/** Sums of the days with enough learnt light, in hours at rated power. */
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
