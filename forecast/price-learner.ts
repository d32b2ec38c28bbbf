import { type FeatureTable, takeElements, takeRows } from './feature-table.ts'
import { type BoostedTrees, predictBoosting, trainBoosting } from './gradient-boosting.ts'
import {
  curveMean,
  type DayPeriod,
  type MarketDay,
  minutesOf,
  resolutionMinutes,
} from './market-days.ts'
import {
  type Driver,
  dayFeatures,
  destabilise,
  type KnownCurves,
  knownCurves,
  knownDrivers,
  type PriceScale,
  periodFeatures,
  stabilise,
  usualCurve,
} from './price-features.ts'
import type { PriceQuantiles } from './price-intervals.ts'
import { predictRidge, type Ridge, trainRidge } from './ridge.ts'

/** Survives structuredClone. Prices are transformed by `scale`. */
export interface LearnedPrices {
  scale: PriceScale
  drivers: readonly Driver[]
  /** Resolution of `ridges`, minutes. */
  slot_minutes: number
  /** One per calibration window, the shortest first. */
  ridges: readonly Ridge[]
  /** Trees of the difference to the usual price. */
  price_trees: BoostedTrees
  /** Trees of the residuals of the ridge with the longest window, at P10, P50 and P90. */
  rest_trees: readonly [BoostedTrees, BoostedTrees, BoostedTrees]
  /** Weight of the models, 0 to 1; the rest is the usual price. */
  weight: number
}

export const boosted_trees = 250
/** Calibration windows; the longest limits the training data. */
export const windows_days = [84, 364, 1092] as const
const penalty = 60
const boosting = { learning_rate: 0.07, leaves: 16, min_leaf: 20, column_share: 0.25 }
const slots_minutes = [15, 30, 60] as const
const tree_rows_max = 16_000
const row_share_max = 0.6
/** With fewer days trees overfit single days: fewer trees with larger leaves. */
const full_days = 364
const leaf_days = 3
const days_looked_at = 21

/**
 * Minimum spread of a forecast relative to that of prices: trees with few data sometimes have none,
 * and relative errors would be unbounded.
 */
const spread_share_min = 0.1

/**
 * Learns from `priced` days, ascending, that have other days before them. P50 is the mean of three:
 * linear models of several calibration windows (LEAR without its lasso, J. Lago et al., Applied
 * Energy 293, 2021), boosted trees, and the linear model of the longest window with trees on its
 * residuals of left-out days. If the mean proves weak it is drawn towards the usual price. Throws a
 * RangeError if no day is left.
 */
export function learnPrices(
  days: readonly MarketDay[],
  priced: readonly MarketDay[],
  { scale, trees, random }: { scale: PriceScale; trees: number; random: () => number },
): LearnedPrices {
  const curves = knownCurves(days, scale)
  const learned = priced.filter(({ day }) => usualCurve(curves, day) !== null)
  const newest = learned.at(-1)
  if (!newest) throw new RangeError('days: none has prices in the two weeks before it')
  const drivers = knownDrivers(learned)
  const resolution_minutes = resolutionMinutes(newest)
  const slot_minutes = slots_minutes.find((minutes) => minutes >= resolution_minutes) ?? 60
  const linear = fitRidges(learned, curves, drivers, slot_minutes)
  const table = periodFeatures(curves, learned, drivers)
  const usual = usualPrices(curves, learned)
  const share = Math.min(1, learned.length / full_days)
  const rows = treeRows(table, learned, { usual, left_out: linear.left_out, slot_minutes, scale })
  const day_rows = rows.table.rows / learned.length
  const growth = {
    trees: Math.max(1, Math.round(share * trees)),
    min_leaf: Math.max(boosting.min_leaf, Math.round((1 - share) * leaf_days * day_rows)),
  }
  const grown = fitTrees(rows, growth, random)
  // Left-out days have neighbours on both sides; the next day, with nothing known of it, has none.
  const weight_max = drivers.length > 0 ? 1 : (1 + share) / 2
  const weight = Math.min(weight_max, weightOf(rows))
  return { scale, drivers, slot_minutes, ridges: linear.ridges, ...grown, weight }
}

/** Quantiles before calibration, in order, of each period of a day. */
export function learnedQuantiles(
  { scale, drivers, slot_minutes, ...learned }: LearnedPrices,
  known: readonly MarketDay[],
  day: MarketDay,
): PriceQuantiles[] {
  const past = known.filter((other) => other.day < day.day && other.day >= day.day - days_looked_at)
  const curves = knownCurves([...past, { ...day, price: null }], scale)
  const usual = usualPrices(curves, [day])
  if (usual.includes(Number.NaN)) throw new RangeError('known: no prices of the two weeks before')
  const day_table = dayFeatures(curves, [day.day], drivers)
  const linear = learned.ridges.map((ridge) => predictRidge(ridge, day_table))
  const [longest] = linear.slice(-1)
  const ofSlots = (slots: readonly Float64Array[], i: number) =>
    slotMean(slots, 0, day.periods[i]!, slot_minutes)
  const expected = Float64Array.from(day.periods, (_, i) => ofSlots(longest!, i))
  const table = withExpected(periodFeatures(curves, [day], drivers), expected)
  const trees = predictBoosting(learned.price_trees, table)
  const rests = learned.rest_trees.map((boosted) => predictBoosting(boosted, table))
  const spread_min = spread_share_min * scale.spread
  return day.periods.map((_, i) => {
    const price = (value: number) => destabilise(value, scale)
    const of_windows = linear.map((slots) => price(ofSlots(slots, i)))
    const of_rest = rests.map((rest) => price(expected[i]! + rest[i]!))
    const found = (meanOf(of_windows) + price(usual[i]! + trees[i]!) + of_rest[1]!) / 3
    const p50 = learned.weight * found + (1 - learned.weight) * price(usual[i]!)
    return {
      p10: p50 - Math.max(spread_min, of_rest[1]! - of_rest[0]!),
      p50,
      p90: p50 + Math.max(spread_min, of_rest[2]! - of_rest[1]!),
    }
  })
}

/** Linear models of all windows, and the left-out predictions of the longest, by slot. */
function fitRidges(
  days: readonly MarketDay[],
  curves: KnownCurves,
  drivers: readonly Driver[],
  slot_minutes: number,
): { ridges: Ridge[]; left_out: readonly Float64Array[] } {
  const table = dayFeatures(
    curves,
    days.map(({ day }) => day),
    drivers,
  )
  const targets = Array.from({ length: 1440 / slot_minutes }, (_, slot) =>
    Float64Array.from(days, ({ day }) =>
      curveMean(curves.get(day)!.price!, slot * slot_minutes, slot_minutes),
    ),
  )
  const starts = windows_days.map((window) => Math.max(0, days.length - window))
  const fits = [...new Set(starts)].map((start) => {
    const positions = Array.from({ length: days.length - start }, (_, i) => start + i)
    const of_window = targets.map((target) => target.subarray(start))
    return trainRidge(takeRows(table, positions), of_window, penalty)
  })
  return { ridges: fits.map(({ model }) => model), left_out: fits.at(-1)!.left_out }
}

/** Training rows of trees: periods with prices, all transformed. */
interface TreeRows {
  table: FeatureTable
  prices: Float64Array
  usual: Float64Array
  expected: Float64Array
}

function treeRows(
  features: FeatureTable,
  days: readonly MarketDay[],
  of: {
    usual: Float64Array
    left_out: readonly Float64Array[]
    slot_minutes: number
    scale: PriceScale
  },
): TreeRows {
  const ofPeriods = (ofPeriod: (period: DayPeriod, row: number) => number) =>
    Float64Array.from(
      days.flatMap(({ periods }, row) => periods.map((period) => ofPeriod(period, row))),
    )
  const expected = ofPeriods((period, row) => slotMean(of.left_out, row, period, of.slot_minutes))
  const prices = ofPeriods(({ price_per_mwh }) =>
    price_per_mwh === null ? Number.NaN : stabilise(price_per_mwh, of.scale),
  )
  const known = [...prices.keys()].filter((row) => !Number.isNaN(prices[row]!))
  return {
    table: takeRows(withExpected(features, expected), known),
    prices: takeElements(prices, known),
    usual: takeElements(of.usual, known),
    expected: takeElements(expected, known),
  }
}

/**
 * Weight of the linear model's difference to the usual price on left-out days, by least squares;
 * partial for a weak model. J. M. Bates and C. W. J. Granger, "The combination of forecasts",
 * Operational Research Quarterly 20(4), 1969.
 */
function weightOf({ prices, usual, expected }: TreeRows): number {
  let [common, own] = [0, 0]
  for (let row = 0; row < prices.length; row++) {
    const told = expected[row]! - usual[row]!
    common += told * (prices[row]! - usual[row]!)
    own += told ** 2
  }
  return own > 0 ? Math.min(1, Math.max(0, common / own)) : 0
}

function fitTrees(
  { table, prices, usual, expected }: TreeRows,
  growth: { trees: number; min_leaf: number },
  random: () => number,
): Pick<LearnedPrices, 'price_trees' | 'rest_trees'> {
  const row_share = Math.min(row_share_max, tree_rows_max / table.rows)
  const train = (quantile: number, start: Float64Array) =>
    trainBoosting(
      table,
      prices.map((price, row) => price - start[row]!),
      { ...boosting, ...growth, row_share, quantile },
      random,
    )
  return {
    price_trees: train(0.5, usual),
    rest_trees: [train(0.1, expected), train(0.5, expected), train(0.9, expected)],
  }
}

function slotMean(
  slots: readonly Float64Array[],
  row: number,
  period: DayPeriod,
  slot_minutes: number,
): number {
  const first = Math.floor(period.clock_minute / slot_minutes)
  const end = Math.ceil((period.clock_minute + minutesOf(period)) / slot_minutes)
  return meanOf(slots.slice(first, Math.max(end, first + 1)).map((slot) => slot[row]!))
}

/** Usual price of each period at its time; NaN if there is none. */
function usualPrices(curves: KnownCurves, days: readonly MarketDay[]): Float64Array {
  return Float64Array.from(
    days.flatMap(({ day, periods }) => {
      const usual = usualCurve(curves, day)
      return periods.map((period) =>
        usual ? curveMean(usual, period.clock_minute, minutesOf(period)) : Number.NaN,
      )
    }),
  )
}

function withExpected(table: FeatureTable, expected: Float64Array): FeatureTable {
  return {
    names: [...table.names, 'expected_price'],
    columns: [...table.columns, expected],
    rows: table.rows,
  }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
