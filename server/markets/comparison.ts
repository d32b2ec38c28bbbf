/** Compares markets on one day, in one currency when exchange rates are set. */
import type { Static } from 'typebox'
import { type DayOfMarket, periodRecord, statisticsRecord } from './day.ts'
import { priceOf } from './micro.ts'
import type { Market } from './price-store.ts'
import type { ComparedMarket, MarketComparison } from './schemas.ts'

interface Compared {
  market: Market
  day: DayOfMarket
  /** Value of one unit of the market's currency in the base currency; null without a rate. */
  fx_rate: number | null
}

/** Highest base price first; markets without a comparable price last. */
export function comparison(
  compared: readonly Compared[],
  frame: { target_date: string; home_market_code: string | null; base_currency: string },
): Static<typeof MarketComparison> {
  const inBase = ({ day, fx_rate }: Compared) => {
    const { base_micro } = day.statistics
    return base_micro === null || fx_rate === null ? null : base_micro * fx_rate
  }
  const home = compared.find(({ market }) => market.market_code === frame.home_market_code)
  const home_micro = home ? inBase(home) : null
  const highest_first = compared.toSorted((a, b) => (inBase(b) ?? -1e18) - (inBase(a) ?? -1e18))
  const data = highest_first.map((each) => {
    const { market, day, fx_rate } = each
    const own_micro = inBase(each)
    const has_spread = own_micro !== null && home_micro !== null
    return {
      market_code: market.market_code,
      name: market.name,
      ...day.facts,
      fx_rate_to_base: fx_rate,
      ...statisticsRecord(day.statistics),
      spread_to_home_per_mwh: has_spread ? priceOf(Math.round(own_micro - home_micro) || 0) : null,
      spread_reason: has_spread ? null : reasonOf(each, home),
      is_home_market: market.market_code === frame.home_market_code,
      rank:
        own_micro === null
          ? null
          : 1 + compared.filter((other) => (inBase(other) ?? -1e18) > own_micro).length,
      periods: day.slots.map(periodRecord),
    }
  })
  return { data, meta: { count: data.length, ...frame } }
}

function reasonOf(
  { fx_rate }: Compared,
  home: Compared | undefined,
): NonNullable<ComparedMarket['spread_reason']> {
  if (!home) return 'no_home_market'
  return fx_rate === null || home.fx_rate === null ? 'no_exchange_rate' : 'prices_incomplete'
}
