import { deserialize, serialize } from 'node:v8'
import { curveMean, type MarketDay, minutesOf } from './market-days.ts'
import { type PriceScale, priceScale } from './price-features.ts'
import {
  type CalibratedPrice,
  calibratePrices,
  calibration_days,
  observePrices,
  type PriceCalibration,
  type PriceQuantiles,
  uncalibrated,
} from './price-intervals.ts'
import {
  boosted_trees,
  type LearnedPrices,
  learnedQuantiles,
  learnPrices,
  windows_days,
} from './price-learner.ts'

/** Forecasts the prices of a market's next day. Survives structuredClone. */
export interface PriceModel {
  kind: typeof kind
  scale: PriceScale
  /** null: a naive model, whose P50 is the price at the same time of the day before. */
  learned: LearnedPrices | null
  calibration: PriceCalibration
  trained_days: number
  /** The newest day in training, and in the calibration; days since 1970-01-01. */
  trained_to_day: number
  observed_to_day: number
}

export interface PriceForecast extends CalibratedPrice {
  start_ms: number
  end_ms: number
}

interface TrainingOptions {
  calibration?: PriceCalibration | undefined
  /** Trees of each of the four boosted models with a year of data. */
  trees?: number | undefined
}

/** With fewer days of prices, a model is no better than yesterday's price. */
export const training_days_min = 28

/** Renamed with each change of the format. */
const kind = 'price_model_2'
const scale_days = 84
/** A day without prices is replaced by one before it, at most this many days back. */
const stand_in_days_max = 7

/**
 * Learns a market from its days, ascending, by `learnPrices`: up to three years are used, four
 * weeks are required. Without the `calibration` of a model before, the last days, at most a
 * quarter, are held out of a first training to measure its errors. `random` gives 0 to below 1.
 * Throws a RangeError for too few days.
 */
export function trainPriceModel(
  days: readonly MarketDay[],
  random: () => number,
  { calibration, trees = boosted_trees }: TrainingOptions = {},
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
 * The naive model, the benchmark of others: each price is that of the day before at its time, and
 * intervals are as wide as its errors of the last days. Throws a RangeError for fewer than two days
 * with prices.
 */
export function naivePriceModel(days: readonly MarketDay[]): PriceModel {
  const priced = days.filter(({ price }) => price !== null)
  const [first, ...observed] = priced.slice(-calibration_days - 1)
  if (!first || observed.length === 0) throw new RangeError('days: fewer than two with prices')
  const model: PriceModel = {
    kind,
    scale: priceScale(priced.slice(-scale_days)),
    learned: null,
    calibration: uncalibrated,
    trained_days: priced.length,
    trained_to_day: priced.at(-1)!.day,
    observed_to_day: first.day,
  }
  return observed.reduce((before, day) => observePriceDay(before, days, day), model)
}

/**
 * Forecasts each period of `day` without its own prices. Of `known` only the three weeks before it
 * are used; days without prices are replaced by the newest before them, so that days further ahead
 * can be forecast. `day` has the drivers of the training, as forecast before the auction; a missing
 * one counts as usual. Throws a RangeError if no day of the last two weeks has prices.
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
 * The model with its calibration updated by `day` with its prices. A day that was learned or
 * observed before, or an older one, changes nothing.
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

/** A model as bytes in the format of structured clone, which newer versions of Node read. */
export function serialisePriceModel(model: PriceModel): Buffer {
  return serialize(model)
}

/** The model of `serialisePriceModel`. Throws an Error for other bytes or another format. */
export function deserialisePriceModel(bytes: Uint8Array): PriceModel {
  const model: unknown = deserialize(bytes)
  if (typeof model !== 'object' || !model || !('kind' in model) || model.kind !== kind) {
    throw new Error('bytes: not a price model')
  }
  return model as PriceModel
}

function fitModel(
  days: readonly MarketDay[],
  random: () => number,
  calibration: PriceCalibration,
  trees: number,
): PriceModel {
  const priced = days.filter(({ price }) => price !== null).slice(-windows_days.at(-1)!)
  const newest = priced.at(-1)
  if (!newest || priced.length < training_days_min) {
    throw new RangeError(`days: ${priced.length} with prices, not ${training_days_min} or more`)
  }
  const scale = priceScale(priced.slice(-scale_days))
  return {
    kind,
    scale,
    learned: learnPrices(days, priced, { scale, trees, random }),
    calibration,
    trained_days: priced.length,
    trained_to_day: newest.day,
    observed_to_day: newest.day,
  }
}

/** Quantiles before calibration, in order, of each period of a day. */
function rawForecast(
  { learned, scale }: PriceModel,
  known: readonly MarketDay[],
  day: MarketDay,
): PriceQuantiles[] {
  if (day.periods.length === 0) return []
  return learned ? learnedQuantiles(learned, known, day) : naiveQuantiles(scale, known, day)
}

function naiveQuantiles(
  { spread }: PriceScale,
  known: readonly MarketDay[],
  { day, periods }: MarketDay,
): PriceQuantiles[] {
  const isNear = (other: MarketDay) =>
    other.day < day && other.day >= day - 1 - stand_in_days_max && other.price !== null
  const newest = known.findLast(isNear)?.price
  if (!newest) throw new RangeError('known: no prices of the week before')
  return periods.map((period) => {
    const p50 = curveMean(newest, period.clock_minute, minutesOf(period))
    return { p10: p50 - spread, p50, p90: p50 + spread }
  })
}
