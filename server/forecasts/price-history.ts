/** Price forecasts issued before the gate closure, with the published prices. */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { deliveryDates, deliveryDay } from '../markets/periods.ts'
import { type PricePeriod, readPrices } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import { type AssignedMarket, assignedMarkets } from './assigned-market.ts'
import { gateClosureOf } from './gate-closure.ts'
import { type PriceVintage, priceVintages } from './price-store.ts'
import type { PriceMethod } from './tasks.ts'

export interface PricesQuery {
  site_id: string
  start_ms: number
  end_ms: number
  /** Excludes forecasts issued later. */
  now: Date
}

interface PricePoint {
  start_ms: number
  end_ms: number
  p10_price: number | null
  p50_price: number | null
  p90_price: number | null
  /** 0 to 1. */
  negative_probability: number | null
  actual_price: number | null
  issued_at: Date | null
  model_version: number | null
  method: PriceMethod | null
}

export interface MarketPricePoint extends PricePoint {
  market: AssignedMarket
}

/**
 * Market periods with a forecast or a price that overlap the window, ascending. Each delivery day
 * uses the market assigned to the site on that day.
 */
export async function readPriceForecasts(
  db: Queries,
  query: PricesQuery,
): Promise<MarketPricePoint[]> {
  const points: MarketPricePoint[] = []
  for (const { market, ...span } of await marketSpans(db, query)) {
    const days = { from: new Date(span.start_ms), to: new Date(span.end_ms) }
    const prices = await readPrices(db, { ...market, kind: 'day_ahead' }, days)
    const runs = await runsInTime(db, market, span, query.now)
    const found = merged([...runs.flatMap(pointsOf), ...prices.map(unforecast)], prices)
    const within = found.filter((one) => one.end_ms > span.start_ms && one.start_ms < span.end_ms)
    points.push(...within.map((point) => ({ ...point, market })))
  }
  return points
}

/** Time under one market. */
interface MarketSpan {
  market: AssignedMarket
  start_ms: number
  end_ms: number
}

/** Ascending, without overlap, even when the time zone changes with the market. */
async function marketSpans(
  db: Queries,
  { site_id, start_ms, end_ms }: PricesQuery,
): Promise<MarketSpan[]> {
  // A local date differs from the UTC date by at most one day.
  const around = { start_ms: start_ms - day_ms, end_ms: end_ms + day_ms }
  const days = await assignedMarkets(db, { site_id, logger_id: null }, deliveryDates(around, 'UTC'))
  const spans: MarketSpan[] = []
  for (const { date, market } of days) {
    const last = spans.at(-1)
    const day = deliveryDay(date, market.timezone)
    const from_ms = Math.max(day.start_ms, last?.end_ms ?? start_ms)
    const to_ms = Math.min(day.end_ms, end_ms)
    if (from_ms >= to_ms) continue
    if (last?.market.market_code === market.market_code && last.end_ms === from_ms) {
      last.end_ms = to_ms
    } else spans.push({ market, start_ms: from_ms, end_ms: to_ms })
  }
  return spans
}

/** The last run before the gate closure of each delivery day that overlaps the span. */
function runsInTime(
  db: Queries,
  market: AssignedMarket,
  span: { start_ms: number; end_ms: number },
  now: Date,
): Promise<PriceVintage[]> {
  const dates = deliveryDates(span, market.timezone)
  return priceVintages(
    db,
    market.market_code,
    dates.map((delivery_date) => {
      const noon = Date.parse(`${delivery_date}T12:00:00Z`)
      const gate_ms = gateClosureOf(noon, market)
      return { delivery_date, before: new Date(Math.min(gate_ms, now.getTime())) }
    }),
  )
}

function pointsOf(run: PriceVintage): PricePoint[] {
  const step_ms = run.resolution_minutes * minute_ms
  return run.p50_price.map((p50_price, nth) => ({
    start_ms: run.start_ms + nth * step_ms,
    end_ms: run.start_ms + (nth + 1) * step_ms,
    p10_price: run.p10_price[nth]!,
    p50_price,
    p90_price: run.p90_price[nth]!,
    negative_probability: run.negative_probability[nth] ?? null,
    actual_price: null,
    issued_at: run.issued_at,
    model_version: run.model_version,
    method: run.method,
  }))
}

const unforecast = ({ start_ms, end_ms }: PricePeriod): PricePoint => ({
  start_ms,
  end_ms,
  p10_price: null,
  p50_price: null,
  p90_price: null,
  negative_probability: null,
  actual_price: null,
  issued_at: null,
  model_version: null,
  method: null,
})

/** Periods without overlap, forecasts first, each with its mean price if known. */
function merged(points: readonly PricePoint[], prices: readonly PricePeriod[]): PricePoint[] {
  const sorted = [...points].sort(
    (a, b) =>
      a.start_ms - b.start_ms || Number(a.issued_at === null) - Number(b.issued_at === null),
  )
  let free_from_ms = Number.NEGATIVE_INFINITY
  return sorted.flatMap((point) => {
    if (point.start_ms < free_from_ms) return []
    free_from_ms = point.end_ms
    return [{ ...point, actual_price: meanPrice(point, prices) }]
  })
}

function meanPrice(
  { start_ms, end_ms }: PricePoint,
  prices: readonly PricePeriod[],
): number | null {
  let [sum, known_ms] = [0, 0]
  for (let nth = firstAfter(prices, start_ms); nth < prices.length; nth += 1) {
    const price = prices[nth]!
    if (price.start_ms >= end_ms) break
    const within_ms = Math.min(end_ms, price.end_ms) - Math.max(start_ms, price.start_ms)
    sum += price.price_micro * within_ms
    known_ms += within_ms
  }
  return known_ms < end_ms - start_ms ? null : sum / known_ms / 1_000_000
}

/** Index of the first price that ends after an instant. */
function firstAfter(prices: readonly PricePeriod[], at_ms: number): number {
  let [low, high] = [0, prices.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (prices[middle]!.end_ms > at_ms) high = middle
    else low = middle + 1
  }
  return low
}
