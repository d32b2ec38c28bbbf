/** Revenue ledger of a site: its plants, contracts, prices and energy over a window. */
import { hour_ms } from '@heliograph/domain/durations'
import { type Market, readMarkets } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import { type HourAccount, hourAccounts, type MarketPrices } from './accounting.ts'
import { type Contracts, type Fee, readContracts } from './contract-store.ts'
import { type EvidenceQuery, readEnergyStates } from './energy-evidence.ts'
import { type RateAt, type RateSpan, rateAtOf, readRateSpans } from './exchange-rates.ts'
import { readPlantHours } from './plant-quarters.ts'
import { readQuarterPrices } from './quarter-prices.ts'
import { midnights, type Terms, termsOf } from './terms.ts'

export interface TermsWindow {
  site_id: string
  /** null: all plants. */
  logger_id: number | null
  /** Whole hours, Unix ms: [from_ms, to_ms). */
  from_ms: number
  to_ms: number
  /** Currency of sums over contracts in several currencies. */
  site_currency: string | null
}

export interface LedgerQuery extends TermsWindow, EvidenceQuery {
  /** Reads the energy sold ahead; called only for markets with imbalance prices. */
  readScheduled?: ReadScheduled
  /** Runs one query at a time, as a transaction requires; otherwise queries run in parallel. */
  in_turn?: boolean
}

/** Energy sold ahead, Wh, by the start of the quarter hour; null when unknown. */
export type ReadScheduled = (
  logger_id: number,
  market: Market,
) => Promise<(start_ms: number) => number | null>

export interface PlantAccounts {
  logger_id: number
  logger_name: string
  /** Inverters in service now, or when the plant was retired. */
  inverter_count: number
  terms: readonly Terms[]
  fees: readonly Fee[]
  /**
   * Every hour of the window during the plant's service, and earlier hours that have data. Computed
   * on demand: a year of hours would take megabytes.
   */
  hours: () => IteratorObject<HourAccount, undefined>
}

export interface Ledger {
  /** By id, without plants that were retired before the window. */
  plants: PlantAccounts[]
  /** Common currency of all contracts, else the site's; null without contracts. */
  currency: string | null
  rateAt: RateAt
  /** Every exchange rate that the amounts use. */
  rates: readonly RateSpan[]
}

export async function readLedger(db: Queries, query: LedgerQuery): Promise<Ledger> {
  const { site_id, logger_id, from_ms, to_ms } = query
  const span = { from: new Date(from_ms), to: new Date(Math.max(from_ms, to_ms)) }
  const terms = () => readPricedTerms(db, query)
  const energy = () => readPlantHours(db, { site_id, logger_id: logger_id ?? undefined, ...span })
  const states = () => readEnergyStates(db, query)
  const [priced, hours, statesOf] = query.in_turn
    ? [await terms(), await energy(), await states()]
    : await Promise.all([terms(), energy(), states()])
  const { plants, contracts, markets, termsByPlant, pricesOf, currency, rates } = priced
  const rateAt = rateAtOf(rates)
  const accounts: PlantAccounts[] = []
  for (const plant of plants) {
    const { logger_id, logger_name, inverter_count } = plant
    const of_plant = termsByPlant.get(logger_id)!
    const service = serviceOf(plant)
    const ledger = {
      logger_id,
      terms: of_plant,
      fee_count: contracts.fees.length,
      service_from_ms: service.from_ms,
      hours: hours.get(logger_id) ?? [],
      marketOf: (code: string) => pricesOf.get(code)!,
      rateAt,
      energyStateAt: statesOf(logger_id),
      scheduledAt: await scheduledOf(plant, of_plant, { markets, pricesOf }, query),
    }
    accounts.push({
      logger_id,
      logger_name,
      inverter_count,
      terms: of_plant,
      fees: contracts.fees,
      hours: () => hourAccounts(ledger, { from_ms, to_ms: Math.min(to_ms, service.to_ms) }),
    })
  }
  return { plants: accounts, currency, rateAt, rates }
}

async function readPricedTerms(db: Queries, query: LedgerQuery) {
  const terms = await readTerms(db, query)
  const codes = new Set([...terms.termsByPlant.values()].flat().map((one) => one.market_code))
  const pricesOf = await readMarketPrices(db, codes, terms.markets, query)
  return { ...terms, pricesOf }
}

/** The contract terms of each plant in the window, and the exchange rates that they need. */
export async function readTerms(db: Queries, query: TermsWindow) {
  const plants = await readPlants(db, query)
  const contracts = await readContracts(db, query.site_id, query.logger_id)
  const markets = new Map((await readMarkets(db)).map((market) => [market.market_code, market]))
  const termsByPlant = new Map(
    plants.map((plant) => [plant.logger_id, termsOfPlant(plant, contracts, markets, query)]),
  )
  const terms = [...termsByPlant.values()].flat()
  const currency = commonCurrency(
    terms.map(({ assignment }) => assignment.currency),
    query.site_currency,
  )
  const pairs = ratePairs(terms, contracts, markets, currency)
  const rates = await readRateSpans(db, pairs, query)
  return { plants, contracts, markets, termsByPlant, currency, rates }
}

/** The only currency, else the site's, else the first; null for an empty list. */
export function commonCurrency(
  currencies: readonly string[],
  site_currency: string | null,
): string | null {
  const [first, ...others] = new Set(currencies)
  return others.length === 0 ? (first ?? null) : (site_currency ?? first!)
}

interface Plant {
  logger_id: number
  logger_name: string
  inverter_count: number
  rated_power_kw: number
  /** YYYY-MM-DD in the time zone of the site. */
  commissioned_date: string | null
  retired_at: Date | null
  timezone: string
}

/**
 * Whole hours from the commissioning day up to and including the hour of the retirement. Outside
 * its service a plant sells nothing and pays no fees.
 */
function serviceOf({ commissioned_date, retired_at, timezone }: Plant) {
  const began_ms = commissioned_date === null ? 0 : midnights(timezone)(commissioned_date)
  return {
    from_ms: Math.floor(began_ms / hour_ms) * hour_ms,
    to_ms: retired_at === null ? Infinity : Math.ceil(retired_at.getTime() / hour_ms) * hour_ms,
  }
}

function readPlants(db: Queries, { site_id, logger_id, from_ms }: TermsWindow): Promise<Plant[]> {
  return db.query<Plant>(
    `select logger_id, l.name as logger_name, rated_power_kw, commissioned_date, retired_at,
       coalesce(s.inventory->>'timezone', 'UTC') as timezone,
       (select count(*)::int from inverters i
        where i.site_id = $1 and i.logger_id = l.logger_id
          and (i.retired_at is null or i.retired_at > $3)) as inverter_count
     from loggers l join sites s using (site_id)
     where site_id = $1 and ($2::int is null or logger_id = $2)
       and (retired_at is null or retired_at > $3)
     order by logger_id`,
    [site_id, logger_id, new Date(from_ms)],
  )
}

function termsOfPlant(
  plant: Plant,
  { assignments, fees }: Contracts,
  markets: ReadonlyMap<string, Market>,
  { from_ms, to_ms }: TermsWindow,
): Terms[] {
  const { logger_id, rated_power_kw } = plant
  const service = serviceOf(plant)
  return termsOf({
    assignments: assignments.filter((item) => item.logger_id === logger_id),
    fees,
    rated_power_kw,
    timezoneOf: (market_code) => {
      const market = markets.get(market_code)
      if (market === undefined) throw new Error(`there is no market ${market_code} any more`)
      return market.timezone
    },
    from_ms: Math.max(from_ms, service.from_ms),
    to_ms: Math.min(to_ms, service.to_ms),
  })
}

async function readMarketPrices(
  db: Queries,
  market_codes: ReadonlySet<string>,
  markets: ReadonlyMap<string, Market>,
  window: TermsWindow,
): Promise<Map<string, MarketPrices>> {
  const found = new Map<string, MarketPrices>()
  for (const market_code of market_codes) {
    found.set(market_code, {
      currency: markets.get(market_code)!.currency,
      day_ahead: await readQuarterPrices(db, { market_code, kind: 'day_ahead' }, window),
      imbalance: await readQuarterPrices(db, { market_code, kind: 'imbalance' }, window),
    })
  }
  return found
}

/** Pairs of different currencies to convert between, as `EUR BGN`. */
function ratePairs(
  terms: readonly Terms[],
  { fees }: Contracts,
  markets: ReadonlyMap<string, Market>,
  into: string | null,
): Set<string> {
  const pairs = new Set<string>()
  const add = (currency: string | null, other: string | null) => {
    if (currency !== null && other !== null && currency !== other) pairs.add(`${currency} ${other}`)
  }
  for (const [nth, { assignment, market_code, fees: charged }] of terms.entries()) {
    add(markets.get(market_code)!.currency, assignment.currency)
    const next = terms[nth + 1]
    const is_in_hour = next !== undefined && next.from_ms % hour_ms !== 0
    // Both terms share an hour, whose currency is that of the later terms.
    if (is_in_hour && next.assignment.logger_id === assignment.logger_id) {
      add(assignment.currency, next.assignment.currency)
    }
    for (const { place } of charged) add(fees[place]!.currency, assignment.currency)
    add(assignment.currency, into)
  }
  return pairs
}

/** Energy sold ahead; null when no market of the terms has imbalance prices. */
async function scheduledOf(
  { logger_id }: Plant,
  terms: readonly Terms[],
  of: { markets: ReadonlyMap<string, Market>; pricesOf: ReadonlyMap<string, MarketPrices> },
  { readScheduled }: LedgerQuery,
): Promise<((start_ms: number) => number | null) | null> {
  if (readScheduled === undefined) return null
  const scheduled = new Map<string, (start_ms: number) => number | null>()
  for (const code of new Set(terms.map(({ market_code }) => market_code))) {
    const { imbalance } = of.pricesOf.get(code)!
    if (imbalance.price_micro.every(Number.isNaN)) continue
    scheduled.set(code, await readScheduled(logger_id, of.markets.get(code)!))
  }
  if (scheduled.size === 0) return null
  return (start_ms) => {
    const now = terms.find(({ from_ms, to_ms }) => from_ms <= start_ms && start_ms < to_ms)
    return (now && scheduled.get(now.market_code)?.(start_ms)) ?? null
  }
}
