/** Price forecasts issued before the gate closure, with the published prices. */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { firstIndex } from '@heliograph/domain/first-index'
import { significant } from '@heliograph/domain/significant'
import { deliveryDates, deliveryDay, type PeriodSpan } from '../markets/periods.ts'
import { type PricePeriod, readPrices } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import { type AssignedMarket, assignedMarkets } from './assigned-market.ts'
import { gateClosureOn } from './gate-closure.ts'
import { type PriceVintage, priceVintages } from './price-store.ts'
import type { PriceForecastItem } from './schemas.ts'

interface PricesQuery extends PeriodSpan {
  site_id: string
  now: Date
}

/** A market period, and the run with its forecast as value number `nth`; null without one. */
interface PricePoint extends PeriodSpan {
  run: PriceVintage | null
  nth: number
}

/**
 * Market periods with a forecast or a price that overlap the window, ascending. Each delivery day
 * uses the market assigned to the site on that day.
 */
export async function readPriceForecasts(
  db: Queries,
  query: PricesQuery,
): Promise<PriceForecastItem[]> {
  const items: PriceForecastItem[] = []
  for (const { market, ...span } of await marketSpans(db, query)) {
    const prices = await readPrices(db, { ...market, kind: 'day_ahead' }, span)
    const runs = await runsInTime(db, market, span, query.now)
    const unforecast = prices.map((price): PricePoint => ({ ...price, run: null, nth: 0 }))
    const within = withoutOverlap([...runs.flatMap(pointsOf), ...unforecast]).filter(
      (one) => one.end_ms > span.start_ms && one.start_ms < span.end_ms,
    )
    items.push(...within.map((point) => priceItem(point, market, prices)))
  }
  return items
}

function priceItem(
  { run, nth, ...span }: PricePoint,
  { market_code, currency }: AssignedMarket,
  prices: readonly PricePeriod[],
): PriceForecastItem {
  const negative = run?.negative_probability[nth] ?? null
  return {
    start_at: new Date(span.start_ms).toISOString(),
    end_at: new Date(span.end_ms).toISOString(),
    market_code,
    p10_price_per_mwh: significant(run?.p10_price[nth] ?? null),
    p50_price_per_mwh: significant(run?.p50_price[nth] ?? null),
    p90_price_per_mwh: significant(run?.p90_price[nth] ?? null),
    actual_price_per_mwh: significant(meanPrice(span, prices)),
    negative_probability_pct: significant(negative === null ? null : 100 * negative),
    run_at: run?.issued_at.toISOString() ?? null,
    model_version: run ? String(run.model_version) : null,
    method: run?.method ?? null,
    currency,
  }
}

interface MarketSpan extends PeriodSpan {
  market: AssignedMarket
}

/** Ascending, without overlap, even when the time zone changes with the market. */
async function marketSpans(db: Queries, { site_id, start_ms, end_ms }: PricesQuery) {
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
function runsInTime(db: Queries, market: AssignedMarket, span: PeriodSpan, now: Date) {
  const dates = deliveryDates(span, market.timezone)
  const asked = dates.map((delivery_date) => {
    const gate_ms = gateClosureOn(delivery_date, market)
    return { delivery_date, before: new Date(Math.min(gate_ms, now.getTime())) }
  })
  return priceVintages(db, market.market_code, asked)
}

function pointsOf(run: PriceVintage): PricePoint[] {
  const step_ms = run.resolution_minutes * minute_ms
  return run.p50_price.map((_, nth) => {
    const start_ms = run.start_ms + nth * step_ms
    return { start_ms, end_ms: start_ms + step_ms, run, nth }
  })
}

/** Ascending; forecasts take precedence over prices alone. */
function withoutOverlap(points: readonly PricePoint[]): PricePoint[] {
  const sorted = points.toSorted(
    (a, b) => a.start_ms - b.start_ms || Number(a.run === null) - Number(b.run === null),
  )
  let free_from_ms = Number.NEGATIVE_INFINITY
  return sorted.filter(({ start_ms, end_ms }) => {
    if (start_ms < free_from_ms) return false
    free_from_ms = end_ms
    return true
  })
}

/** null unless the whole period has prices. */
function meanPrice({ start_ms, end_ms }: PeriodSpan, prices: readonly PricePeriod[]) {
  let [sum, known_ms] = [0, 0]
  const first = firstIndex(prices.length, (nth) => prices[nth]!.end_ms > start_ms)
  for (let nth = first; nth < prices.length; nth += 1) {
    const price = prices[nth]!
    if (price.start_ms >= end_ms) break
    const within_ms = Math.min(end_ms, price.end_ms) - Math.max(start_ms, price.start_ms)
    sum += price.price_micro * within_ms
    known_ms += within_ms
  }
  return known_ms < end_ms - start_ms ? null : sum / known_ms / 1_000_000
}
