/** Prices of two markets side by side. */
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import type { Fee } from '../contracts/contract-store.ts'
import { type QuarterPrices, quarterPrices } from '../contracts/quarter-prices.ts'
import type { spanMeta } from '../http/windows.ts'
import type { Market, PricePeriod } from '../markets/price-store.ts'
import { price } from './metrics.ts'
import type { CrossBorderPrice, CrossBorderPrices } from './schemas.ts'

interface MarketSeries {
  market: Market
  periods: readonly PricePeriod[]
}

export interface Comparison {
  base: MarketSeries
  sold: MarketSeries
  from_ms: number
  to_ms: number
  /** Exchange rate of a currency into that of the base market. */
  rateAt: (currency: string, time_ms: number) => number | null
  /** Fees with the code `cross_border`. */
  fees: readonly DueFee[]
  /** Contracts of plants in the base market. */
  stays: readonly MarketStay[]
  /** Energy of these plants by quarter hour from `from_ms` on. */
  wh: Float64Array
}

/** A fee with the time in which it is due, Unix ms, by days of the market sold into. */
type DueFee = Fee & { from_ms: number; to_ms: number }

/** Time in which a plant in the base market has a contract that sells into a market. */
export interface MarketStay {
  logger_id: number
  sold_code: string
  /** Unix ms. */
  from_ms: number
  to_ms: number
}

type Item = Static<typeof CrossBorderPrice>

/** Smaller differences count as equal prices. */
const equal_per_mwh = 0.01

export function crossBorderPrices(
  comparison: Comparison,
  span: ReturnType<typeof spanMeta>,
): Static<typeof CrossBorderPrices> {
  const { base, sold, from_ms, to_ms } = comparison
  const base_prices = quarterPrices(base.periods, { from_ms, to_ms })
  const sold_prices = quarterPrices(sold.periods, { from_ms, to_ms })
  const resolutions = resolutionsOf(comparison)
  const data: Item[] = []
  // `sums` weight by the length of the period, `captured` by energy.
  const sums = { count: 0, ms: 0, base: 0, sold: 0, positive_ms: 0, equal_ms: 0 }
  const captured = { wh: 0, base: 0, sold: 0 }
  for (let at = from_ms; at < to_ms; ) {
    const length_ms = resolutions(at)
    const span = { start_ms: at, end_ms: at + length_ms }
    const pair = { base: meanOf(base_prices, span), sold: meanOf(sold_prices, span) }
    const item = itemOf(comparison, span, pair)
    data.push(item)
    at += length_ms
    const { base_price_per_mwh, sold_price_per_mwh, spread_per_mwh } = item
    if (base_price_per_mwh === null || sold_price_per_mwh === null) continue
    sums.count += 1
    sums.ms += length_ms
    sums.base += length_ms * base_price_per_mwh
    sums.sold += length_ms * sold_price_per_mwh
    if (spread_per_mwh! > 0) sums.positive_ms += length_ms
    if (Math.abs(spread_per_mwh!) < equal_per_mwh) sums.equal_ms += length_ms
    const wh = energyOf(comparison, span)
    captured.wh += wh
    captured.base += wh * base_price_per_mwh
    captured.sold += wh * sold_price_per_mwh
  }
  const mean = (sum: number) => (sums.ms > 0 ? rounded(sum / sums.ms, 4) : null)
  const weighted = (sum: number) => (captured.wh > 0 ? rounded(sum / captured.wh, 4) : null)
  const share = (ms: number) => (sums.ms > 0 ? rounded((100 * ms) / sums.ms, 2) : null)
  const is_complete = sums.count === data.length
  const is_converted = data.every(({ fx_rate }) => fx_rate !== null)
  const summary = {
    period_count: data.length,
    complete_count: sums.count,
    resolution_minutes: data.reduce((longest, item) => Math.max(longest, minutesOf(item)), 0),
    mean_base_price_per_mwh: mean(sums.base),
    mean_sold_price_per_mwh: mean(sums.sold),
    mean_spread_per_mwh: mean(sums.sold - sums.base),
    positive_spread_pct: share(sums.positive_ms),
    equal_price_pct: share(sums.equal_ms),
    captured_base_price_per_mwh: weighted(captured.base),
    captured_sold_price_per_mwh: weighted(captured.sold),
    captured_uplift_per_mwh: weighted(captured.sold - captured.base),
    reason: is_complete
      ? null
      : is_converted
        ? ('no_price' as const)
        : ('no_exchange_rate' as const),
  }
  return { data, meta: { count: data.length, ...span, summary } }
}

const minutesOf = ({ start_at, end_at }: Item) =>
  (Date.parse(end_at) - Date.parse(start_at)) / 60_000

interface Span {
  start_ms: number
  end_ms: number
}

function itemOf(
  comparison: Comparison,
  { start_ms, end_ms }: Span,
  pair: { base: number | null; sold: number | null },
): Item {
  const { base, sold, rateAt } = comparison
  const fx_rate = rateAt(sold.market.currency, start_ms)
  const sold_micro = pair.sold === null || fx_rate === null ? null : pair.sold * fx_rate
  const base_price = price(pair.base)
  const sold_price = price(sold_micro)
  const spread =
    base_price === null || sold_price === null ? null : rounded(sold_price - base_price, 4)
  const fee = sold_price === null ? null : feePerMwh(comparison, start_ms, sold_price)
  const net = spread === null || typeof fee !== 'number' ? null : rounded(spread - fee, 4)
  const missing = fx_rate === null ? ('no_exchange_rate' as const) : ('no_price' as const)
  return {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(end_ms).toISOString(),
    base_market_code: base.market.market_code,
    sold_market_code: sold.market.market_code,
    base_price_per_mwh: base_price,
    sold_price_per_mwh: sold_price,
    spread_per_mwh: spread,
    capacity_price_per_mwh: null,
    net_spread_per_mwh: net,
    currency: base.market.currency,
    fx_rate,
    favourable: net === null ? null : net > 0,
    reason: net !== null ? null : spread !== null && typeof fee === 'string' ? fee : missing,
  }
}

/**
 * Energy-based fees for selling one MWh across the border at a price. They are those of the plants
 * that sell across the border at that time, else of all plants in the base market, else the fees
 * that every plant of the site pays.
 */
function feePerMwh(
  comparison: Comparison,
  at_ms: number,
  sold_price: number,
): number | 'no_exchange_rate' | 'fees_differ' {
  const { fees, stays, base, sold, rateAt } = comparison
  if (fees.length === 0 || base.market.market_code === sold.market.market_code) return 0
  const there = stays.filter(({ from_ms, to_ms }) => from_ms <= at_ms && at_ms < to_ms)
  const across = there.filter(({ sold_code }) => sold_code === sold.market.market_code)
  const plants = (across.length > 0 ? across : there).map(({ logger_id }) => logger_id)
  const due = fees.filter(({ from_ms, to_ms }) => from_ms <= at_ms && at_ms < to_ms)
  const sums = (plants.length > 0 ? plants : [null]).map((plant) => {
    const charged = due.filter(({ logger_id }) => logger_id === null || logger_id === plant)
    return charged.reduce((sum, fee) => sum + feeOf(fee), 0)
  })
  const [one, ...others] = sums.map((sum) => rounded(sum, 4))
  if (Number.isNaN(one) || others.some(Number.isNaN)) return 'no_exchange_rate'
  return others.every((other) => other === one) ? one! : 'fees_differ'

  function feeOf({ basis, value, currency }: Fee): number {
    if (basis === 'percent') return (Number(value) / 100) * sold_price
    if (basis !== 'per_mwh') return 0
    return Number(value) * (rateAt(currency!, at_ms) ?? Number.NaN)
  }
}

/** Mean price of the quarter hours; null when one has no price. */
function meanOf({ from_ms, price_micro }: QuarterPrices, { start_ms, end_ms }: Span) {
  const first = (start_ms - from_ms) / quarter_ms
  const count = (end_ms - start_ms) / quarter_ms
  const quarters = price_micro.subarray(first, first + count)
  const sum = quarters.reduce((total, micro) => total + micro, 0)
  return Number.isNaN(sum) ? null : sum / count
}

/** Length of the longest period of both markets in the hour of an instant, at most an hour. */
function resolutionsOf({ base, sold }: Comparison): (at_ms: number) => number {
  const by_hour = new Map<number, number>()
  for (const { start_ms, end_ms } of [...base.periods, ...sold.periods]) {
    const length_ms = Math.min(hour_ms, end_ms - start_ms)
    for (let at = start_ms - (start_ms % hour_ms); at < end_ms; at += hour_ms) {
      by_hour.set(at, Math.max(by_hour.get(at) ?? 0, length_ms, quarter_ms))
    }
  }
  const usual_ms = 60_000 * Math.max(base.market.resolution_minutes, sold.market.resolution_minutes)
  return (at_ms) => by_hour.get(at_ms - (at_ms % hour_ms)) ?? usual_ms
}

const energyOf = ({ wh, from_ms }: Comparison, { start_ms, end_ms }: Span): number =>
  wh
    .subarray((start_ms - from_ms) / quarter_ms, (end_ms - from_ms) / quarter_ms)
    .reduce((sum, value) => sum + value, 0)
