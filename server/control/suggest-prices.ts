/**
 * The value of the hours of a window under the contract of a plant, and when delivery costs more
 * than it pays. Money is computed from expected energy by quarter hour. Pure.
 */
import { quarter_ms } from '@heliograph/domain/durations'
import { limitsOf, type Plant } from '@heliograph/domain/limit-shares'
import { rounded, significant } from '@heliograph/domain/significant'
import type { MoneyReason } from '../contracts/accounting.ts'
import { majorUnits, worth } from '../contracts/money.ts'
import type { PriceAt, QuarterPrice } from '../contracts/plant-prices.ts'
import type { ExpectedHour, Span } from './suggest.ts'
import type { PriceWindow } from './suggest-schemas.ts'

/** The lowest limit in whole percent; a command cannot set 0. */
const least_limit_pct = 1

export interface PricedQuarter extends Span {
  /** Expected power, kW; null where unknown. */
  p50_kw: number | null
  /** Null without a contract. */
  price: QuarterPrice | null
}

export function pricedQuarters(hours: readonly ExpectedHour[], priceAt: PriceAt): PricedQuarter[] {
  return hours.flatMap(({ start_ms, end_ms, p50_kw }) =>
    Array.from({ length: (end_ms - start_ms) / quarter_ms }, (_, nth) => {
      const at_ms = start_ms + nth * quarter_ms
      return { start_ms: at_ms, end_ms: at_ms + quarter_ms, p50_kw, price: priceAt(at_ms) }
    }),
  )
}

/** Prices of a suggestion; means are null unless every quarter has a price. */
export function priceMetrics(quarters: readonly PricedQuarter[]) {
  const market_prices = quarters.map(({ price }) => price?.market_price ?? null)
  const is_estimate = quarters.some(({ price }) => price?.is_estimate)
  const money_reason = reasonOf(quarters)
  const is_unknown = quarters.every(({ price }) => (price?.price ?? null) === null)
  const basis = is_unknown ? 'none' : is_estimate ? 'price_forecast' : 'day_ahead'
  return {
    price_basis: basis as 'day_ahead' | 'price_forecast' | 'none',
    currency: currencyOf(quarters),
    avg_price_per_mwh: meanPrice(quarters, 'price'),
    negative_price_min: market_prices.includes(null)
      ? null
      : market_prices.filter((micro) => micro! < 0).length * (quarter_ms / 60_000),
    money_reason,
  }
}

export function meanPrice(
  quarters: readonly PricedQuarter[],
  name: 'price' | 'net_price' | 'market_price',
  { start_ms, end_ms }: Span = { start_ms: -Infinity, end_ms: Infinity },
): number | null {
  const within = quarters.filter((one) => one.start_ms >= start_ms && one.end_ms <= end_ms)
  const currency = currencyOf(within)
  let sum = 0
  for (const { price } of within) {
    const micro = price?.currency === currency ? price[name] : null
    if (micro === null) return null
    sum += micro
  }
  return rounded(sum / within.length / 1e6, 4)
}

/** The first reason why a price is unknown. */
function reasonOf(quarters: readonly PricedQuarter[]): MoneyReason | null {
  const currency = currencyOf(quarters)
  for (const { price } of quarters) {
    if (price === null) return 'no_contract'
    if (price.reason !== null) return price.reason
    // Fees in another currency cannot be subtracted.
    if (price.currency !== currency || price.net_price === null) return 'no_exchange_rate'
  }
  return null
}

const currencyOf = (quarters: readonly PricedQuarter[]): string | null =>
  quarters.find(({ price }) => price !== null)?.price?.currency ?? null

/**
 * Lost revenue and avoided cost (at negative prices) of the energy above a limit, at the contract
 * price, by the rules of earnings. Null where a price is unknown.
 */
export function lostTo(limit_kw: number, quarters: readonly PricedQuarter[]) {
  const currency = currencyOf(quarters)
  let [lost, avoided] = [0, 0]
  for (const { p50_kw, price } of quarters) {
    const curtailed_wh = curtailedWh(p50_kw ?? 0, limit_kw)
    if (curtailed_wh === 0) continue
    if (price === null || price.price === null || price.currency !== currency) return null
    const amount = worth(curtailed_wh, price.price)
    if (amount > 0) lost += amount
    else avoided -= amount
  }
  return {
    expected_lost_revenue_amount: majorUnits(lost),
    avoided_cost_amount: majorUnits(avoided),
  }
}

const quarterWh = (power_kw: number) => Math.round((1000 * power_kw * quarter_ms) / 3_600_000)
const curtailedWh = (power_kw: number, limit_kw: number) =>
  quarterWh(Math.max(0, power_kw - limit_kw))

/**
 * When the plant pays to deliver: quarters with expected power above the lowest limit and a price
 * below 0 after fees by energy. Consecutive quarters of one reason and one basis form a window.
 */
export function priceWindows(quarters: readonly PricedQuarter[], plant: Plant): PriceWindow[] {
  const [limit] = limitsOf({ limit_mode: 'percent', limit_value: least_limit_pct }, [plant])
  const limit_kw = limit!.max_power_kw
  const windows: LosingQuarter[][] = []
  for (const quarter of quarters) {
    const losing = losingQuarter(quarter, limit_kw)
    if (losing === null) continue
    const before = windows.at(-1)?.at(-1)
    const is_next =
      before?.end_ms === losing.start_ms &&
      before.reason === losing.reason &&
      before.basis === losing.basis &&
      before.price.currency === losing.price.currency
    if (is_next) windows.at(-1)!.push(losing)
    else windows.push([losing])
  }
  return windows.map((window) => windowOf(window, limit_kw))
}

interface LosingQuarter extends PricedQuarter {
  price: QuarterPrice
  net_price: number
  reason: PriceWindow['reason']
  basis: PriceWindow['basis']
}

function losingQuarter(quarter: PricedQuarter, limit_kw: number): LosingQuarter | null {
  const { price, p50_kw } = quarter
  if (price === null || price.net_price === null || price.net_price >= 0) return null
  if (p50_kw !== null && p50_kw <= limit_kw) return null
  const is_negative = price.market_price !== null && price.market_price < 0
  return {
    ...quarter,
    price,
    net_price: price.net_price,
    reason: is_negative ? 'negative_price' : 'fees_above_price',
    basis: price.is_estimate ? 'price_forecast' : 'day_ahead',
  }
}

function windowOf(quarters: readonly LosingQuarter[], limit_kw: number): PriceWindow {
  const [first, last] = [quarters[0]!, quarters.at(-1)!]
  const sum = (of: (p50_kw: number, net_price: number) => number) =>
    quarters.reduce<number | null>((total, { p50_kw, net_price }) => {
      return total === null || p50_kw === null ? null : total + of(p50_kw, net_price)
    }, 0)
  const kwh = (wh: number | null) => wh && significant(wh / 1000)
  const money = (micro: number | null) => (micro === null ? null : majorUnits(micro))
  return {
    start_at: new Date(first.start_ms).toISOString(),
    end_at: new Date(last.end_ms).toISOString(),
    reason: first.reason,
    basis: first.basis,
    suggested_limit_pct: least_limit_pct,
    suggested_limit_kw: limit_kw,
    avg_price_per_mwh: meanPrice(quarters, 'price')!,
    avg_net_price_per_mwh: meanPrice(quarters, 'net_price')!,
    expected_energy_kwh: kwh(sum((p50_kw) => quarterWh(p50_kw))),
    expected_net_amount: money(sum((p50_kw, net) => worth(quarterWh(p50_kw), net))),
    expected_curtailed_energy_kwh: kwh(sum((p50_kw) => curtailedWh(p50_kw, limit_kw))),
    expected_saving_amount: money(
      sum((p50_kw, net) => -worth(curtailedWh(p50_kw, limit_kw), net) + 0),
    ),
    currency: first.price.currency,
  }
}
