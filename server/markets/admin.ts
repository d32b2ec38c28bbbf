/** Administration of markets, their prices and exchange rates. */

import { readFile } from 'node:fs/promises'
import { localDate } from '@heliograph/domain/local-day'
import { isDate } from '@heliograph/domain/utc-day'
import { type Admin, AdminError, checkChoice } from '../access/admin.ts'
import type { Transaction } from '../storage/database.ts'
import { changeRows, putRow } from '../storage/rows.ts'
import {
  type Market,
  marketColumns,
  type PriceKind,
  type PricePeriod,
  readMarket,
} from './price-store.ts'
import { inCurrency, limitFault, type Stored, storePrices } from './publications.ts'
import { type FollowedSource, followedSources } from './schemas.ts'
import { type LineFault, type PriceRow, readPriceCsv } from './sources/csv.ts'

const priceKinds = ['day_ahead', 'imbalance'] as const satisfies readonly PriceKind[]

export interface PriceImport extends Stored {
  market_code: string
  kind: PriceKind
  start_at: Date
  end_at: Date
}

/** Faults of a file that are listed one by one. */
const listed_max = 50

/**
 * Imports a file of prices (see `readPriceCsv`) for a market, all or nothing. Prices in another
 * currency are converted by the rate of their day. Rejects (`invalid`) a file with any fault and
 * lists the faults by line, among them day-ahead prices outside the limits of the auction. Rejects
 * imports into the simulated market.
 */
export async function importPrices(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { file, market_code, kind }: { file: string; market_code: string; kind: string },
): Promise<PriceImport> {
  const [checked] = checkChoice('kind', priceKinds, [kind])
  const market = await demandMarket({ db }, market_code)
  if (market.market_code === simulated_market) {
    throw new AdminError('invalid', `${market_code} is simulated: prices cannot be imported`)
  }
  const { rows, faults } = readPriceCsv(await readText(file), clock.now())
  if (faults.length > 0) throw refusal(file, faults)
  return db.transaction(async (tx) => {
    const periods = await convert(tx, rows, { market, file })
    const beyond = checked === 'day_ahead' ? beyondLimits(periods, rows, market) : []
    if (beyond.length > 0) throw refusal(file, beyond)
    const stored = await storePrices(tx, {
      market_code: market.market_code,
      kind: checked!,
      source: 'csv',
      document_id: null,
      published_at: null,
      fetched_at: clock.now(),
      periods,
    })
    return {
      market_code: market.market_code,
      kind: checked!,
      start_at: new Date(rows[0]!.start_ms),
      end_at: new Date(rows.at(-1)!.end_ms),
      ...stored,
    }
  })
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (error) {
    throw new AdminError('invalid', `${file} cannot be read: ${(error as Error).message}`)
  }
}

function refusal(file: string, faults: readonly LineFault[]): AdminError {
  const listed = faults.slice(0, listed_max).map(({ line, reason }) => `  line ${line}: ${reason}`)
  const more = faults.length > listed_max ? [`  and ${faults.length - listed_max} more`] : []
  return new AdminError('invalid', [`${file} was not imported:`, ...listed, ...more].join('\n'))
}

/** Prices outside the limits of the auction, with the lines of `rows`. */
function beyondLimits(
  periods: readonly PricePeriod[],
  rows: readonly PriceRow[],
  market: Market,
): LineFault[] {
  const lineAt = new Map(rows.map(({ start_ms, line }) => [start_ms, line]))
  const faults = periods.flatMap(({ start_ms, price_micro }) => {
    const reason = limitFault(price_micro, market)
    const line = lineAt.get(start_ms)!
    return reason === null ? [] : [{ line, reason: `price_per_mwh: ${reason}` }]
  })
  return faults.sort((a, b) => a.line - b.line)
}

async function convert(
  tx: Transaction,
  rows: readonly PriceRow[],
  { market, file }: { market: Market; file: string },
) {
  const faults: LineFault[] = []
  const periods = []
  for (const [currency, of_one] of Map.groupBy(rows, (row) => row.currency ?? market.currency)) {
    const converted = await inCurrency(tx, of_one, { from: currency, to: market.currency })
    if (converted) periods.push(...converted)
    else {
      const reason = `no rate from ${currency} to ${market.currency} for every day`
      faults.push({ line: of_one[0]!.line, reason })
    }
  }
  if (faults.length > 0) throw refusal(file, faults)
  return periods.toSorted((a, b) => a.start_ms - b.start_ms)
}

async function demandMarket({ db }: Pick<Admin, 'db'>, market_code: string): Promise<Market> {
  const market = await readMarket(db, market_code)
  if (market) return market
  throw new AdminError(
    'not_found',
    `unknown market ${market_code}; list the markets to see all codes`,
  )
}

export interface ListedMarket extends Market {
  failure_count: number
  last_failure: string | null
  succeeded_at: Date | null
}

export const listMarkets = ({ db }: Pick<Admin, 'db'>) =>
  db.query<ListedMarket>(
    `select ${marketColumns}, coalesce(failure_count, 0) as failure_count, last_failure, succeeded_at
     from markets left join price_fetches using (market_code) order by market_code`,
  )

/**
 * Sets the source from which a market's prices are fetched, from a delivery day YYYY-MM-DD on
 * (null: today); `none` stops fetching. Stored prices stay. Rejects simulated prices for a real
 * bidding zone and real prices for a simulated market.
 */
export async function followMarket(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { market_code, source, from }: { market_code: string; source: string; from: string | null },
): Promise<Market> {
  const [checked] = checkChoice('source', [...followedSources, 'none'], [source])
  const market = await demandMarket({ db }, market_code)
  const followed = checked === 'none' ? null : (checked as FollowedSource)
  if (followed && (followed === 'simulated') !== (market.eic_code === null)) {
    const why = followed === 'simulated' ? 'is a real market' : 'is no bidding zone'
    throw new AdminError('invalid', `${market_code} ${why}: it cannot follow ${followed}`)
  }
  if (from !== null) checkDate(from)
  const followed_from = followed && (from ?? localDate(clock.now().getTime(), market.timezone))
  await db.transaction(async (tx) => {
    await changeRows(tx, 'markets', { market_code }, { source: followed, followed_from })
    // Another source may have the missing prices, and failures of the old source are irrelevant.
    await tx.execute('delete from price_days where market_code = $1 and not is_complete', [
      market_code,
    ])
    await tx.execute('delete from price_fetches where market_code = $1', [market_code])
  })
  return { ...market, source: followed, followed_from }
}

const simulated_market = 'DEMO'

/** The market of the demo, in EUR and the site's time zone; created when missing. */
export async function createSimulatedMarket(
  { db }: Pick<Admin, 'db'>,
  { timezone, country_code }: { timezone: string; country_code: string | null },
): Promise<Market> {
  await db.execute(
    `insert into markets (market_code, name, country_codes, auction, operator, currency, timezone,
       resolution_minutes, gate_closure_local, publication_local, price_min_per_mwh,
       price_max_per_mwh)
     values ($1, 'Simulated day-ahead market', $2, 'local', 'Simulated', 'EUR', $3, 15, '12:00',
       '12:45', -500, 4000)
     on conflict do nothing`,
    [simulated_market, country_code === null ? [] : [country_code], timezone],
  )
  return demandMarket({ db }, simulated_market)
}

interface ExchangeRate {
  currency: string
  /** YYYY-MM-DD. */
  valid_from: string
  /** Price of one euro, with the decimals as entered. */
  per_eur: string
}

export function listRates({ db }: Pick<Admin, 'db'>): Promise<ExchangeRate[]> {
  return db.query<ExchangeRate>(
    `select currency, valid_from, trim_scale(per_eur)::text as per_eur from exchange_rates
     order by currency, valid_from desc`,
  )
}

/** Sets the price of one euro in a currency from a day on; replaces the rate of that day. */
export async function setRate({ db }: Pick<Admin, 'db'>, rate: ExchangeRate): Promise<void> {
  const { currency, valid_from, per_eur } = rate
  if (!/^[A-Z]{3}$/.test(currency) || currency === 'EUR') {
    throw new AdminError('invalid', 'a currency has three capital letters and is not EUR')
  }
  if (!/^\d{1,9}(\.\d{1,12})?$/.test(per_eur) || Number(per_eur) === 0) {
    throw new AdminError('invalid', 'a rate is a number above 0, such as 4.2715')
  }
  checkDate(valid_from)
  await putRow(db, 'exchange_rates', { currency, valid_from }, { per_eur })
}

function checkDate(text: string): void {
  if (!isDate(text)) throw new AdminError('invalid', `'${text}' is not a date such as 2027-01-31`)
}
