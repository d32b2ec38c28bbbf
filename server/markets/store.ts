/** Markets of a site and their day-ahead prices, as the endpoints read them. */
import type { Queries } from '../storage/database.ts'
import type { Stored } from '../storage/records.ts'
import type { PeriodSpan, PricePeriod } from './periods.ts'
import { type Market, marketColumns } from './price-store.ts'
import type { FetchField, MarketRecord, PriceSource } from './schemas.ts'

type StoredField = Exclude<FetchField, 'has_data_from_date' | 'source_state'>

export interface MarketRow extends Market, Stored<Pick<MarketRecord, StoredField>> {
  has_data_from_at: Date | null
  /** Length of the period of the newest price. */
  last_period_minutes: number | null
}

export interface PriceRow extends PricePeriod {
  revision: number
  source: PriceSource
  document_id: string | null
  published_at: Date | null
  fetched_at: Date
}

/** All markets by code, with the loggers of the site that are assigned to them today. */
export const readSiteMarkets = (db: Queries, site_id: string, now: Date) =>
  db.query<MarketRow>(marketsOfSite, [site_id, now])

/** Current day-ahead prices that overlap the span, ascending, by market. */
export async function readDayAhead(
  db: Queries,
  market_codes: readonly string[],
  { start_ms, end_ms }: PeriodSpan,
): Promise<Map<string, PriceRow[]>> {
  const values = [market_codes, new Date(start_ms), new Date(end_ms)]
  const rows = await db.query<PriceRow & { market_code: string }>(dayAhead, values)
  return Map.groupBy(rows, ({ market_code }) => market_code)
}

/** Market to which most of the site's rated power is assigned on a day YYYY-MM-DD; else null. */
export async function readHomeMarket(db: Queries, site_id: string, date: string) {
  const [row] = await db.query<{ market_code: string }>(homeMarket, [site_id, date])
  return row?.market_code ?? null
}

const marketsOfSite = {
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

const dayAhead = {
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

const homeMarket = `
  select a.market_code
  from market_assignments a
    join loggers l on l.site_id = a.site_id and l.logger_id = a.logger_id
  where a.site_id = $1 and a.valid_from <= $2 and coalesce(a.valid_to, 'infinity') >= $2
    and l.retired_at is null
  group by a.market_code
  order by sum(l.rated_power_kw) desc, a.market_code limit 1`
