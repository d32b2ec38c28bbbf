/** Contract prices of plants per quarter hour, before and after energy-based fees. */
import type { Market, PricePeriod } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import type { MoneyReason } from './accounting.ts'
import { contractPrice } from './contract-price.ts'
import { type RateAt, rateAtOf } from './exchange-rates.ts'
import { readTerms, type TermsWindow } from './ledger.ts'
import { converted, percentOf, sameCurrency } from './money.ts'
import { microAt, type QuarterPrices, quarterPrices, readQuarterPrices } from './quarter-prices.ts'
import type { Terms } from './terms.ts'

interface PricesQuery extends TermsWindow {
  /** Reads prices to use where none is published yet, such as price forecasts. */
  readEstimates?: (market: Market) => Promise<PricePeriod[]>
}

/** Prices of a quarter hour under a contract, in micro of its currency per MWh. */
export interface QuarterPrice {
  currency: string
  /** Price of the market sold into, and whether it is an estimate. */
  market_price: number | null
  is_estimate: boolean
  price: number | null
  /** `price` minus energy-based fees. */
  net_price: number | null
  reason: MoneyReason | null
}

/** By the start of a quarter hour in the window, Unix ms; null without a contract. */
export type PriceAt = (start_ms: number) => QuarterPrice | null

export interface SitePrices {
  plants: Map<number, PriceAt>
  /** Common currency of all contracts, else the site's; null without contracts. */
  currency: string | null
  rateAt: RateAt
}

export async function readPlantPrices(db: Queries, query: PricesQuery): Promise<SitePrices> {
  const { from_ms, to_ms, readEstimates } = query
  const { markets, termsByPlant, currency, rates } = await readTerms(db, query)
  const rateAt = rateAtOf(rates)
  const priced = new Map<string, PricedMarket>()
  for (const { market_code } of [...termsByPlant.values()].flat()) {
    if (priced.has(market_code)) continue
    const market = markets.get(market_code)!
    const estimates = (await readEstimates?.(market)) ?? []
    priced.set(market_code, {
      currency: market.currency,
      published: await readQuarterPrices(db, { market_code, kind: 'day_ahead' }, query),
      estimated: estimates.length > 0 ? quarterPrices(estimates, { from_ms, to_ms }) : null,
    })
  }
  const plants = new Map(
    [...termsByPlant].map(([logger_id, terms]) => [logger_id, priceAt(terms, priced, rateAt)]),
  )
  return { plants, currency, rateAt }
}

interface PricedMarket {
  currency: string
  published: QuarterPrices
  estimated: QuarterPrices | null
}

function priceAt(
  terms: readonly Terms[],
  markets: ReadonlyMap<string, PricedMarket>,
  rateAt: RateAt,
): PriceAt {
  const holds = ({ from_ms, to_ms }: Terms, at_ms: number) => from_ms <= at_ms && at_ms < to_ms
  let now: Terms | undefined
  return (at_ms) => {
    if (now === undefined || !holds(now, at_ms)) now = terms.find((one) => holds(one, at_ms))
    return now === undefined
      ? null
      : quarterPrice(now, markets.get(now.market_code)!, { at_ms, rateAt })
  }
}

function quarterPrice(
  terms: Terms,
  { currency: market_currency, published, estimated }: PricedMarket,
  { at_ms, rateAt }: { at_ms: number; rateAt: RateAt },
): QuarterPrice {
  const { currency } = terms.assignment
  const rateFrom = (other: string) => rateAt(other, currency, at_ms)
  const rate = rateFrom(market_currency)
  const known = microAt(published, at_ms)
  const micro = known ?? (estimated && microAt(estimated, at_ms))
  const market_price = micro === null || rate === null ? null : converted(micro, rate)
  const price = contractPrice(terms.price, market_price)
  const fees = price === null ? null : feesOf(terms, price, rateFrom)
  return {
    currency,
    market_price,
    is_estimate: known === null && market_price !== null,
    price,
    net_price: price === null || fees === null ? null : price - fees,
    reason: price !== null ? null : rate === null ? 'no_exchange_rate' : 'no_price',
  }
}

/** Energy-based fees per MWh; null when an exchange rate is unknown. */
function feesOf(
  { fees }: Terms,
  price: number,
  rateFrom: (currency: string) => number | null,
): number | null {
  let sum = 0
  for (const { basis, value, currency } of fees) {
    if (basis === 'per_month' || basis === 'per_mw_month') continue
    if (basis === 'percent') {
      sum += percentOf(price, value)
    } else {
      const rate = currency === null ? sameCurrency : rateFrom(currency)
      if (rate === null) return null
      sum += converted(value, rate)
    }
  }
  return sum
}
