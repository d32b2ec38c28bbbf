/** Which two markets are compared, and what is read of them. */
import { significant } from '@heliograph/domain/significant'
import { addDays, day_ms } from '@heliograph/domain/utc-day'
import type { Contracts } from '../contracts/contract-store.ts'
import { quarter_ms } from '../contracts/plant-quarters.ts'
import { midnights } from '../contracts/terms.ts'
import { ApiError, invalid } from '../http/errors.ts'
import type { Market, PriceStore } from '../markets/price-store.ts'
import type { Compared, Stay } from './cross-border.ts'
import type { EarningsStore } from './store.ts'

export interface Reads {
  prices: Pick<PriceStore, 'market' | 'markets' | 'dayAhead' | 'rate'>
  earnings: Pick<EarningsStore, 'contracts' | 'hours' | 'retirements' | 'site'>
}

export interface Pair {
  base: Market
  sold: Market
}

/**
 * The markets that were asked for; else those of the contract that holds on the last day (of the
 * plant with the lowest id), else of the only market in the country of the site. Refuses 404 what
 * is no market, and 422 where there is nothing to go by.
 */
export async function pairOf(
  { prices, earnings }: Reads,
  { site_id, base, sold, end }: { site_id: string; base?: string; sold?: string; end: string },
): Promise<Pair> {
  const { assignments } = await earnings.contracts(site_id, null)
  const held = assignments
    .filter(({ valid_from }) => valid_from <= end)
    .filter(({ market_code }) => base === undefined || market_code === base)
  const contract = held.find(({ valid_to }) => valid_to === null || valid_to >= end) ?? held.at(-1)
  const base_code = base ?? contract?.market_code ?? (await marketOfCountry(site_id))
  const sold_code = sold ?? contract?.sold_market_code ?? base_code
  return { base: await marketOf(base_code), sold: await marketOf(sold_code) }

  async function marketOf(market_code: string): Promise<Market> {
    const market = await prices.market(market_code)
    if (market === null) throw new ApiError('not_found', { market_code })
    return market
  }

  async function marketOfCountry(site_id: string): Promise<string> {
    const { country_code } = await earnings.site(site_id)
    const markets = await prices.markets()
    const [only, ...others] = markets.filter(
      ({ country_codes, auction }) => auction !== 'exaa' && country_codes.includes(country_code!),
    )
    if (only !== undefined && others.length === 0) return only.market_code
    const message = 'is needed: no plant of the site has a contract that names its market'
    throw invalid({ location: 'query', field: 'base', code: 'required', message })
  }
}

/** What `crossBorderPrices` compares, of [from_ms, to_ms), days of UTC. */
export async function readCompared(
  { prices, earnings }: Reads,
  { base, sold }: Pair,
  { site_id, from_ms, to_ms }: { site_id: string; from_ms: number; to_ms: number },
): Promise<Compared> {
  const span = { from: new Date(from_ms), to: new Date(to_ms) }
  const contracts = await earnings.contracts(site_id, null)
  const midnight = midnights(sold.timezone)
  const fees = contracts.fees
    .filter(({ code }) => code === 'cross_border')
    .map((fee) => ({
      ...fee,
      from_ms: midnight(fee.valid_from),
      to_ms: fee.valid_to === null ? Infinity : midnight(addDays(fee.valid_to, 1)),
    }))
  const retirements = await earnings.retirements(site_id)
  const stays = staysOf(contracts, base, { markets: await prices.markets(), retirements })
  const wh = new Float64Array((to_ms - from_ms) / quarter_ms)
  if (stays.some((stay) => stay.from_ms < to_ms && stay.to_ms > from_ms)) {
    for (const [logger_id, hours] of await earnings.hours(site_id, span)) {
      const of_plant = stays.filter((stay) => stay.logger_id === logger_id)
      for (const { start_ms, energy_wh } of hours) {
        for (const [nth, quarter_wh] of energy_wh.entries()) {
          const at_ms = start_ms + nth * quarter_ms
          const is_there = of_plant.some((stay) => stay.from_ms <= at_ms && at_ms < stay.to_ms)
          if (is_there) wh[(at_ms - from_ms) / quarter_ms]! += quarter_wh ?? 0
        }
      }
    }
  }
  const currencies = [sold.currency, ...fees.flatMap(({ currency }) => currency ?? [])]
  /** By currency, of each day from `from_ms` on. */
  const rates = new Map<string, (number | null)[]>()
  for (const currency of new Set(currencies)) {
    const of_days: (number | null)[] = []
    for (let day = from_ms; day < to_ms; day += day_ms) {
      const rate = await prices.rate(currency, base.currency, new Date(day))
      // Without the noise of a quotient of two rates.
      of_days.push(rate === null ? null : significant(rate))
    }
    rates.set(currency, of_days)
  }
  return {
    base: { market: base, periods: await prices.dayAhead(base.market_code, span) },
    sold: { market: sold, periods: await prices.dayAhead(sold.market_code, span) },
    from_ms,
    to_ms,
    rateAt: (currency, time_ms) =>
      rates.get(currency)?.[Math.floor((time_ms - from_ms) / day_ms)] ?? null,
    fees,
    stays,
    wh,
  }
}

/** Who is in the base market when, by contract: in days of the market that is sold into. */
function staysOf(
  { assignments }: Contracts,
  base: Market,
  { markets, retirements }: { markets: readonly Market[]; retirements: Map<number, number> },
): Stay[] {
  return assignments.flatMap(({ logger_id, market_code, sold_market_code, ...dates }) => {
    if (market_code !== base.market_code) return []
    const sold_code = sold_market_code ?? market_code
    const sold = markets.find((market) => market.market_code === sold_code) ?? base
    const midnight = midnights(sold.timezone)
    const { valid_from, valid_to } = dates
    const end_ms = valid_to === null ? Infinity : midnight(addDays(valid_to, 1))
    const to_ms = Math.min(end_ms, retirements.get(logger_id) ?? Infinity)
    return [{ logger_id, sold_code, from_ms: midnight(valid_from), to_ms }]
  })
}
