import type { Queries } from '../storage/database.ts'
import type { PeriodSpan, PricePeriod } from './periods.ts'
import {
  createPriceStore,
  type Market,
  marketColumns,
  type PriceSource,
  type PriceStore,
} from './price-store.ts'

/** A market as a site sees it, with what became of fetching its prices. */
export interface MarketRow extends Market {
  has_data_from_at: Date | null
  last_price_at: Date | null
  /** Of its newest price. */
  last_period_minutes: number | null
  fetched_at: Date | null
  failed_at: Date | null
  failure_count: number
  last_failure: string | null
  next_attempt_at: Date | null
  assigned_logger_ids: number[]
}

/** A price as it is stored. */
export interface PriceRow extends PricePeriod {
  revision: number
  source: PriceSource
  document_id: string | null
  published_at: Date | null
  fetched_at: Date
}

export interface MarketStore {
  /** By code. */
  all(site_id: string, now: Date): Promise<MarketRow[]>
  market: PriceStore['market']
  /** Newest day-ahead prices that share time with the span, ascending; by market. */
  prices(market_codes: readonly string[], span: PeriodSpan): Promise<Map<string, PriceRow[]>>
  /** The market in which most of the site's rated power sits on a day YYYY-MM-DD; null: none. */
  home(site_id: string, date: string): Promise<string | null>
  rate: PriceStore['rate']
}

const all = {
  name: 'markets_of_site',
  text: `
    select ${marketColumns}, f.succeeded_at as fetched_at, f.failed_at,
      coalesce(f.failure_count, 0) as failure_count, f.last_failure, f.next_attempt_at,
      oldest.start_at as has_data_from_at, newest.end_at as last_price_at,
      (extract(epoch from newest.end_at - newest.start_at) / 60)::float8 as last_period_minutes,
      coalesce(a.logger_ids, '{}') as assigned_logger_ids
    from markets m
      left join price_fetches f using (market_code)
      left join lateral (
        select p.start_at from market_prices p
        where p.market_code = m.market_code and p.kind = 'day_ahead' and p.is_current
        order by p.start_at limit 1) as oldest on true
      left join lateral (
        select p.start_at, p.end_at from market_prices p
        where p.market_code = m.market_code and p.kind = 'day_ahead' and p.is_current
        order by p.start_at desc limit 1) as newest on true
      left join lateral (
        select array_agg(distinct s.logger_id order by s.logger_id) as logger_ids
        from market_assignments s
        where s.site_id = $1 and m.market_code in (s.market_code, s.sold_market_code)
          and s.valid_from <= ($2::timestamptz at time zone m.timezone)::date
          and coalesce(s.valid_to, 'infinity') >= ($2::timestamptz at time zone m.timezone)::date
      ) as a on true
    order by market_code`,
}

const prices = {
  name: 'market_prices_of_markets',
  text: `
    select p.market_code, (extract(epoch from p.start_at) * 1000)::float8 as start_ms,
      (extract(epoch from p.end_at) * 1000)::float8 as end_ms,
      (p.price * 1000000)::bigint as price_micro, p.revision, p.source, p.document_id,
      p.published_at, p.fetched_at
    from unnest($1::text[]) as m (code)
      join market_prices p on p.market_code = m.code and p.kind = 'day_ahead' and p.is_current
        and p.start_at < $3 and p.end_at > $2 and p.start_at > $2::timestamptz - interval '1 day'
    order by p.market_code, p.start_at`,
}

const home = `
  select a.market_code
  from market_assignments a
    join loggers l on l.site_id = a.site_id and l.logger_id = a.logger_id
  where a.site_id = $1 and a.valid_from <= $2 and coalesce(a.valid_to, 'infinity') >= $2
    and l.retired_at is null
  group by a.market_code
  order by sum(l.rated_power_kw) desc, a.market_code limit 1`

export function createMarketStore(db: Queries): MarketStore {
  const stored = createPriceStore(db)
  return {
    all: (site_id, now) => db.query<MarketRow>(all, [site_id, now]),
    market: stored.market,
    async prices(market_codes, { start_ms, end_ms }) {
      const rows = await db.query<PriceRow & { market_code: string }>(prices, [
        market_codes,
        new Date(start_ms),
        new Date(end_ms),
      ])
      return Map.groupBy(rows, ({ market_code }) => market_code)
    },
    async home(site_id, date) {
      const [row] = await db.query<{ market_code: string }>(home, [site_id, date])
      return row?.market_code ?? null
    },
    rate: stored.rate,
  }
}
