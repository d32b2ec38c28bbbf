/**
 * Markets, prices and exchange rates in the database. Prices in memory are whole micro-units of the
 * market's currency per MWh, so that money made of them is exact: -0.01 EUR/MWh is -10 000.
 */
import { utcDate } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import type { PricePeriod, Resolution } from './periods.ts'

export type { PricePeriod }

export type PriceKind = 'day_ahead' | 'imbalance'
/** Where a market's prices are fetched from. */
export const followedSources = ['entsoe', 'energy_charts', 'simulated'] as const
export type FollowedSource = (typeof followedSources)[number]
/** Where stored prices came from. */
export const priceSources = [...followedSources, 'csv'] as const
export type PriceSource = (typeof priceSources)[number]

/** The instants of [from, to). */
export interface Span {
  from: Date
  to: Date
}

export interface Market {
  market_code: string
  name: string
  /** The bidding zone at ENTSO-E. */
  eic_code: string | null
  country_codes: string[]
  type: 'day_ahead'
  auction: 'sdac' | 'exaa' | 'local' | null
  operator: string | null
  /** ISO 4217, of all its prices. */
  currency: string
  /** IANA zone of its delivery day and of the times of day below. */
  timezone: string
  /** Usual; prices have their own. */
  resolution_minutes: Resolution
  /** HH:MM on the day before delivery. */
  gate_closure_local: string | null
  publication_local: string | null
  price_min_per_mwh: number | null
  price_max_per_mwh: number | null
  /** Which of several day-ahead auctions of its zone, as ENTSO-E counts them. */
  sequence: number | null
  /** null: its prices are not fetched. */
  source: FollowedSource | null
  /** The first delivery day that is fetched, YYYY-MM-DD. */
  followed_from: string | null
}

export interface PriceStore {
  /** By code. */
  markets(): Promise<Market[]>
  market(market_code: string): Promise<Market | null>
  /**
   * The newest prices of the periods that share time with the span, whole, ascending, without
   * overlap. A period without a price is absent.
   */
  dayAhead(market_code: string, span: Span): Promise<PricePeriod[]>
  /** The same of imbalance prices. */
  imbalance(market_code: string, span: Span): Promise<PricePeriod[]>
  /**
   * When the last of the newest day-ahead prices of the span became known here: as the source says
   * they were published, else when they were fetched. null without any.
   */
  publishedAt(market_code: string, span: Span): Promise<Date | null>
  /** How many `base` one `currency` was on that UTC day; null where no rate was set. */
  rate(currency: string, base: string, on: Date): Promise<number | null>
}

const number = (column: string) => `${column}::float8 as ${column}`
export const marketColumns = `market_code, name, eic_code, country_codes, type, auction, operator, currency,
  timezone, resolution_minutes, gate_closure_local, publication_local,
  ${number('price_min_per_mwh')}, ${number('price_max_per_mwh')}, sequence, source,
  followed_from`

/** No period is longer than a day: that bound lets the index begin the search there. */
const overlapping = `market_code = $1 and kind = $2 and is_current
  and start_at < $4 and end_at > $3 and start_at > $3::timestamptz - interval '1 day'`

/**
 * Of a period its begin and end, as PostgreSQL counts instants, and its price in micro: 8-byte
 * integers, big endian, of ten days in one value. As rows a year of them takes several times as
 * long to read, and as one value it has the whole heap collected at every third request.
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
/** The zero of its instants, which are microseconds. */
const postgres_epoch_ms = Date.UTC(2000, 0, 1)

export function createPriceStore(db: Queries): PriceStore {
  const periods = (kind: PriceKind) => (market_code: string, span: Span) =>
    readPrices(db, { market_code, kind }, span)
  return {
    markets: () => db.query<Market>(`select ${marketColumns} from markets order by market_code`),
    async market(market_code) {
      const [row] = await db.query<Market>(
        `select ${marketColumns} from markets where market_code = $1`,
        [market_code],
      )
      return row ?? null
    },
    dayAhead: periods('day_ahead'),
    imbalance: periods('imbalance'),
    async publishedAt(market_code, { from, to }) {
      const [row] = await db.query<{ at: Date | null }>(
        `select max(coalesce(published_at, fetched_at)) as at from market_prices
         where ${overlapping}`,
        [market_code, 'day_ahead', from, to],
      )
      return row!.at
    },
    rate: (currency, base, on) => readRate(db, { currency, base, on }),
  }
}

/** The newest prices of one kind that share time with a span. */
export async function readPrices(
  db: Queries,
  { market_code, kind }: { market_code: string; kind: PriceKind },
  { from, to }: Span,
): Promise<PricePeriod[]> {
  const values = [market_code, kind, from, to]
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

/** How many `base` one `currency` was on a UTC day; null where one of the two has no rate. */
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
