import { type FeatureTable, featureTable } from './feature-table.ts'
import {
  curveMean,
  type DayCurve,
  type DayPeriod,
  type MarketDay,
  minutesOf,
  quarters_per_day,
} from './market-days.ts'
import { quantileInPlace } from './quantiles.ts'

/** Location and spread of prices, in the market's currency per MWh. */
export interface PriceScale {
  median: number
  spread: number
}

/** Price drivers that are forecast before the auction. */
const drivers = ['load', 'renewables', 'residual_load'] as const
export type Driver = (typeof drivers)[number]

type DayCurves = Record<'price' | Driver, DayCurve | null>

export type KnownCurves = ReadonlyMap<number, DayCurves>

/** Days back with similar prices. */
const price_lags = [1, 2, 3, 7] as const
/** Days back whose drivers are compared with those of the day. */
const driver_lags = [0, 1, 7] as const
/** A missing day is replaced by a day before it, at most this many days back. */
const stand_in_days_max = 7
const week = [1, 2, 3, 4, 5, 6, 7] as const
const hours = Array.from({ length: 24 }, (_, hour) => hour)

/**
 * Scale of some days' prices: median, and median absolute deviation divided by the 75 % quantile of
 * the normal distribution. Throws a RangeError without prices.
 */
export function priceScale(days: readonly MarketDay[]): PriceScale {
  const prices = Float64Array.from(days.flatMap(({ price }) => [...(price ?? [])]))
  if (prices.length === 0) throw new RangeError('days: none has prices')
  const median = quantileInPlace(prices, 0.5)
  const distance = quantileInPlace(
    prices.map((price) => Math.abs(price - median)),
    0.5,
  )
  // A flat market, for example at a price cap, has no spread to divide by.
  return { median, spread: Math.max(distance / 0.6745, 0.01 * Math.abs(median), 0.01) }
}

/**
 * Transforms a price so that spikes weigh less: area hyperbolic sine of the scaled price, B.
 * Uniejewski, R. Weron and F. Ziel, "Variance stabilizing transformations for electricity spot
 * price forecasting", IEEE Transactions on Power Systems 33(2), 2018.
 */
export function stabilise(price: number, { median, spread }: PriceScale): number {
  return Math.asinh((price - median) / spread)
}

/** Inverse of `stabilise`, held within the observed range, as sinh grows without bound. */
export function destabilise(value: number, { median, spread }: PriceScale): number {
  return median + spread * Math.sinh(Math.min(Math.max(value, -8), 8))
}

/** The drivers known for at least half of the days. */
export function knownDrivers(days: readonly MarketDay[]): Driver[] {
  const isKnown = (of: (day: MarketDay) => boolean) => 2 * days.filter(of).length >= days.length
  const load = isKnown((day) => day.load !== null)
  const renewables = isKnown((day) => day.renewables !== null)
  const known = { load, renewables, residual_load: load && renewables }
  return drivers.filter((driver) => known[driver])
}

export function knownCurves(days: readonly MarketDay[], scale: PriceScale): KnownCurves {
  return new Map(
    days.map(({ day, price, load, renewables }) => {
      const residual_load = load && (renewables?.map((power, i) => load[i]! - power) ?? null)
      const stabilised = price?.map((value) => stabilise(value, scale)) ?? null
      return [day, { price: stabilised, load, renewables, residual_load }]
    }),
  )
}

/** The curve `lag` days before, or the newest before that. */
function curveBefore(
  curves: KnownCurves,
  quantity: keyof DayCurves,
  day: number,
  lag: number,
): DayCurve | null {
  for (let before = lag; before <= lag + stand_in_days_max; before++) {
    const curve = curves.get(day - before)?.[quantity]
    if (curve) return curve
    // A driver of the day itself is not replaced by that of another day.
    if (lag === 0) return null
  }
  return null
}

function weekdayOf(day: number): number {
  return (((day + 3) % 7) + 7) % 7
}

/**
 * Features of whole days before their auction, one row per day: hourly means of prices of days
 * before, of drivers of the day and of days before, and the weekday. The regressors of LEAR: J.
 * Lago, G. Marcjasz, B. De Schutter and R. Weron, "Forecasting day-ahead electricity prices: a
 * review of state-of-the-art algorithms", Applied Energy 293, 2021.
 */
export function dayFeatures(
  curves: KnownCurves,
  days: readonly number[],
  known_drivers: readonly Driver[],
): FeatureTable {
  const columns: Record<string, Float64Array> = {}
  const addHours = (quantity: keyof DayCurves, lag: number) => {
    const of_days = days.map((day) => curveBefore(curves, quantity, day, lag))
    for (const hour of hours) {
      columns[`${quantity}_d${lag}_h${hour}`] = Float64Array.from(of_days, (curve) =>
        curve ? curveMean(curve, 60 * hour, 60) : Number.NaN,
      )
    }
  }
  for (const lag of price_lags) addHours('price', lag)
  for (const driver of known_drivers) {
    // The third driver is the difference of the others, which a linear model finds by itself.
    if (driver !== 'residual_load') for (const lag of driver_lags) addHours(driver, lag)
  }
  for (let weekday = 0; weekday < 7; weekday++) {
    columns[`weekday_${weekday}`] = Float64Array.from(days, (day) =>
      Number(weekdayOf(day) === weekday),
    )
  }
  return featureTable(columns)
}

/**
 * Features of single periods before their auction, one row per period: prices and drivers around
 * the same time of day, their differences from the days before, and their position within the day.
 */
export function periodFeatures(
  curves: KnownCurves,
  days: readonly MarketDay[],
  known_drivers: readonly Driver[],
): FeatureTable {
  const rows = days.reduce((count, { periods }) => count + periods.length, 0)
  const columns: Record<string, Float64Array> = {}
  let row = 0
  const put = (features: Record<string, number>) => {
    for (const name in features) {
      columns[name] ??= new Float64Array(rows).fill(Number.NaN)
      columns[name][row] = features[name]!
    }
  }
  for (const { day, periods } of days) {
    const of_day = [calendarOf(day), priceProfile(curves, day)]
    const priceOf = pricesAround(curves, day)
    const driversAround = known_drivers.map((driver) => driverAround(curves, day, driver))
    for (const period of periods) {
      put({ clock_minute: period.clock_minute })
      for (const features of of_day) put(features)
      put(priceOf(period))
      for (const ofDriver of driversAround) put(ofDriver(period))
      row++
    }
  }
  return featureTable(columns)
}

/**
 * Usual price by time of day, without training: the mean of the day before and of the week before.
 * null if neither that day nor the week before has prices.
 */
export function usualCurve(curves: KnownCurves, day: number): DayCurve | null {
  const prices = week.flatMap((lag) => curveBefore(curves, 'price', day, lag) ?? [])
  const [newest] = prices
  if (!newest) return null
  return newest.map((price, quarter) => {
    const sum = prices.reduce((total, curve) => total + curve[quarter]!, 0)
    return (price + sum / prices.length) / 2
  })
}

function calendarOf(day: number): Record<string, number> {
  const angle = (2 * Math.PI * day) / 365.2425
  return {
    weekday: weekdayOf(day),
    season_cos: Math.cos(angle),
    season_sin: Math.sin(angle),
  }
}

function priceProfile(curves: KnownCurves, day: number): Record<string, number> {
  const before = curveBefore(curves, 'price', day, 1)
  const features: Record<string, number> = {
    price_d1_mean: meanOf(before),
    price_d1_min: before ? Math.min(...before) : Number.NaN,
    price_d1_max: before ? Math.max(...before) : Number.NaN,
    price_d1_last: before?.at(-1) ?? Number.NaN,
    price_week_day_mean: meanKnown(week.map((k) => meanOf(curveBefore(curves, 'price', day, k)))),
  }
  for (let hour = 0; hour < 24; hour += 3) {
    features[`price_d1_h${hour}`] = before ? curveMean(before, 60 * hour, 60) : Number.NaN
  }
  return features
}

function pricesAround(curves: KnownCurves, day: number) {
  const lagged = [...week, 14].map((lag) => curveBefore(curves, 'price', day, lag))
  return (period: DayPeriod): Record<string, number> => {
    const prices = lagged.map((curve) => around(curve, period))
    return {
      price_d1: prices[0]!,
      price_d2: prices[1]!,
      price_d3: prices[2]!,
      price_d7: prices[6]!,
      price_d14: prices[7]!,
      price_week_mean: meanKnown(prices.slice(0, 7)),
    }
  }
}

function driverAround(curves: KnownCurves, day: number, driver: Driver) {
  const own = curveBefore(curves, driver, day, 0)
  const lagged = week.map((lag) => curveBefore(curves, driver, day, lag))
  const own_mean = meanOf(own)
  const of_day = {
    [`${driver}_mean`]: own_mean,
    [`${driver}_mean_less_d1`]: own_mean - meanOf(lagged[0]!),
    [`${driver}_min`]: own ? Math.min(...own) : Number.NaN,
    [`${driver}_max`]: own ? Math.max(...own) : Number.NaN,
  }
  const week_mean = meanKnown(lagged.map(meanOf))
  return (period: DayPeriod): Record<string, number> => {
    const now = driverOf(period, driver) ?? around(own, period)
    return {
      ...of_day,
      [driver]: now,
      [`${driver}_before`]: around(own, period, -60),
      [`${driver}_after`]: around(own, period, 60),
      [`${driver}_less_d1`]: now - around(lagged[0]!, period),
      [`${driver}_less_d7`]: now - around(lagged[6]!, period),
      [`${driver}_less_week`]: now - week_mean,
      [`${driver}_rank`]: own ? own.filter((v) => v < now).length / quarters_per_day : Number.NaN,
    }
  }
}

/** Forecast for the period itself, also where the clock repeats an hour. */
function driverOf({ load_mw, renewables_mw }: DayPeriod, driver: Driver): number | null {
  if (driver === 'load') return load_mw
  if (driver === 'renewables') return renewables_mw
  return load_mw === null || renewables_mw === null ? null : load_mw - renewables_mw
}

/** Mean of a curve at the time of a period, shifted by some minutes. */
function around(curve: DayCurve | null, period: DayPeriod, minutes_later = 0): number {
  return curve
    ? curveMean(curve, period.clock_minute + minutes_later, minutesOf(period))
    : Number.NaN
}

function meanOf(curve: DayCurve | null): number {
  return curve ? curveMean(curve, 0, 1440) : Number.NaN
}

function meanKnown(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value))
  return known.reduce((sum, value) => sum + value, 0) / known.length
}
