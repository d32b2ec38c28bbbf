/** What plants are paid for a MWh in each quarter of an hour, and what they keep of it. */
import {
  createPriceStore,
  type Market,
  type PricePeriod,
  type Span,
} from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import type { MoneyReason } from './accounting.ts'
import { readTerms, type TermsWindow } from './books.ts'
import { contractPrice } from './contract-price.ts'
import { type RateAt, rateAtOf } from './exchange-rates.ts'
import { converted, percentOf, sameCurrency } from './money.ts'
import { quarter_ms } from './plant-quarters.ts'
import { type QuarterPrices, quarterPrices } from './quarter-prices.ts'
import type { Terms } from './terms.ts'

interface PricesAsked extends TermsWindow {
  /** Prices that stand in where none is published, such as a forecast of them. */
  readEstimates?: (market: Market, span: Span) => Promise<PricePeriod[]>
}

/** Of a quarter under a contract; prices are in micro of its currency per MWh. */
export interface QuarterPrice {
  currency: string
  /** Of the market that is sold into, and whether it is an estimate. */
  market_price: number | null
  is_estimate: boolean
  /** What the contract pays. */
  price: number | null
  /** The same less the fees that go by energy. */
  net_price: number | null
  /** What keeps a price from being known. */
  reason: MoneyReason | null
}

/** By the begin of a quarter, Unix ms, within what was asked; null under no contract. */
export type PriceAt = (start_ms: number) => QuarterPrice | null

export interface SitePrices {
  /** By plant. */
  plants: Map<number, PriceAt>
  /** For sums over several currencies: that of the site; null without contracts. */
  currency: string | null
  rateAt: RateAt
}

export async function readPlantPrices(db: Queries, asked: PricesAsked): Promise<SitePrices> {
  const { from_ms, to_ms, readEstimates } = asked
  const span = { from: new Date(from_ms), to: new Date(to_ms) }
  const { markets, termsByPlant, currency, rates } = await readTerms(db, asked)
  const rateAt = rateAtOf(rates)
  const store = createPriceStore(db)
  const priced = new Map<string, PricedMarket>()
  for (const { market_code } of [...termsByPlant.values()].flat()) {
    if (priced.has(market_code)) continue
    const market = markets.get(market_code)!
    const published = await store.dayAhead(market_code, span)
    const estimates = (await readEstimates?.(market, span)) ?? []
    priced.set(market_code, {
      currency: market.currency,
      published: quarterPrices(published, { from_ms, to_ms }),
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
  const rateFrom = (other: string) =>
    other === currency ? sameCurrency : rateAt(other, currency, at_ms)
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

function microAt({ from_ms, price_micro }: QuarterPrices, at_ms: number): number | null {
  const micro = price_micro[(at_ms - from_ms) / quarter_ms] ?? Number.NaN
  return Number.isNaN(micro) ? null : micro
}

/** Per MWh, of the fees that go by energy; null where a rate is not known. */
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
      continue
    }
    const rate = currency === null ? sameCurrency : rateFrom(currency)
    if (rate === null) return null
    sum += converted(value, rate)
  }
  return sum
}
