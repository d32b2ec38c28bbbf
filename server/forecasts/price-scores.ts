/** Scores of price forecasts, compared with the prices of the day before. */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { addSums, noSums, type ScoreSums, sumsOf } from '@heliograph/forecast/score-sums'
import type { PeriodSpan } from '../markets/periods.ts'
import type { PriceDay } from './tasks.ts'

/** A published price, per MWh. */
export interface KnownPrice extends PeriodSpan {
  price_per_mwh: number
}

/**
 * Scores delivery days over the periods whose price has the forecast length. The price 24 hours
 * before is the persistence forecast.
 */
export function priceScorer(
  prices: readonly KnownPrice[],
): (day: PriceDay, is_hindcast: boolean) => ScoreSums {
  const priceAt = new Map(prices.map((price) => [price.start_ms, price]))
  return (day, is_hindcast) => {
    const step_ms = day.resolution_minutes * minute_ms
    return day.p50_price.reduce((sums, p50, nth) => {
      const start_ms = day.start_ms + nth * step_ms
      const price = priceAt.get(start_ms)
      if (!price || price.end_ms - price.start_ms !== step_ms) return sums
      const step = {
        p10: day.p10_price[nth]!,
        p50,
        p90: day.p90_price[nth]!,
        actual: price.price_per_mwh,
        persistence: priceAt.get(start_ms - day_ms)?.price_per_mwh ?? null,
        is_hindcast,
      }
      return addSums(sums, sumsOf(step, 0))
    }, noSums)
  }
}
