/** Calibrates the spread of trees on days unknown to them. */
import { predictBlend } from './blended-trees.ts'
import { takeRows } from './feature-table.ts'
import { stepHours } from './plant.ts'
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
import { growTrees, type Prepared } from './production-trees.ts'

/** Histories up to this length are short: each fifth is held out in turn, not only the last. */
export const short_history_days_max = 120
const folds = 5
/** Larger histories are thinned: every second quarter hour carries the same information. */
const folded_rows_max = 4000
const last_days_max = 60
/** Minimum days for the correlation of errors within a day. */
const total_days_min = 15
/** Minimum spread, below any that matters: a larger one would make dawns count as certain. */
const spread_min_ratio = 1e-4
/** Days with a smaller learnt share of their clear sky have no total. */
const whole_day_ratio = 0.5

/** Factors for the spread of steps and of a day's total by trees. */
export interface Spread {
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

/** Predictions of trees grown without the held-out rows. */
function forecastUnseen(prepared: Prepared, random: () => number) {
  const parts = heldOut(prepared)
  const most = parts.length > 1 ? folded_rows_max : undefined
  const rows = parts.flat()
  const quantiles = quantile_levels.map(() => new Float64Array(rows.length))
  let at = 0
  for (const part of parts) {
    const held = new Set(part)
    const others = prepared.usable.filter((row) => !held.has(row))
    const trees = growTrees(prepared, others, random, most)
    const told = predictBlend(trees, takeRows(prepared.table, part), quantile_levels)
    for (const [level, column] of quantiles.entries()) column.set(told[level]!, at)
    at += part.length
  }
  return { rows, quantiles }
}

/**
 * Calibrates the spread of trees by step and by day on days unknown to them: the last fifth of the
 * history (60 days at most), or each fifth in turn for up to 120 days, as in R. F. Barber et al.,
 * "Predictive inference with the jackknife+", Annals of Statistics 49(1), 2021, section 3.
 */
export function calibrateSpread(prepared: Prepared, random: () => number): Spread {
  const { rows, quantiles } = forecastUnseen(prepared, random)
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
