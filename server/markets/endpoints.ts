import type { Clock } from '@heliograph/domain/clock'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import type { SiteFacts } from '../plant/situation.ts'
import { comparison } from './comparison.ts'
import { dayOf, lightAt, marketDay, publishedUntil } from './day.ts'
import { comparisonExample, marketDayExample, marketExample } from './examples.ts'
import { resolutionOf, utcDay } from './periods.ts'
import {
  type FetchState,
  MarketCode,
  MarketComparison,
  MarketDay,
  MarketRecord,
} from './schemas.ts'
import type { MarketRow, MarketStore } from './store.ts'

export interface Needs {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  markets: MarketStore
}

const markets = {
  method: 'GET',
  tag: 'Markets',
  scope: 'markets:read',
  module: 'basic_scada',
} as const

const target_date = Type.Optional(
  Type.String({
    format: 'date',
    description: 'The day, UTC; today where none is given.',
    examples: ['2026-06-21'],
  }),
)

export const listMarkets = endpoint({
  ...markets,
  path: '/markets',
  operation_id: 'markets_list',
  summary: 'The markets that are known, and the state of their prices',
  description:
    'By code. A market whose prices are neither fetched nor imported is listed too: plants can be ' +
    'assigned to it.',
  returns: List(MarketRecord),
  example: { answer: list([marketExample]) },
  async handle({ site: { site_id } }, needs: Needs) {
    const rows = await needs.markets.all(site_id, needs.clock.now())
    return list(rows.map(marketRecord))
  },
})

function marketRecord(row: MarketRow): Static<typeof MarketRecord> {
  const { sequence, followed_from, last_period_minutes, has_data_from_at, ...rest } = row
  const newest = last_period_minutes ? [{ start_ms: 0, end_ms: last_period_minutes * 60_000 }] : []
  return {
    ...rest,
    resolution_minutes: resolutionOf(newest, row.resolution_minutes),
    has_data_from_date: has_data_from_at && utcDate(has_data_from_at),
    last_price_at: row.last_price_at?.toISOString() ?? null,
    source_state: stateOf(row),
    fetched_at: row.fetched_at?.toISOString() ?? null,
    failed_at: row.failed_at?.toISOString() ?? null,
    next_attempt_at: row.failure_count > 0 ? row.next_attempt_at!.toISOString() : null,
  }
}

function stateOf({ source, failure_count, fetched_at }: MarketRow): FetchState {
  if (source === null) return 'not_followed'
  if (failure_count > 0) return 'failing'
  return fetched_at === null ? 'waiting' : 'ok'
}

export const marketPrices = endpoint({
  ...markets,
  path: '/markets/{market_code}/prices',
  operation_id: 'market_prices_list',
  summary: 'Day-ahead prices of a market on one UTC day, period by period',
  description:
    'Every period of the day in ascending order, its price null where it is not known. A market ' +
    'delivers by its own calendar, so that a UTC day shares time with two delivery days; these ' +
    'have 23, 24 or 25 hours, a UTC day always 24. Newest revisions only.',
  params: { market_code: MarketCode },
  query: { target_date },
  returns: MarketDay,
  example: { answer: marketDayExample },
  async handle({ site: { site_id }, params: { market_code }, query }, needs: Needs) {
    const now = needs.clock.now()
    const market = await needs.markets.market(market_code)
    if (market === null) throw new ApiError('not_found', { market_code })
    const asked_date = query.target_date ?? utcDate(now)
    const [facts, prices] = await Promise.all([
      needs.sites.facts(site_id),
      needs.markets.prices([market_code], utcDay(asked_date)),
    ])
    const asked = { target_date: asked_date, light: lightAt(facts), now }
    return marketDay(market, prices.get(market_code) ?? [], asked)
  },
})

export const compareMarkets = endpoint({
  ...markets,
  path: '/markets/compare',
  operation_id: 'markets_compare',
  summary: 'Markets beside each other on one UTC day',
  description:
    'Those whose prices are fetched, those with prices on that day, and those that plants of the ' +
    'site are assigned to, the dearest first. Until the end of the day is published in all of ' +
    'them, base prices, spreads and ranks are of the part that is: `base_until_at` says how far ' +
    'it goes. Prices are in the currency of each market, spread ' +
    'and rank in `base_currency` by the rates that the operator has set; without a rate they are ' +
    'null, and `spread_reason` says so. Between coupled markets a spread is congestion rent and ' +
    'not earned by a producer, unless a contract says so.',
  query: { target_date },
  returns: MarketComparison,
  example: { answer: comparisonExample },
  async handle({ site: { site_id }, query }, needs: Needs) {
    const now = needs.clock.now()
    const asked_date = query.target_date ?? utcDate(now)
    const span = utcDay(asked_date)
    const [facts, all, home_market_code] = await Promise.all([
      needs.sites.facts(site_id),
      needs.markets.all(site_id, now),
      needs.markets.home(site_id, asked_date),
    ])
    const codes = all.map(({ market_code }) => market_code)
    const prices = await needs.markets.prices(codes, span)
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
    // What is published later in one market than in others is not compared before.
    const until_ms = Math.min(
      span.end_ms,
      ...shown
        .filter((market) => pricesOf(market).length > 0)
        .map((market) =>
          publishedUntil(market, pricesOf(market), { target_date: asked_date, now }),
        ),
    )
    const asked = { target_date: asked_date, light: lightAt(facts), now, until_ms }
    const compared = await Promise.all(
      shown.map(async (market) => ({
        market,
        day: dayOf(market, pricesOf(market), asked),
        fx_rate: await needs.markets.rate(market.currency, base_currency, new Date(span.start_ms)),
      })),
    )
    return comparison(compared, { target_date: asked_date, home_market_code, base_currency })
  },
})
