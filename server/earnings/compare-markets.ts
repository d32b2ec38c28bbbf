/** Chooses two markets to compare and reads their prices, fees and energy. */
import { quarter_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { addDays } from '@heliograph/domain/utc-day'
import { type Contracts, readContracts } from '../contracts/contract-store.ts'
import { rateAtOf, readRateSpans } from '../contracts/exchange-rates.ts'
import { sameCurrency } from '../contracts/money.ts'
import { readPlantHours } from '../contracts/plant-quarters.ts'
import { midnights } from '../contracts/terms.ts'
import { badField, found } from '../http/errors.ts'
import { type Market, readMarket, readMarkets, readPrices } from '../markets/price-store.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { Queries } from '../storage/database.ts'
import type { Comparison, MarketStay } from './cross-border.ts'
import { readLoggers } from './store.ts'

export interface Pair {
  base: Market
  sold: Market
}

/**
 * The markets of the request. They default to those of the contract valid on the last day (of the
 * plant with the lowest id), then to the only market in the country of the site.
 *
 * @throws ApiError not_found for an unknown market, validation_error without a default
 */
export async function readPair(
  db: Queries,
  { site_id, base, sold, end }: { site_id: string; base?: string; sold?: string; end: string },
): Promise<Pair> {
  const { assignments } = await readContracts(db, site_id)
  const started = assignments
    .filter(({ valid_from }) => valid_from <= end)
    .filter(({ market_code }) => base === undefined || market_code === base)
  const contract =
    started.find(({ valid_to }) => valid_to === null || valid_to >= end) ?? started.at(-1)
  const base_code = base ?? contract?.market_code ?? (await marketOfCountry(db, site_id))
  const sold_code = sold ?? contract?.sold_market_code ?? base_code
  return { base: await requireMarket(db, base_code), sold: await requireMarket(db, sold_code) }
}

const requireMarket = async (db: Queries, market_code: string): Promise<Market> =>
  found(await readMarket(db, market_code), { market_code })

async function marketOfCountry(db: Queries, site_id: string): Promise<string> {
  const { country_code } = await siteFacts(db, site_id)
  const markets = await readMarkets(db)
  const [only, ...others] = markets.filter(
    ({ country_codes, auction }) => auction !== 'exaa' && country_codes.includes(country_code!),
  )
  if (only !== undefined && others.length === 0) return only.market_code
  const message = 'is required: no contract of the site names a market'
  throw badField('base', 'required', message, 'query')
}

/** Input of `crossBorderPrices` for [from_ms, to_ms), whole UTC days. */
export async function readComparison(
  db: Queries,
  { base, sold }: Pair,
  { site_id, from_ms, to_ms }: { site_id: string; from_ms: number; to_ms: number },
): Promise<Comparison> {
  const span = { from: new Date(from_ms), to: new Date(to_ms) }
  const contracts = await readContracts(db, site_id)
  const midnight = midnights(sold.timezone)
  const fees = contracts.fees
    .filter(({ code }) => code === 'cross_border')
    .map((fee) => ({
      ...fee,
      from_ms: midnight(fee.valid_from),
      to_ms: fee.valid_to === null ? Infinity : midnight(addDays(fee.valid_to, 1)),
    }))
  const loggers = await readLoggers(db, site_id)
  const stays = staysOf(contracts, base, { markets: await readMarkets(db), loggers })
  const wh = new Float64Array((to_ms - from_ms) / quarter_ms)
  if (stays.some((stay) => stay.from_ms < to_ms && stay.to_ms > from_ms)) {
    for (const [logger_id, hours] of await readPlantHours(db, { site_id, ...span })) {
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
  const currencies = new Set([sold.currency, ...fees.flatMap(({ currency }) => currency ?? [])])
  const pairs = [...currencies].map((currency) => `${currency} ${base.currency}`)
  const exactRateAt = rateAtOf(await readRateSpans(db, pairs, { from_ms, to_ms }))
  const seriesOf = async (market: Market) => ({
    market,
    periods: await readPrices(
      db,
      { ...market, kind: 'day_ahead' },
      { start_ms: from_ms, end_ms: to_ms },
    ),
  })
  return {
    base: await seriesOf(base),
    sold: await seriesOf(sold),
    from_ms,
    to_ms,
    rateAt(currency, time_ms) {
      const rate = exactRateAt(currency, base.currency, time_ms)
      // Rounds away the noise of dividing two rates.
      return rate === null ? null : significant(rate / sameCurrency)
    },
    fees,
    stays,
    wh,
  }
}

/** The contracts of plants in the base market; their days are those of the market sold into. */
function staysOf(
  { assignments }: Contracts,
  base: Market,
  of: { markets: readonly Market[]; loggers: Awaited<ReturnType<typeof readLoggers>> },
): MarketStay[] {
  return assignments.flatMap(({ logger_id, market_code, sold_market_code, ...dates }) => {
    if (market_code !== base.market_code) return []
    const sold_code = sold_market_code ?? market_code
    const sold = of.markets.find((market) => market.market_code === sold_code) ?? base
    const midnight = midnights(sold.timezone)
    const { valid_from, valid_to } = dates
    const end_ms = valid_to === null ? Infinity : midnight(addDays(valid_to, 1))
    const to_ms = Math.min(end_ms, of.loggers.get(logger_id)?.retired_at?.getTime() ?? Infinity)
    return [{ logger_id, sold_code, from_ms: midnight(valid_from), to_ms }]
  })
}
