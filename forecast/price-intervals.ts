import { adaptiveLevel, conformalRank } from './conformal.ts'
import { countBelow } from './quantiles.ts'

/** Quantiles of the price of a period, in the market's currency per MWh: p10 <= p50 <= p90. */
export interface PriceQuantiles {
  p10: number
  p50: number
  p90: number
}

export interface CalibratedPrice extends PriceQuantiles {
  /** Probability of a price below 0, 0 to 1; null without observations. */
  negative_probability: number | null
}

interface ObservedDay {
  /** Errors by period: below P50 in units of P50 minus P10, above it in units of P90 minus P50. */
  errors: readonly number[]
  /** Count of prices below 0, and its expectation by the errors of the days before. */
  negatives: number
  negatives_expected: number
}

/** Calibration by the errors of the last days. Plain data. */
export interface PriceCalibration {
  /** The oldest first. */
  days: readonly ObservedDay[]
  /** Share of errors that must be above P10, and below P90. */
  below_level: number
  above_level: number
}

export const calibration_days = 60
/** Target share above P10, and below P90. */
const wanted_level = 0.9
/** Step of a level by a day entirely outside. */
const step_per_day = 0.02
/** Assumed prices below 0, and assumed expectation, before the first day. */
const negatives_before = 2
/** Minimum spread in the market's currency per MWh, to bound relative errors. */
const spread_min = 0.01

export const uncalibrated: PriceCalibration = {
  days: [],
  below_level: wanted_level,
  above_level: wanted_level,
}

/**
 * Calibrates the outer quantiles: their distances to P50 are stretched by the errors of the last
 * days, at levels that follow how often prices were outside. Conformalized quantile regression, Y.
 * Romano, E. Patterson and E. J. Candès, NeurIPS 2019, on each side separately and relative to the
 * spread. The probability of a price below 0 is the share of errors that would lead there, with
 * odds corrected by the observed over the expected count: in markets whose prices gather at 0, few
 * go below.
 */
export function calibratePrices(
  raws: readonly PriceQuantiles[],
  calibration: PriceCalibration,
): CalibratedPrice[] {
  const errors = sortedErrors(calibration)
  const { below, above } = stretches(errors, calibration)
  const odds = oddsOfNegatives(calibration)
  return raws.map((raw) => ({
    p10: raw.p50 - below * spreadBelow(raw),
    p50: raw.p50,
    p90: raw.p50 + above * spreadAbove(raw),
    negative_probability:
      errors.length === 0 ? null : atOdds(shareBelow(errors, errorOf(raw, 0)), odds),
  }))
}

/**
 * The calibration after one more day, from its forecasts before `calibratePrices` and the actual
 * prices. Throws a RangeError unless there is one for each.
 */
export function observePrices(
  calibration: PriceCalibration,
  raws: readonly PriceQuantiles[],
  prices: readonly number[],
): PriceCalibration {
  if (raws.length !== prices.length) {
    throw new RangeError(`${raws.length} forecasts for ${prices.length} prices`)
  }
  if (raws.length === 0) return calibration
  const errors = raws.map((raw, i) => errorOf(raw, prices[i]!))
  const before = sortedErrors(calibration)
  const { below, above } = stretches(before, calibration)
  const expected = before.length === 0 ? [] : raws.map((raw) => shareBelow(before, errorOf(raw, 0)))
  const observed = {
    errors,
    negatives: before.length === 0 ? 0 : prices.filter((price) => price < 0).length,
    negatives_expected: expected.reduce((sum, share) => sum + share, 0),
  }
  const held = (isHeld: (error: number) => boolean) => errors.filter(isHeld).length / errors.length
  const next = (level: number, held_share: number) =>
    adaptiveLevel(level, wanted_level, held_share, step_per_day)
  return {
    days: [...calibration.days, observed].slice(-calibration_days),
    below_level: next(
      calibration.below_level,
      held((error) => error >= -below),
    ),
    above_level: next(
      calibration.above_level,
      held((error) => error <= above),
    ),
  }
}

function sortedErrors({ days }: PriceCalibration): Float64Array {
  return Float64Array.from(days.flatMap(({ errors }) => errors)).sort()
}

/** Stretch of the outer quantiles; 1 before any error is known. */
function stretches(errors: Float64Array, { below_level, above_level }: PriceCalibration) {
  const count = errors.length
  if (count === 0) return { below: 1, above: 1 }
  return {
    below: Math.max(0, -errors[count - 1 - conformalRank(count, below_level)]!),
    above: Math.max(0, errors[conformalRank(count, above_level)]!),
  }
}

function errorOf(raw: PriceQuantiles, price: number): number {
  const distance = price - raw.p50
  return distance / (distance < 0 ? spreadBelow(raw) : spreadAbove(raw))
}

const spreadBelow = ({ p10, p50 }: PriceQuantiles) => Math.max(p50 - p10, spread_min)
const spreadAbove = ({ p50, p90 }: PriceQuantiles) => Math.max(p90 - p50, spread_min)

function oddsOfNegatives({ days }: PriceCalibration): number {
  const sum = (of: (day: ObservedDay) => number) =>
    days.reduce((total, day) => total + of(day), negatives_before)
  return sum((day) => day.negatives) / sum((day) => day.negatives_expected)
}

function atOdds(chance: number, factor: number): number {
  return (chance * factor) / (1 - chance + chance * factor)
}

/** Share of ascending values below a bound; never 0 or 1, which no count of values proves. */
function shareBelow(values: Float64Array, bound: number): number {
  return (countBelow(values, bound) + 0.5) / (values.length + 1)
}
