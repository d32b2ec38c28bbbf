/** Markets, their prices and exchange rates, as operators keep them. */
import { readFile } from 'node:fs/promises'
import { localDate } from '@heliograph/domain/local-day'
import { type Admin, AdminError, checkChoice } from '../access/admin.ts'
import type { Transaction } from '../storage/database.ts'
import { limitFault } from './auction-limits.ts'
import {
  createPriceStore,
  type FollowedSource,
  followedSources,
  type Market,
  type PriceKind,
  type PricePeriod,
} from './price-store.ts'
import { inCurrency, type Stored, storePrices } from './publications.ts'
import { type LineFault, type PriceRow, readPriceCsv } from './sources/csv.ts'

const priceKinds = ['day_ahead', 'imbalance'] as const satisfies readonly PriceKind[]

export interface PriceImport extends Stored {
  market_code: string
  kind: PriceKind
  start_at: Date
  end_at: Date
}

/** How many faults of a file are told one by one. */
const told_max = 50

/**
 * Takes a file of prices (see `readPriceCsv`) as those of a market, all of it or nothing. Prices in
 * another currency are converted by the rate of their day. Refuses (`invalid`) a file with any
 * fault, naming each with its line: day-ahead prices that the auction cannot give, too. A simulated
 * market takes none.
 */
export async function importPrices(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { file, market_code, kind }: { file: string; market_code: string; kind: string },
): Promise<PriceImport> {
  const [checked] = checkChoice('kind', priceKinds, [kind])
  const market = await demandMarket({ db }, market_code)
  if (market.market_code === simulated_market) {
    throw new AdminError('invalid', `${market_code} is simulated: it takes no prices from a file`)
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
  const told = faults.slice(0, told_max).map(({ line, reason }) => `  line ${line}: ${reason}`)
  const more = faults.length > told_max ? [`  and ${faults.length - told_max} more`] : []
  return new AdminError('invalid', [`${file} was not imported:`, ...told, ...more].join('\n'))
}

/** Prices, in the market's currency, that its auction cannot give; `rows` are their lines. */
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
      const reason = `no rate from ${currency} to ${market.currency} is set for every day`
      faults.push({ line: of_one[0]!.line, reason })
    }
  }
  if (faults.length > 0) throw refusal(file, faults)
  return periods.toSorted((a, b) => a.start_ms - b.start_ms)
}

async function demandMarket({ db }: Pick<Admin, 'db'>, market_code: string): Promise<Market> {
  const market = await createPriceStore(db).market(market_code)
  if (market) return market
  throw new AdminError('not_found', `there is no market ${market_code}; the list shows all`)
}

export interface ListedMarket extends Market {
  failure_count: number
  last_failure: string | null
  succeeded_at: Date | null
}

/** Every market that is known, with what became of fetching its prices. */
export async function listMarkets({ db }: Pick<Admin, 'db'>): Promise<ListedMarket[]> {
  const markets = await createPriceStore(db).markets()
  const fetches = await db.query<ListedMarket>(
    'select market_code, failure_count, last_failure, succeeded_at from price_fetches',
  )
  const byCode = new Map(fetches.map((fetch) => [fetch.market_code, fetch]))
  const never = { failure_count: 0, last_failure: null, succeeded_at: null }
  return markets.map((market) => ({ ...market, ...(byCode.get(market.market_code) ?? never) }))
}

/**
 * Has a market's prices fetched from a source, from a delivery day YYYY-MM-DD on (null: today), or
 * no longer (`none`). What is there stays. Refuses invented prices for a real bidding zone, and
 * real ones for an invented.
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
    await tx.execute('update markets set source = $2, followed_from = $3 where market_code = $1', [
      market_code,
      followed,
      followed_from,
    ])
    // Another source may have what this one lacks, and its failures say nothing of the new one.
    await tx.execute('delete from price_days where market_code = $1 and not is_complete', [
      market_code,
    ])
    await tx.execute('delete from price_fetches where market_code = $1', [market_code])
  })
  return { ...market, source: followed, followed_from }
}

const simulated_market = 'DEMO'

/** The market of the demo, in euros and the site's time zone; made where it is not there. */
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
  /** What one euro costs, as it was given. */
  per_eur: string
}

/** By currency, the newest first. */
export function listRates({ db }: Pick<Admin, 'db'>): Promise<ExchangeRate[]> {
  return db.query<ExchangeRate>(
    `select currency, valid_from, trim_scale(per_eur)::text as per_eur from exchange_rates
     order by currency, valid_from desc`,
  )
}

/** Sets what one euro costs in a currency from a day on; again for the same day replaces it. */
export async function setRate({ db }: Pick<Admin, 'db'>, rate: ExchangeRate): Promise<void> {
  const { currency, valid_from, per_eur } = rate
  if (!/^[A-Z]{3}$/.test(currency) || currency === 'EUR') {
    throw new AdminError('invalid', 'a currency has three capital letters and is not EUR')
  }
  if (!/^\d{1,9}(\.\d{1,12})?$/.test(per_eur) || Number(per_eur) === 0) {
    throw new AdminError('invalid', 'a rate is a number above 0, such as 4.2715')
  }
  checkDate(valid_from)
  await db.execute(
    `insert into exchange_rates (currency, valid_from, per_eur) values ($1, $2, $3)
     on conflict (currency, valid_from) do update set per_eur = excluded.per_eur`,
    [currency, valid_from, per_eur],
  )
}

function checkDate(text: string): void {
  const time_ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time_ms) && new Date(time_ms).toISOString().startsWith(text)) return
  throw new AdminError('invalid', `'${text}' is no day such as 2027-01-31`)
}
