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

/** What forecasts the prices of a market's next day. Survives structuredClone. */
export interface PriceModel {
  kind: typeof kind
  scale: PriceScale
  /** null: it is naive, its P50 the price at the same time of the day before. */
  learned: LearnedPrices | null
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

interface TrainingOptions {
  /** Of the model before. */
  calibration?: PriceCalibration | undefined
  /** Trees of each of the four boosted models where there is a year to learn from. */
  trees?: number | undefined
}

/** Fewer days of prices teach nothing that the price of yesterday does not. */
export const training_days_min = 28

/** Another form has another name. */
const kind = 'price_model_2'
const scale_days = 84
/** In place of a day that has no prices stands one before it, this many days at most. */
const stand_in_days_max = 7

/**
 * Learns a market from its days, ascending, as `learnPrices` tells: three years of them are used,
 * four weeks are needed.
 * Without the `calibration` of a model before, the last days, a quarter at most, are left out of a
 * first training to see how far off it is. `random` gives 0 to below 1. Throws a RangeError for
 * too few days.
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
 * The naive model, which others have to beat: each price is that of the day before at its time, and
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

/** The model of `serialisePriceModel`. Throws an Error for bytes of none, or of another form. */
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

/** Quantiles before their calibration, in order, of each period of a day. */
function rawForecast(
  { learned, scale }: PriceModel,
  known: readonly MarketDay[],
  day: MarketDay,
): PriceQuantiles[] {
  if (day.periods.length === 0) return []
  return learned ? learnedQuantiles(learned, known, day) : naiveQuantiles(scale, known, day)
}

/** Of the newest day before it that has prices. */
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
