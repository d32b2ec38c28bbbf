/** The prices of two markets beside each other. */
import { localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import type { Fee } from '../../earnings/contract-store.ts'
import { type PlantHour, quarter_ms } from '../../earnings/plant-quarters.ts'
import { type QuarterPrices, quarterPrices } from '../../earnings/quarter-prices.ts'
import { hour_ms } from '../../http/time-windows.ts'
import type { Market, PricePeriod } from '../../prices/store.ts'
import { price } from './figures.ts'
import type { CrossBorderPrice, CrossBorderPrices } from './schemas.ts'

export interface MarketSeries {
  market: Market
  periods: readonly PricePeriod[]
}

export interface Compared {
  base: MarketSeries
  sold: MarketSeries
  from_ms: number
  to_ms: number
  /** How many of the base market's currency one of the sold market was. */
  rateAt: (time_ms: number) => number | null
  fees: readonly Fee[]
  /** Of the plants of the base market. */
  hours: readonly PlantHour[]
}

type Item = Static<typeof CrossBorderPrice>

/** Below this two prices are the same. */
const equal_per_mwh = 0.01

export function crossBorderPrices(compared: Compared): Static<typeof CrossBorderPrices> {
  const { base, sold, from_ms, to_ms } = compared
  const base_prices = quarterPrices(base.periods, { from_ms, to_ms })
  const sold_prices = quarterPrices(sold.periods, { from_ms, to_ms })
  const resolutions = resolutionsOf(compared)
  const weights = energyOf(compared)
  const data: Item[] = []
  const sums = { count: 0, base: 0, sold: 0, positive: 0, equal: 0 }
  const captured = { kwh: 0, base: 0, sold: 0 }
  for (let at = from_ms; at < to_ms; ) {
    const length_ms = resolutions(at)
    const span = { start_ms: at, end_ms: at + length_ms }
    const pair = { base: meanOf(base_prices, span), sold: meanOf(sold_prices, span) }
    const item = itemOf(compared, span, pair)
    data.push(item)
    at += length_ms
    const { base_price_per_mwh, sold_price_per_mwh, spread_per_mwh } = item
    if (base_price_per_mwh === null || sold_price_per_mwh === null) continue
    sums.count += 1
    sums.base += base_price_per_mwh
    sums.sold += sold_price_per_mwh
    if (spread_per_mwh! > 0) sums.positive += 1
    if (Math.abs(spread_per_mwh!) < equal_per_mwh) sums.equal += 1
    const kwh = weights(span)
    captured.kwh += kwh
    captured.base += kwh * base_price_per_mwh
    captured.sold += kwh * sold_price_per_mwh
  }
  const mean = (sum: number) => (sums.count > 0 ? rounded(sum / sums.count, 4) : null)
  const weighted = (sum: number) => (captured.kwh > 0 ? rounded(sum / captured.kwh, 4) : null)
  const share = (count: number) => (sums.count > 0 ? rounded((100 * count) / sums.count, 2) : null)
  const is_complete = sums.count === data.length
  const is_converted = data.every(({ fx_rate }) => fx_rate !== null)
  const summary = {
    period_count: data.length,
    complete_count: sums.count,
    resolution_minutes: data.reduce((longest, item) => Math.max(longest, minutesOf(item)), 0),
    mean_base_price_per_mwh: mean(sums.base),
    mean_sold_price_per_mwh: mean(sums.sold),
    mean_spread_per_mwh: mean(sums.sold - sums.base),
    positive_spread_pct: share(sums.positive),
    equal_price_pct: share(sums.equal),
    captured_base_price_per_mwh: weighted(captured.base),
    captured_sold_price_per_mwh: weighted(captured.sold),
    captured_uplift_per_mwh: weighted(captured.sold - captured.base),
    reason: is_complete
      ? null
      : is_converted
        ? ('no_price' as const)
        : ('no_exchange_rate' as const),
  }
  return { data, meta: { count: data.length, summary } }
}

const minutesOf = ({ start_at, end_at }: Item) =>
  (Date.parse(end_at) - Date.parse(start_at)) / 60_000

interface Span {
  start_ms: number
  end_ms: number
}

function itemOf(
  { base, sold, rateAt, fees }: Compared,
  { start_ms, end_ms }: Span,
  pair: { base: number | null; sold: number | null },
): Item {
  const fx_rate = rateAt(start_ms)
  const sold_micro = pair.sold === null || fx_rate === null ? null : pair.sold * fx_rate
  const base_price = price(pair.base)
  const sold_price = price(sold_micro)
  const spread =
    base_price === null || sold_price === null ? null : rounded(sold_price - base_price, 4)
  const fee = feesPerMwh(fees, localDate(start_ms, sold.market.timezone), base.market.currency)
  const net = spread === null || fee === null ? null : rounded(spread - fee, 4)
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
  }
}

/** Of all plants, for selling across the border; null where one is in another currency. */
function feesPerMwh(fees: readonly Fee[], date: string, currency: string): number | null {
  let sum = 0
  for (const fee of fees) {
    if (fee.code !== 'cross_border' || fee.basis !== 'per_mwh' || fee.logger_id !== null) continue
    if (fee.valid_from > date || (fee.valid_to !== null && fee.valid_to < date)) continue
    if (fee.currency !== currency) return null
    sum += Number(fee.value)
  }
  return sum
}

/** The mean of the quarters; null where one has no price. */
function meanOf({ from_ms, price_micro }: QuarterPrices, { start_ms, end_ms }: Span) {
  const first = (start_ms - from_ms) / quarter_ms
  const count = (end_ms - start_ms) / quarter_ms
  const quarters = price_micro.subarray(first, first + count)
  const sum = quarters.reduce((total, micro) => total + micro, 0)
  return Number.isNaN(sum) ? null : sum / count
}

/** The longest period of both markets in the hour of an instant, an hour at most. */
function resolutionsOf({ base, sold }: Compared): (at_ms: number) => number {
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

function energyOf({ hours, from_ms, to_ms }: Compared): (span: Span) => number {
  const kwh = new Float64Array((to_ms - from_ms) / quarter_ms)
  for (const { start_ms, energy_wh } of hours) {
    for (const [nth, wh] of energy_wh.entries()) {
      const at = (start_ms - from_ms) / quarter_ms + nth
      if (at >= 0 && at < kwh.length) kwh[at]! += (wh ?? 0) / 1000
    }
  }
  return ({ start_ms, end_ms }) =>
    kwh
      .subarray((start_ms - from_ms) / quarter_ms, (end_ms - from_ms) / quarter_ms)
      .reduce((sum, value) => sum + value, 0)
}
