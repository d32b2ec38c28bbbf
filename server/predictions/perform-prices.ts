/** What the forecast thread does about prices. */
import { type MarketDay, type MarketPeriod, marketDays } from '@heliograph/forecast/market-days'
import {
  deserialisePriceModel,
  forecastPriceDay,
  observePriceDay,
  type PriceForecast,
  type PriceModel,
  serialisePriceModel,
  training_days_min,
  trainPriceModel,
} from '@heliograph/forecast/price-model'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { deliveryDay } from '../prices/periods.ts'
import type { PricePeriod } from '../prices/store.ts'
import { addSums, noSums, type ScoreSums, scoresOf, sumsOf } from './score-sums.ts'
import type { Answers, PredictPricesTask, PriceDay, TrainPricesTask } from './tasks.ts'

const day_ms = 86_400_000
const micro = 1_000_000

/** Starts, ends and prices, one after the other. */
export function packPrices(periods: readonly PricePeriod[]): Float64Array {
  const packed = new Float64Array(periods.length * 3)
  for (const [nth, { start_ms, end_ms, price_micro }] of periods.entries()) {
    packed.set([start_ms, end_ms, price_micro / micro], nth * 3)
  }
  return packed
}

function daysOf(packed: Float64Array, timezone: string): MarketDay[] {
  const periods = Array.from({ length: packed.length / 3 }, (_, nth): MarketPeriod => {
    const [start_ms, end_ms, price_per_mwh] = packed.subarray(nth * 3, nth * 3 + 3)
    return {
      ...{ start_ms: start_ms!, end_ms: end_ms!, price_per_mwh: price_per_mwh! },
      ...{ load_mw: null, renewables_mw: null },
    }
  })
  return marketDays(periods, timezone)
}

export function trainPrices(task: TrainPricesTask): Answers['train_prices'] {
  const days = daysOf(task.prices, task.timezone)
  const priced = days.filter(({ price }) => price !== null)
  const held_out = priced.slice(-task.hold_out_days)
  const [first_out] = held_out
  const seen = first_out ? priced.filter(({ day }) => day < first_out.day) : []
  if (seen.length < training_days_min) return { trained: null, day_count: priced.length }
  const fitted = trainPriceModel(seen, seededRandom(task.seed))
  const found = rollOver(fitted, days, held_out)
  const old = task.previous && oldScore(task.previous, days, held_out)
  const pinball = scoresOf(found.sums).pinball ?? Number.POSITIVE_INFINITY
  return {
    day_count: priced.length,
    trained: {
      model: serialisePriceModel(found.model),
      from_ms: seen[0]!.periods[0]!.start_ms,
      to_ms: seen.at(-1)!.periods.at(-1)!.end_ms,
      day_count: seen.length,
      sums: found.sums,
      is_worse: old !== null && pinball > old,
      hindcasts: found.hindcasts,
    },
  }
}

/** Forecasts each day as if it were to come, then observes it. */
function rollOver(fitted: PriceModel, days: readonly MarketDay[], held_out: readonly MarketDay[]) {
  let model = fitted
  let sums = noSums
  const hindcasts: PriceDay[] = []
  for (const day of held_out) {
    const forecast = forecastPriceDay(model, days, day)
    sums = addSums(sums, scoreDay(forecast, day, before(days, day)))
    hindcasts.push(priceDay(forecast, day.day))
    model = observePriceDay(model, days, day)
  }
  return { model, sums, hindcasts }
}

/** null for one that nothing can be compared with. */
function oldScore(
  bytes: Uint8Array,
  days: readonly MarketDay[],
  held_out: readonly MarketDay[],
): number | null {
  let old: PriceModel
  try {
    old = deserialisePriceModel(bytes)
  } catch {
    return null
  }
  return scoresOf(rollOver(old, days, held_out).sums).pinball
}

const before = (days: readonly MarketDay[], { day }: MarketDay) =>
  days.find((other) => other.day === day - 1) ?? null

/** Beside the price at the same time of the day before: what is left to who knows nothing else. */
function scoreDay(
  forecast: readonly PriceForecast[],
  day: MarketDay,
  yesterday: MarketDay | null,
): ScoreSums {
  return forecast.reduce((sums, { p10, p50, p90 }, nth) => {
    const { price_per_mwh, clock_minute } = day.periods[nth]!
    if (price_per_mwh === null) return sums
    const naive = yesterday?.price?.[Math.floor(clock_minute / 15)] ?? null
    const step = { p10_kw: p10, p50_kw: p50, p90_kw: p90, actual_kw: price_per_mwh }
    return addSums(sums, sumsOf({ ...step, persistence_kw: naive, is_hindcast: true }, 0))
  }, noSums)
}

function priceDay(forecast: readonly PriceForecast[], day: number): PriceDay {
  const [first] = forecast
  return {
    delivery_date: new Date(day * day_ms).toISOString().slice(0, 10),
    start_ms: first!.start_ms,
    resolution_minutes: (first!.end_ms - first!.start_ms) / 60_000,
    p10_price: forecast.map(({ p10 }) => p10),
    p50_price: forecast.map(({ p50 }) => p50),
    p90_price: forecast.map(({ p90 }) => p90),
    negative_probability: forecast.map(({ negative_probability }) => negative_probability ?? 0),
  }
}

export function predictPrices(task: PredictPricesTask): PriceDay[] {
  const model = deserialisePriceModel(task.model)
  const known = daysOf(task.prices, task.timezone)
  return task.delivery_dates.map((date) => {
    const { start_ms, end_ms } = deliveryDay(date, task.timezone)
    const step_ms = task.resolution_minutes * 60_000
    const periods = Array.from({ length: (end_ms - start_ms) / step_ms }, (_, nth) => ({
      ...{ start_ms: start_ms + nth * step_ms, end_ms: start_ms + (nth + 1) * step_ms },
      ...{ price_per_mwh: null, load_mw: null, renewables_mw: null },
    }))
    const [day] = marketDays(periods, task.timezone)
    return priceDay(forecastPriceDay(model, known, day!), day!.day)
  })
}
