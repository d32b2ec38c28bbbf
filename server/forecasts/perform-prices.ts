/** Price tasks of the forecast thread. */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { type MarketDay, marketDays, resolutionMinutes } from '@heliograph/forecast/market-days'
import {
  deserialisePriceModel,
  forecastPriceDay,
  naivePriceModel,
  observePriceDay,
  type PriceModel,
  serialisePriceModel,
  training_days_min,
  trainPriceModel,
} from '@heliograph/forecast/price-model'
import { addSums, noSums, scoresOf } from '@heliograph/forecast/score-sums'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { deliveryDay } from '../markets/periods.ts'
import { type KnownPrice, priceScorer } from './price-scores.ts'
import type { Answers, PredictPricesTask, PriceDay, PriceLimits, TrainPricesTask } from './tasks.ts'

export const packPrices = (prices: readonly KnownPrice[]) =>
  Float64Array.from(
    prices.flatMap(({ start_ms, end_ms, price_per_mwh }) => [start_ms, end_ms, price_per_mwh]),
  )

function unpackPrices(packed: Float64Array): KnownPrice[] {
  return Array.from({ length: packed.length / 3 }, (_, nth) => {
    const [start_ms, end_ms, price_per_mwh] = packed.subarray(nth * 3, nth * 3 + 3)
    return { start_ms: start_ms!, end_ms: end_ms!, price_per_mwh: price_per_mwh! }
  })
}

/** Load and renewables are not available for any market yet. */
const daysOf = (prices: readonly KnownPrice[], timezone: string): MarketDay[] =>
  marketDays(
    prices.map((price) => ({ ...price, load_mw: null, renewables_mw: null })),
    timezone,
  )

export function trainPrices(task: TrainPricesTask): Answers['train_prices'] {
  const prices = unpackPrices(task.prices)
  const days = daysOf(prices, task.timezone)
  const priced = days.filter(({ price }) => price !== null)
  const held_out = priced.slice(-task.hold_out_days)
  const [first_out] = held_out
  const seen = first_out ? priced.filter(({ day }) => day < first_out.day) : []
  if (seen.length < training_days_min) return { trained: null, day_count: priced.length }
  const { timezone, limits } = task
  const past: Past = { days, held_out, timezone, limits, score: priceScorer(prices) }
  const found = betterOf(
    rollOver(trainPriceModel(seen, seededRandom(task.seed)), past),
    rollOver(naivePriceModel(seen), past),
  )
  const previous = task.previous && readable(task.previous, deserialisePriceModel)
  const old = previous && pinballOf(rollOver(previous, past))
  return {
    day_count: priced.length,
    trained: {
      model: serialisePriceModel(found.model),
      from_ms: seen[0]!.periods[0]!.start_ms,
      to_ms: seen.at(-1)!.periods.at(-1)!.end_ms,
      day_count: seen.length,
      method: found.model.learned === null ? 'naive' : 'learned',
      sums: found.sums,
      is_worse: old !== null && pinballOf(found) > old,
      hindcasts: found.hindcasts,
    },
  }
}

interface Past {
  days: readonly MarketDay[]
  held_out: readonly MarketDay[]
  timezone: string
  limits: PriceLimits
  score: ReturnType<typeof priceScorer>
}

type RolledOver = ReturnType<typeof rollOver>

/** The trained model must beat the naive one on the hold-out, in P50 error and pinball loss. */
function betterOf(learned: RolledOver, naive: RolledOver): RolledOver {
  const is_better =
    learned.sums.abs_error <= naive.sums.abs_error && pinballOf(learned) <= pinballOf(naive)
  return is_better ? learned : naive
}

const pinballOf = ({ sums }: RolledOver) => scoresOf(sums).pinball ?? Number.POSITIVE_INFINITY

/** Forecasts each day before the model observes it. */
function rollOver(fitted: PriceModel, { days, held_out, timezone, limits, score }: Past) {
  let model = fitted
  let sums = noSums
  const hindcasts: PriceDay[] = []
  for (const day of held_out) {
    const asked = { delivery_date: dateOf(day), resolution_minutes: resolutionMinutes(day) }
    const hindcast = forecastDay(model, days, { ...asked, timezone, limits })
    sums = addSums(sums, score(hindcast, true))
    hindcasts.push(hindcast)
    model = observePriceDay(model, days, day)
  }
  return { model, sums, hindcasts }
}

const dateOf = ({ day }: MarketDay) => utcDate(day * day_ms)

/** null for a model in an unknown format. */
export function readable<Model>(
  bytes: Uint8Array,
  deserialise: (bytes: Uint8Array) => Model,
): Model | null {
  try {
    return deserialise(bytes)
  } catch {
    return null
  }
}

export function predictPrices(task: PredictPricesTask): PriceDay[] {
  const { resolution_minutes, timezone, limits } = task
  const model = deserialisePriceModel(task.model)
  const known = daysOf(unpackPrices(task.prices), timezone)
  return task.delivery_dates.map((delivery_date) =>
    forecastDay(model, known, { delivery_date, resolution_minutes, timezone, limits }),
  )
}

interface AskedDay {
  delivery_date: string
  resolution_minutes: number
  timezone: string
  limits: PriceLimits
}

/** Forecast of a whole delivery day, clipped to the price limits of the auction. */
function forecastDay(
  model: PriceModel,
  known: readonly MarketDay[],
  { delivery_date, resolution_minutes, timezone, limits }: AskedDay,
): PriceDay {
  const { start_ms, end_ms } = deliveryDay(delivery_date, timezone)
  const step_ms = resolution_minutes * minute_ms
  const periods = Array.from({ length: (end_ms - start_ms) / step_ms }, (_, nth) => ({
    start_ms: start_ms + nth * step_ms,
    end_ms: start_ms + (nth + 1) * step_ms,
    price_per_mwh: null,
    load_mw: null,
    renewables_mw: null,
  }))
  const [day] = marketDays(periods, timezone)
  const forecast = forecastPriceDay(model, known, day!)
  const lowest = limits.price_min_per_mwh ?? Number.NEGATIVE_INFINITY
  const highest = limits.price_max_per_mwh ?? Number.POSITIVE_INFINITY
  const clipped = (price: number) => Math.min(highest, Math.max(lowest, price))
  return {
    delivery_date,
    start_ms,
    resolution_minutes,
    p10_price: forecast.map(({ p10 }) => clipped(p10)),
    p50_price: forecast.map(({ p50 }) => clipped(p50)),
    p90_price: forecast.map(({ p90 }) => clipped(p90)),
    negative_probability: forecast.map(({ negative_probability }) => negative_probability),
  }
}
