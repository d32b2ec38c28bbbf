import { utcDate } from '@heliograph/domain/utc-day'
import type { Context } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { found } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { siteFacts } from '../plant/site-facts.ts'
import { served } from '../storage/records.ts'
import { comparison } from './comparison.ts'
import { dayOf, marketDay, publishedUntil, solarWeight } from './day.ts'
import { resolutionOf, utcDay } from './periods.ts'
import { readMarket, readRate } from './price-store.ts'
import { MarketCode, MarketComparison, MarketDay, MarketRecord } from './schemas.ts'
import { type MarketRow, readDayAhead, readHomeMarket, readSiteMarkets } from './store.ts'

const markets = {
  method: 'GET',
  tag: 'Markets',
  scope: 'markets:read',
  module: 'basic_scada',
} as const

export const listMarkets = endpoint({
  ...markets,
  path: '/markets',
  operation_id: 'markets_list',
  summary: 'List markets and the state of their prices',
  description:
    'Returns all markets by code, also those whose prices are neither fetched nor imported: ' +
    'plants can be assigned to them.',
  returns: List(MarketRecord),
  async handle({ site: { site_id } }, { db, clock }: Context) {
    const rows = await readSiteMarkets(db, site_id, clock.now())
    return list(rows.map(marketRecord))
  },
})

function marketRecord(row: MarketRow): MarketRecord {
  const { last_period_minutes, has_data_from_at, next_attempt_at, failure_count } = row
  const newest = last_period_minutes ? [{ start_ms: 0, end_ms: last_period_minutes * 60_000 }] : []
  return served(MarketRecord, {
    ...row,
    resolution_minutes: resolutionOf(newest, row.resolution_minutes),
    has_data_from_date: has_data_from_at && utcDate(has_data_from_at),
    source_state: stateOf(row),
    next_attempt_at: failure_count > 0 ? next_attempt_at : null,
  })
}

function stateOf({ source, failure_count, fetched_at }: MarketRow): MarketRecord['source_state'] {
  if (source === null) return 'not_followed'
  if (failure_count > 0) return 'failing'
  return fetched_at === null ? 'waiting' : 'ok'
}

export const marketPrices = endpoint({
  ...markets,
  path: '/markets/{market_code}/prices',
  operation_id: 'market_prices_list',
  summary: 'List the day-ahead prices of a market on a UTC day',
  description:
    'Returns every period of the day in ascending order, newest revisions only; unknown prices ' +
    'are null. A UTC day always has 24 hours and overlaps two delivery days of the market, which ' +
    'have 23, 24 or 25 hours.',
  params: { market_code: MarketCode },
  query: { target_date: field.UtcDay },
  returns: MarketDay,
  async handle({ site: { site_id }, params: { market_code }, query }, { db, clock }: Context) {
    const now = clock.now()
    const market = found(await readMarket(db, market_code), { market_code })
    const date = query.target_date ?? utcDate(now)
    const [facts, prices] = await Promise.all([
      siteFacts(db, site_id),
      readDayAhead(db, [market_code], utcDay(date)),
    ])
    const request = { target_date: date, solar_weight: solarWeight(facts), now }
    return marketDay(market, prices.get(market_code) ?? [], request)
  },
})

export const compareMarkets = endpoint({
  ...markets,
  path: '/markets/compare',
  operation_id: 'markets_compare',
  summary: 'Compare markets on a UTC day',
  description:
    'Returns the markets with the highest base price first: those whose prices are fetched, those ' +
    'with prices on the day, and those to which plants of the site are assigned. Until all of ' +
    'them have published the whole day, base prices, spreads and ranks cover the part that all ' +
    'have published, up to `base_until_at`. Prices are in the currency of each market; spreads ' +
    'and ranks are in `base_currency` at the rates set by the operator. Without a rate both are ' +
    'null, see `spread_reason`. A spread between coupled markets is congestion rent; a producer ' +
    'earns it only if a contract says so.',
  query: { target_date: field.UtcDay },
  returns: MarketComparison,
  async handle({ site: { site_id }, query }, { db, clock }: Context) {
    const now = clock.now()
    const date = query.target_date ?? utcDate(now)
    const span = utcDay(date)
    const [facts, all, home_market_code] = await Promise.all([
      siteFacts(db, site_id),
      readSiteMarkets(db, site_id, now),
      readHomeMarket(db, site_id, date),
    ])
    const codes = all.map(({ market_code }) => market_code)
    const prices = await readDayAhead(db, codes, span)
    const shown = all.filter(
      ({ market_code, source, assigned_logger_ids }) =>
        source !== null ||
        assigned_logger_ids.length > 0 ||
        prices.has(market_code) ||
        market_code === home_market_code,
    )
    const home = all.find(({ market_code }) => market_code === home_market_code)
    const base_currency = home?.currency ?? 'EUR'
    const pricesOf = (market: MarketRow) => prices.get(market.market_code) ?? []
    // The comparison covers only the time that every market with prices has published.
    const until_ms = Math.min(
      span.end_ms,
      ...shown
        .filter((market) => pricesOf(market).length > 0)
        .map((market) => publishedUntil(market, pricesOf(market), { target_date: date, now })),
    )
    const request = { target_date: date, solar_weight: solarWeight(facts), now, until_ms }
    const on = new Date(span.start_ms)
    const compared = await Promise.all(
      shown.map(async (market) => ({
        market,
        day: dayOf(market, pricesOf(market), request),
        fx_rate: await readRate(db, { currency: market.currency, base: base_currency, on }),
      })),
    )
    return comparison(compared, { target_date: date, home_market_code, base_currency })
  },
})
