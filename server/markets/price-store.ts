/**
 * Markets, prices and exchange rates in the database. Prices in memory are integer micro-units of
 * the market's currency per MWh, so that revenue is exact: -0.01 EUR/MWh is -10 000.
 */

import { utcDate } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import type { PeriodSpan, PricePeriod, Resolution } from './periods.ts'
import type { FetchField, MarketRecord } from './schemas.ts'

export type { PricePeriod }

export type PriceKind = 'day_ahead' | 'imbalance'

export interface Market extends Omit<MarketRecord, FetchField | 'resolution_minutes'> {
  /** Usual length of a period; each price has its own. */
  resolution_minutes: Resolution
  /** Number of the day-ahead auction in its zone, as ENTSO-E counts them. */
  sequence: number | null
  /** First delivery day that is fetched, YYYY-MM-DD. */
  followed_from: string | null
}

const number = (column: string) => `${column}::float8 as ${column}`
export const marketColumns = `market_code, name, eic_code, country_codes, type, auction, operator, currency,
  timezone, resolution_minutes, gate_closure_local, publication_local,
  ${number('price_min_per_mwh')}, ${number('price_max_per_mwh')}, sequence, source,
  followed_from`

/** No period is longer than a day; the bound on `start_at` lets the index start there. */
const overlapping = `market_code = $1 and kind = $2 and is_current
  and start_at < $4 and end_at > $3 and start_at > $3::timestamptz - interval '1 day'`

/**
 * Start, end and price (micro) of each period as big-endian 8-byte integers, packed into one value
 * per ten days. Reading a year as rows takes several times as long; as one single value it triggers
 * a full garbage collection at every third request.
 */
const periodsIn = {
  name: 'market_prices_in',
  text: `select periods
         from generate_series($3::timestamptz - interval '1 day', $4, interval '240 hours') as first_at,
         lateral (
           select string_agg(timestamptz_send(start_at) || timestamptz_send(end_at)
             || int8send((1000000 * price)::int8), ''::bytea order by start_at) as periods
           from market_prices
           where ${overlapping}
             and start_at >= first_at and start_at < first_at + interval '240 hours'
         ) as of_ten_days
         where periods is not null
         order by first_at`,
}
const period_bytes = 24
/** Epoch of PostgreSQL timestamps, which count microseconds. */
const postgres_epoch_ms = Date.UTC(2000, 0, 1)

export const readMarkets = (db: Queries) =>
  db.query<Market>(`select ${marketColumns} from markets order by market_code`)

export const readMarket = (db: Queries, market_code: string) =>
  db.queryOne<Market>(`select ${marketColumns} from markets where market_code = $1`, [market_code])

/**
 * Current prices of one kind whose periods overlap the span: whole periods, ascending, without
 * overlap. A period without a price is absent.
 */
export async function readPrices(
  db: Queries,
  { market_code, kind }: { market_code: string; kind: PriceKind },
  { start_ms, end_ms }: PeriodSpan,
): Promise<PricePeriod[]> {
  const values = [market_code, kind, new Date(start_ms), new Date(end_ms)]
  const rows = await db.query<{ periods: Buffer }>(periodsIn, values)
  const periods: PricePeriod[] = []
  for (const { periods: packed } of rows) {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
    const integer = (at: number) => view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4)
    const instant = (at: number) => postgres_epoch_ms + integer(at) / 1000
    for (let at = 0; at < packed.length; at += period_bytes) {
      periods.push({
        start_ms: instant(at),
        end_ms: instant(at + 8),
        price_micro: integer(at + 16),
      })
    }
  }
  return periods
}

/** Value of one `currency` in `base` on a UTC day; null when either has no rate. */
export async function readRate(
  db: Queries,
  { currency, base, on }: { currency: string; base: string; on: Date },
): Promise<number | null> {
  if (currency === base) return 1
  const rows = await db.query<{ currency: string; per_eur: number }>(
    `select distinct on (currency) currency, per_eur::float8 as per_eur from exchange_rates
     where currency in ($1, $2) and valid_from <= $3 order by currency, valid_from desc`,
    [currency, base, utcDate(on)],
  )
  const perEur = (wanted: string) =>
    wanted === 'EUR' ? 1 : rows.find((row) => row.currency === wanted)?.per_eur
  const [of, to] = [perEur(currency), perEur(base)]
  return of === undefined || to === undefined ? null : to / of
}
