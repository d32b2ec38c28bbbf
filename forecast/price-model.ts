import { deserialize, serialize } from 'node:v8'
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
  priceScale,
  stabilise,
  usual_price,
} from './price-features.ts'
import {
  type CalibratedPrice,
  calibratePrices,
  calibration_days,
  observePrices,
  type PriceCalibration,
  type PriceQuantiles,
  uncalibrated,
} from './price-intervals.ts'
import { predictRidge, type Ridge, trainRidge } from './ridge.ts'

/** What forecasts the prices of a market's next day. Survives structuredClone. */
export interface PriceModel {
  kind: 'price_model'
  scale: PriceScale
  drivers: readonly Driver[]
  /** Length of the periods that `ridges` know apart, minutes. */
  slot_minutes: number
  /** Of each calibration window, the shortest first. */
  ridges: readonly Ridge[]
  /** Of the stabilised price less the usual one at that time. */
  price_trees: BoostedTrees
  /** Of what the ridge of the longest window leaves over, at P10, P50 and P90. */
  rest_trees: readonly [BoostedTrees, BoostedTrees, BoostedTrees]
  calibration: PriceCalibration
  trained_days: number
  /** The newest day that went into training, and into the calibration; days since 1970-01-01. */
  trained_to_day: number
  observed_to_day: number
}

export interface PriceForecast extends CalibratedPrice {
  start_ms: number
  end_ms: number
}

export interface TrainingOptions {
  /** Of the model before. */
  calibration?: PriceCalibration | undefined
  /** Trees of each of the four boosted models. */
  trees?: number | undefined
}

/** Fewer days of prices teach nothing that the price of yesterday does not. */
export const training_days_min = 28

const windows_days = [84, 364, 1092] as const
const scale_days = 84
const penalty = 60
const boosting = { trees: 250, learning_rate: 0.07, leaves: 16, min_leaf: 20, column_share: 0.25 }
const slots_minutes = [15, 30, 60] as const
/** Trees are grown on this many rows at most, drawn anew for each. */
const tree_rows_max = 16_000
const row_share_max = 0.6
/** No feature looks further back. */
const days_looked_at = 21

/**
 * Learns a market from its days, ascending: three years of them are used, four weeks are needed.
 * P50 is the mean of three: linear models of several calibration windows (LEAR without its lasso,
 * J. Lago et al., Applied Energy 293, 2021), boosted trees, and the linear
 * model of the longest window with trees on what it leaves over of days it has not seen.
 * Without the `calibration` of a model before, the last days, a quarter at most, are left out of a
 * first training to see how far off it is. `random` gives 0 to below 1. Throws a RangeError for
 * too few days.
 */
export function trainPriceModel(
  days: readonly MarketDay[],
  random: () => number,
  { calibration, trees = boosting.trees }: TrainingOptions = {},
): PriceModel {
  if (calibration) return fitModel(days, random, calibration, trees)
  const priced = days.filter(({ price }) => price !== null)
  const spare = Math.min(Math.floor(priced.length / 4), priced.length - training_days_min)
  const left_out = Math.min(calibration_days, spare)
  const first_left_out = priced.at(-left_out)
  if (left_out <= 0 || !first_left_out) return fitModel(days, random, uncalibrated, trees)
  const before = days.filter(({ day }) => day < first_left_out.day)
  const trial = priced
    .slice(-left_out)
    .reduce(
      (model, day) => observePriceDay(model, days, day),
      fitModel(before, random, uncalibrated, trees),
    )
  return fitModel(days, random, trial.calibration, trees)
}

/**
 * Forecasts each period of `day`, whose own prices are not looked at. Of `known` only days before
 * it are, three weeks of them; for days without prices stand the newest before them, so that a day
 * further ahead is forecast too. `day` has the drivers that the model was trained with, as forecast
 * before the auction; one that is missing counts as usual. Throws a RangeError where no day of the
 * last two weeks has prices.
 */
export function forecastPriceDay(
  model: PriceModel,
  known: readonly MarketDay[],
  day: MarketDay,
): PriceForecast[] {
  const calibrated = calibratePrices(rawForecast(model, known, day), model.calibration)
  return calibrated.map((quantiles, i) => {
    const { start_ms, end_ms } = day.periods[i]!
    return { start_ms, end_ms, ...quantiles }
  })
}

/**
 * The model with its calibration a day further, `day` with the prices that came. A day that it has
 * learned from or observed already, or that is older, changes nothing.
 */
export function observePriceDay(
  model: PriceModel,
  known: readonly MarketDay[],
  day: MarketDay,
): PriceModel {
  if (day.day <= model.observed_to_day) return model
  const raws = rawForecast(model, known, day)
  const prices = day.periods.map((period) => period.price_per_mwh)
  const priced = [...prices.keys()].filter((i) => prices[i] !== null)
  const calibration = observePrices(
    model.calibration,
    priced.map((i) => raws[i]!),
    priced.map((i) => prices[i]!),
  )
  return { ...model, calibration, observed_to_day: day.day }
}

/** A model as bytes, to be stored: structured clone's own format, which newer Nodes still read. */
export function serialisePriceModel(model: PriceModel): Buffer {
  return serialize(model)
}

/** The model of `serialisePriceModel`. Throws an Error for bytes that are none. */
export function deserialisePriceModel(bytes: Uint8Array): PriceModel {
  const model: unknown = deserialize(bytes)
  if (typeof model !== 'object' || !model || !('kind' in model) || model.kind !== 'price_model') {
    throw new Error('bytes: not a price model')
  }
  return model as PriceModel
}

function fitModel(
  days: readonly MarketDay[],
  random: () => number,
  calibration: PriceCalibration,
  tree_count: number,
): PriceModel {
  const priced = days.filter(({ price }) => price !== null).slice(-windows_days.at(-1)!)
  const newest = priced.at(-1)
  if (!newest || priced.length < training_days_min) {
    throw new RangeError(`days: ${priced.length} with prices, not ${training_days_min} or more`)
  }
  const scale = priceScale(priced.slice(-scale_days))
  const curves = knownCurves(days, scale)
  const drivers = knownDrivers(priced)
  const resolution_minutes = resolutionMinutes(newest)
  const slot_minutes = slots_minutes.find((minutes) => minutes >= resolution_minutes) ?? 60
  const linear = fitRidges(priced, curves, drivers, slot_minutes)
  const table = periodFeatures(curves, priced, drivers)
  const rows = treeRows(table, priced, linear.left_out, slot_minutes, scale)
  const trees = fitTrees(rows, tree_count, random)
  return {
    kind: 'price_model',
    scale,
    drivers,
    slot_minutes,
    ridges: linear.ridges,
    ...trees,
    calibration,
    trained_days: priced.length,
    trained_to_day: newest.day,
    observed_to_day: newest.day,
  }
}

/** The linear models of all windows, and what the longest's says to each day left out, by slot. */
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

/** What trees learn from: periods with prices, all of them stabilised. */
interface TreeRows {
  table: FeatureTable
  prices: Float64Array
  /** Of the week before at that time. */
  usual: Float64Array
  /** What the linear model says to the day when it has not seen it. */
  expected: Float64Array
}

function treeRows(
  features: FeatureTable,
  days: readonly MarketDay[],
  linear: readonly Float64Array[],
  slot_minutes: number,
  scale: PriceScale,
): TreeRows {
  const ofPeriods = (of: (period: DayPeriod, row: number) => number) =>
    Float64Array.from(days.flatMap(({ periods }, row) => periods.map((period) => of(period, row))))
  const expected = ofPeriods((period, row) => slotMean(linear, row, period, slot_minutes))
  const prices = ofPeriods(({ price_per_mwh }) =>
    price_per_mwh === null ? Number.NaN : stabilise(price_per_mwh, scale),
  )
  const usual = usualPrices(features)
  // The first day has none before it.
  const known = [...prices.keys()].filter((row) => !Number.isNaN(prices[row]! - usual[row]!))
  return {
    table: takeRows(withExpected(features, expected), known),
    prices: takeElements(prices, known),
    usual: takeElements(usual, known),
    expected: takeElements(expected, known),
  }
}

function fitTrees(
  { table, prices, usual, expected }: TreeRows,
  trees: number,
  random: () => number,
): Pick<PriceModel, 'price_trees' | 'rest_trees'> {
  const row_share = Math.min(row_share_max, tree_rows_max / table.rows)
  const train = (quantile: number, start: Float64Array) =>
    trainBoosting(
      table,
      prices.map((price, row) => price - start[row]!),
      { ...boosting, trees, row_share, quantile },
      random,
    )
  return {
    price_trees: train(0.5, usual),
    rest_trees: [train(0.1, expected), train(0.5, expected), train(0.9, expected)],
  }
}

/** Quantiles before their calibration, in order, of each period of a day. */
function rawForecast(
  model: PriceModel,
  known: readonly MarketDay[],
  day: MarketDay,
): PriceQuantiles[] {
  const { scale, drivers, slot_minutes } = model
  if (day.periods.length === 0) return []
  const past = known.filter((other) => other.day < day.day && other.day >= day.day - days_looked_at)
  const curves = knownCurves([...past, { ...day, price: null }], scale)
  const day_table = dayFeatures(curves, [day.day], drivers)
  const linear = model.ridges.map((ridge) => predictRidge(ridge, day_table))
  const [longest] = linear.slice(-1)
  const expected = day.periods.map((period) => slotMean(longest!, 0, period, slot_minutes))
  const features = periodFeatures(curves, [day], drivers)
  const table = withExpected(features, Float64Array.from(expected))
  const usual = usualPrices(table)
  if (usual.includes(Number.NaN)) throw new RangeError('known: no prices of the two weeks before')
  const trees = predictBoosting(model.price_trees, table)
  const rests = model.rest_trees.map((boosted) => predictBoosting(boosted, table))
  return day.periods.map((period, i) => {
    const price = (value: number) => destabilise(value, scale)
    const of_windows = linear.map((slots) => price(slotMean(slots, 0, period, slot_minutes)))
    const of_rest = rests.map((rest) => price(expected[i]! + rest[i]!))
    const p50 = (meanOf(of_windows) + price(usual[i]! + trees[i]!) + of_rest[1]!) / 3
    return {
      p10: p50 - Math.max(0, of_rest[1]! - of_rest[0]!),
      p50,
      p90: p50 + Math.max(0, of_rest[2]! - of_rest[1]!),
    }
  })
}

/** What slots say of a period: the mean of those that it covers. */
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

function usualPrices(table: FeatureTable): Float64Array {
  return table.columns[table.names.indexOf(usual_price)]!
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
