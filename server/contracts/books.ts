/** All that the earnings of a site are made of, read for a window. */
import { createPriceStore, type Market, type PriceStore } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import { hour_ms } from '../telemetry/touched-hours.ts'
import { type HourAccount, hourAccounts, type MarketPrices } from './accounting.ts'
import { type Contracts, type Fee, readContracts } from './contract-store.ts'
import { type EvidenceAsked, readEnergyStates } from './energy-evidence.ts'
import { type RateAt, type RateSpan, rateAtOf, readRateSpans } from './exchange-rates.ts'
import { readPlantHours } from './plant-quarters.ts'
import { quarterPrices } from './quarter-prices.ts'
import { midnights, type Terms, termsOf } from './terms.ts'

export interface TermsWindow {
  site_id: string
  /** Of all plants where it is null. */
  logger_id: number | null
  /** Whole hours, Unix ms: [from_ms, to_ms). */
  from_ms: number
  to_ms: number
  /** That of the site, for sums of contracts of several currencies. */
  site_currency: string | null
}

export interface BooksAsked extends TermsWindow, EvidenceAsked {
  /** What plants had sold ahead, Wh by the begin of the quarter; asked where it matters. */
  readScheduled?: ReadScheduled
  /** One read after the other, as a transaction needs it; else at once what needs no other. */
  in_turn?: boolean
}

export type ReadScheduled = (
  logger_id: number,
  market: Market,
) => Promise<(start_ms: number) => number | null>

export interface PlantAccounts {
  logger_id: number
  logger_name: string
  /** In service now, or when it was retired. */
  inverter_count: number
  terms: readonly Terms[]
  fees: readonly Fee[]
  /**
   * Each hour of the window in which it was in service, and those before that have data; computed
   * as it is asked for: a year of them would take megabytes.
   */
  hours: () => IteratorObject<HourAccount, undefined>
}

export interface Books {
  /** By id; those that were retired before the window are absent. */
  plants: PlantAccounts[]
  /** For sums: that of all contracts, else that of the site; null without contracts. */
  currency: string | null
  rateAt: RateAt
  /** All rates that the amounts need. */
  rates: readonly RateSpan[]
}

export async function openBooks(db: Queries, asked: BooksAsked): Promise<Books> {
  const { site_id, logger_id, from_ms, to_ms } = asked
  const span = { from: new Date(from_ms), to: new Date(Math.max(from_ms, to_ms)) }
  const terms = () => readPricedTerms(db, asked)
  const energy = () => readPlantHours(db, { site_id, logger_id: logger_id ?? undefined, ...span })
  const states = () => readEnergyStates(db, asked)
  const [priced, hours, statesOf] = asked.in_turn
    ? [await terms(), await energy(), await states()]
    : await Promise.all([terms(), energy(), states()])
  const { plants, contracts, markets, termsByPlant, pricesOf, currency, rates } = priced
  const rateAt = rateAtOf(rates)
  const accounts: PlantAccounts[] = []
  for (const plant of plants) {
    const of_plant = termsByPlant.get(plant.logger_id)!
    const service = serviceOf(plant)
    const books = {
      logger_id: plant.logger_id,
      terms: of_plant,
      fee_count: contracts.fees.length,
      service_from_ms: service.from_ms,
      hours: hours.get(plant.logger_id) ?? [],
      marketOf: (code: string) => pricesOf.get(code)!,
      rateAt,
      energyStateAt: statesOf(plant.logger_id),
      scheduledAt: await scheduledOf(plant, of_plant, { markets, pricesOf }, asked),
    }
    const { logger_name, inverter_count } = plant
    accounts.push({
      logger_id: plant.logger_id,
      logger_name,
      inverter_count,
      terms: of_plant,
      fees: contracts.fees,
      hours: () => hourAccounts(books, { from_ms, to_ms: Math.min(to_ms, service.to_ms) }),
    })
  }
  return { plants: accounts, currency, rateAt, rates }
}

async function readPricedTerms(db: Queries, asked: BooksAsked) {
  const terms = await readTerms(db, asked)
  const codes = new Set([...terms.termsByPlant.values()].flat().map((one) => one.market_code))
  const pricesOf = await readMarketPrices(createPriceStore(db), codes, terms.markets, asked)
  return { ...terms, pricesOf }
}

/** Under which terms the plants of the window sell in it, and the rates that these need. */
export async function readTerms(db: Queries, asked: TermsWindow) {
  const prices = createPriceStore(db)
  const plants = await readPlants(db, asked)
  const contracts = await readContracts(db, asked.site_id, asked.logger_id)
  const markets = await readMarkets(prices, contracts)
  const termsByPlant = new Map(
    plants.map((plant) => [plant.logger_id, termsOfPlant(plant, contracts, markets, asked)]),
  )
  const terms = [...termsByPlant.values()].flat()
  const currency = commonCurrency(terms, asked.site_currency)
  const pairs = ratePairs(terms, contracts, markets, currency)
  const rates = await readRateSpans(db, pairs, asked)
  return { plants, contracts, markets, termsByPlant, currency, rates }
}

function commonCurrency(terms: readonly Terms[], site_currency: string | null): string | null {
  const [first, ...others] = new Set(terms.map(({ assignment }) => assignment.currency))
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
 * From the day of commissioning to the retirement, in whole hours (the last one is that in which
 * the plant was retired): without it there is nothing to sell, and no fee to pay.
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
        where i.site_id = l.site_id and i.logger_id = l.logger_id
          and (i.retired_at is null or i.retired_at > $3)) as inverter_count
     from loggers l join sites s using (site_id)
     where site_id = $1 and ($2::int is null or logger_id = $2)
       and (retired_at is null or retired_at > $3)
     order by logger_id`,
    [site_id, logger_id, new Date(from_ms)],
  )
}

async function readMarkets(
  prices: PriceStore,
  { assignments }: Contracts,
): Promise<Map<string, Market>> {
  const named = new Set(assignments.flatMap((item) => [item.market_code, item.sold_market_code]))
  const markets = await prices.markets()
  return new Map(
    markets
      .filter(({ market_code }) => named.has(market_code))
      .map((market) => [market.market_code, market]),
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
  prices: PriceStore,
  market_codes: ReadonlySet<string>,
  markets: ReadonlyMap<string, Market>,
  { from_ms, to_ms }: TermsWindow,
): Promise<Map<string, MarketPrices>> {
  const span = { from: new Date(from_ms), to: new Date(to_ms) }
  const window = { from_ms, to_ms }
  const found = new Map<string, MarketPrices>()
  for (const market_code of market_codes) {
    found.set(market_code, {
      currency: markets.get(market_code)!.currency,
      day_ahead: quarterPrices(await prices.dayAhead(market_code, span), window),
      imbalance: quarterPrices(await prices.imbalance(market_code, span), window),
    })
  }
  return found
}

/** Pairs of currencies that differ, as `EUR BGN`. */
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
    // They share an hour, which is in the currency of the latter.
    if (is_in_hour && next.assignment.logger_id === assignment.logger_id) {
      add(assignment.currency, next.assignment.currency)
    }
    for (const { place } of charged) add(fees[place]!.currency, assignment.currency)
    add(assignment.currency, into)
  }
  return pairs
}

/** Only where an imbalance price is known is it worth reading. */
async function scheduledOf(
  { logger_id }: Plant,
  terms: readonly Terms[],
  {
    markets,
    pricesOf,
  }: { markets: ReadonlyMap<string, Market>; pricesOf: ReadonlyMap<string, MarketPrices> },
  { readScheduled }: BooksAsked,
): Promise<((start_ms: number) => number | null) | null> {
  const settled = new Set(terms.map(({ market_code }) => market_code))
  const reads = new Map<string, (start_ms: number) => number | null>()
  for (const code of settled) {
    const { imbalance } = pricesOf.get(code)!
    const is_priced = imbalance.price_micro.some((price) => !Number.isNaN(price))
    if (!is_priced || readScheduled === undefined) continue
    reads.set(code, await readScheduled(logger_id, markets.get(code)!))
  }
  if (reads.size === 0) return null
  return (start_ms) => {
    const now = terms.find(({ from_ms, to_ms }) => from_ms <= start_ms && start_ms < to_ms)
    return (now && reads.get(now.market_code)?.(start_ms)) ?? null
  }
}
