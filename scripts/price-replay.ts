/** Day-ahead prices of the shared data, and forecasts of them with the data known then. */

import { existsSync, readFileSync } from 'node:fs'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate } from '@heliograph/domain/local-day'
import { type MarketDay, type MarketPeriod, marketDays } from '@heliograph/forecast/market-days'
import type { PriceCalibration } from '@heliograph/forecast/price-intervals'
import {
  forecastPriceDay,
  observePriceDay,
  type PriceForecast,
  type PriceModel,
  trainPriceModel,
} from '@heliograph/forecast/price-model'

/** Time zone of the delivery days of central European auctions, Bulgaria included. */
const auction_timezone = 'Europe/Berlin'

const sources = {
  de: { file: 'epf_de_hourly_2012_2016.csv', periods: germanPeriods, timezone: 'UTC' },
  bg: {
    file: 'ibex_bg_hourly_2022_2024.csv',
    periods: bulgarianPeriods,
    timezone: auction_timezone,
  },
} as const
export type PriceData = keyof typeof sources

/** The days of a data set; null if the shared data are absent. */
export function readMarketDays(data: PriceData): MarketDay[] | null {
  const { file, periods, timezone } = sources[data]
  const path = new URL(`../../shared/data/prices/${file}`, import.meta.url)
  if (!existsSync(path)) return null
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n')
  return marketDays(periods(lines.map((line) => line.split(','))), timezone)
}

/** Hours of the data set, which has 24 a day and therefore no time zone. */
function germanPeriods(rows: readonly string[][]): MarketPeriod[] {
  return rows.map(([time, price, load, renewables]) => {
    const start_ms = Date.parse(`${time}Z`)
    return {
      start_ms,
      end_ms: start_ms + hour_ms,
      price_per_mwh: Number(price),
      load_mw: Number(load),
      renewables_mw: Number(renewables),
    }
  })
}

/** Rows of a date in the order of its hours; their numbers are wrong when the clock changes. */
function bulgarianPeriods(rows: readonly string[][]): MarketPeriod[] {
  const dates = Map.groupBy(rows, ([date]) => date!)
  return [...dates].flatMap(([date, hours]) => {
    const { from_ms } = hoursOfLocalDate(date, auction_timezone)
    return hours.map(([, , price], hour) => ({
      start_ms: from_ms + hour * hour_ms,
      end_ms: from_ms + (hour + 1) * hour_ms,
      price_per_mwh: Number(price),
      load_mw: null,
      renewables_mw: null,
    }))
  })
}

/** The year that is scored by default; the models were tuned on others. */
export const test_year: Record<PriceData, number> = { de: 2016, bg: 2024 }

/**
 * The days of a year, of the test year where none is named, within all days: from `first` to before
 * `end`.
 * @throws where the shared prices are absent, or have none of that year
 */
export function readScoredYear(data: PriceData, given: { year?: string; days?: string }) {
  const all = readMarketDays(data)
  if (all === null) throw new Error('no prices at ../shared/data/prices')
  const year = Number(given.year ?? test_year[data])
  const isOfYear = ({ day }: MarketDay) => new Date(day * day_ms).getUTCFullYear() === year
  const first = all.findIndex(isOfYear)
  if (first < 0) throw new Error(`--year: no prices of ${year}`)
  const end = Math.min(all.findLastIndex(isOfYear) + 1, first + Number(given.days ?? 366))
  return { all, year, first, end }
}

export interface ReplayedDay {
  day: MarketDay
  forecasts: readonly PriceForecast[]
}

interface Replay {
  first: number
  end: number
  retrain_days: number
  /** Fewer than the default of the model, to save time. */
  trees?: number | undefined
}

/**
 * Forecasts of days[first..end), each by a model that was trained on days before it: anew every
 * `retrain_days`, its intervals calibrated with every day as its prices come.
 */
export function replay(
  days: readonly MarketDay[],
  { first, end, retrain_days, trees }: Replay,
  random: () => number,
): ReplayedDay[] {
  let model: PriceModel | undefined
  let calibration: PriceCalibration | undefined
  return days.slice(first, end).map((day, i) => {
    const known = days.slice(0, first + i)
    if (!model || i % retrain_days === 0)
      model = trainPriceModel(known, random, { calibration, trees })
    const forecasts = forecastPriceDay(model, known, day)
    model = observePriceDay(model, known, day)
    calibration = model.calibration
    return { day, forecasts }
  })
}
