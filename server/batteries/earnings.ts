/** What units earn: what they discharge, less what they charge, at the prices of their market. */
import { rounded } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { assignedMarkets } from '../forecasts/assigned-market.ts'
import { type PricePeriod, readPrices } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import {
  netEnergy,
  readUnitQuarters,
  type Span,
  type Unit,
  type UnitQuarter,
} from './unit-energy.ts'

export interface UnitMarket {
  market_code: string
  currency: string
}

export interface MarketedUnit extends Unit {
  logger_id: number | null
  market_code: string | null
}

export interface Earned {
  /** Major units: below 0 where charging cost more than discharging brought. */
  amount: number
  currency: string
  /** Share of the time of which the energy is known: the amount is of that. */
  completeness_pct: number
}

/**
 * What a unit earned from `start` until before `end`, by day-ahead prices: no fees, no losses of
 * the connection. Null for an unknown unit, one without a market, and where no energy is known or
 * the price of any that moved is not.
 */
export async function earnedBetween(
  db: Queries,
  site_id: string,
  bess_id: number,
  { start, end }: { start: Date; end: Date },
): Promise<Earned | null> {
  const unit = await readMarketedUnit(db, site_id, bess_id)
  if (!unit) return null
  const span = { start_ms: start.getTime(), end_ms: end.getTime() }
  const [quarters, priced] = await Promise.all([
    readUnitQuarters(db, unit, span),
    readUnitPrices(db, unit, span),
  ])
  return priced && earnedOf(quarters, priced)
}

async function readMarketedUnit(
  db: Queries,
  site_id: string,
  bess_id: number,
): Promise<MarketedUnit | undefined> {
  const [unit] = await db.query<MarketedUnit>(
    `select site_id, bess_id, rated_charge_power_kw, rated_discharge_power_kw, logger_id,
       market_code
     from batteries where site_id = $1 and bess_id = $2`,
    [site_id, bess_id],
  )
  return unit
}

/** Of a day (YYYY-MM-DD); null without one. */
async function marketOfUnit(db: Queries, unit: MarketOf, date: string): Promise<UnitMarket | null> {
  return (await marketsOfUnit(db, unit, [date])).get(date) ?? null
}

type MarketOf = Pick<MarketedUnit, 'site_id' | 'logger_id' | 'market_code'>

/** Its own market, else that of its plant on the day, else that of the site; by YYYY-MM-DD. */
export async function marketsOfUnit(
  db: Queries,
  { site_id, logger_id, market_code }: MarketOf,
  dates: readonly string[],
): Promise<Map<string, UnitMarket>> {
  if (market_code !== null) {
    const [own] = await db.query<UnitMarket>(
      'select market_code, currency from markets where market_code = $1',
      [market_code],
    )
    return new Map(own && dates.map((date) => [date, own]))
  }
  const of_site = await assignedMarkets(db, { site_id, logger_id: null }, dates)
  const of_plant =
    logger_id === null ? [] : await assignedMarkets(db, { site_id, logger_id }, dates)
  return new Map([...of_site, ...of_plant].map(({ date, market }) => [date, market]))
}

export interface UnitPrices {
  currency: string
  /** Ascending. */
  periods: readonly PricePeriod[]
}

/** Day-ahead prices of the market of a unit; null without one. */
export async function readUnitPrices(
  db: Queries,
  unit: MarketedUnit,
  { start_ms, end_ms }: Span,
): Promise<UnitPrices | null> {
  const market = await marketOfUnit(db, unit, utcDate(start_ms))
  if (!market) return null
  const wanted = { market_code: market.market_code, kind: 'day_ahead' } as const
  const span = { from: new Date(start_ms), to: new Date(end_ms) }
  return { currency: market.currency, periods: await readPrices(db, wanted, span) }
}

/** Null where no energy is known, or the price of any that moved is not. */
export function earnedOf(
  quarters: readonly UnitQuarter[],
  { currency, periods }: UnitPrices,
): Earned | null {
  let [micro, known_ms, all_ms] = [0, 0, 0]
  for (const quarter of quarters) {
    const { start_ms, end_ms } = quarter
    all_ms += end_ms - start_ms
    const net_kwh = netEnergy(quarter)
    if (net_kwh === null) continue
    known_ms += end_ms - start_ms
    const worth = worthOf(net_kwh, quarter, periods)
    if (worth === null) return null
    micro += worth
  }
  if (known_ms === 0) return null
  const completeness_pct = rounded((100 * known_ms) / all_ms, 1)
  return { amount: micro / 1e6, currency, completeness_pct }
}

/** Of energy within a quarter, whole micro; null without a price, which none needs. */
export function worthOf(
  net_kwh: number,
  span: Span,
  periods: readonly PricePeriod[],
): number | null {
  if (net_kwh === 0) return 0
  const period = periods.find(
    ({ start_ms, end_ms }) => start_ms <= span.start_ms && span.end_ms <= end_ms,
  )
  return period ? Math.round((net_kwh * period.price_micro) / 1000) + 0 : null
}
