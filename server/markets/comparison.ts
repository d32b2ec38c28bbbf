/** Markets beside each other on one day, in one currency where a rate is set. */
import type { Static } from 'typebox'
import { type DayOfMarket, periodRecord, statisticsRecord } from './day.ts'
import { priceOf } from './micro.ts'
import type { Market } from './price-store.ts'
import type { MarketComparison, SpreadReason } from './schemas.ts'

interface Compared {
  market: Market
  day: DayOfMarket
  /** What one of its currency is in the base currency; null: no rate is set. */
  fx_rate: number | null
}

interface Frame {
  target_date: string
  home_market_code: string | null
  base_currency: string
}

/** The answer: the dearest first, those without a comparable price last. */
export function comparison(
  compared: readonly Compared[],
  frame: Frame,
): Static<typeof MarketComparison> {
  const inBase = ({ day, fx_rate }: Compared) => {
    const { base_micro } = day.statistics
    return base_micro === null || fx_rate === null ? null : base_micro * fx_rate
  }
  const home = compared.find(({ market }) => market.market_code === frame.home_market_code)
  const home_micro = home ? inBase(home) : null
  const dearest_first = compared.toSorted((a, b) => (inBase(b) ?? -1e18) - (inBase(a) ?? -1e18))
  const data = dearest_first.map((each) => {
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

function reasonOf({ fx_rate }: Compared, home: Compared | undefined): SpreadReason {
  if (!home) return 'no_home_market'
  return fx_rate === null || home.fx_rate === null ? 'no_exchange_rate' : 'prices_incomplete'
}
