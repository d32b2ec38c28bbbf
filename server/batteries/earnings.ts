/** Revenue of units: value of discharged less charged energy at day-ahead prices. */
import { rounded } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { assignedMarkets } from '../forecasts/assigned-market.ts'
import { found } from '../http/errors.ts'
import * as field from '../http/fields.ts'
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

/** Field of an answer whose amount of earnings may be hidden. */
export const EarningsReason = field.OneOfOrNull(
  ['forbidden_scope'],
  '`forbidden_scope`: the amount is null, as the key lacks `earnings:read` or the plan ' +
    'lacks the module `earnings`. An extension.',
)

export interface Earned {
  /** Major units; below 0 where charging cost more than discharging earned. */
  amount: number
  currency: string
  /** Share of the time with known energy, which the amount covers. */
  completeness_pct: number
}

/**
 * Revenue of a unit in `[start, end)` at day-ahead prices, before fees and connection losses. Null
 * for an unknown unit, without a market, where no energy is known, and where the price of any
 * charged or discharged energy is unknown.
 */
export async function earnedBetween(
  db: Queries,
  site_id: string,
  bess_id: number,
  { start, end }: { start: Date; end: Date },
): Promise<Earned | null> {
  const unit = await readUnit(db, { site_id, bess_id })
  if (!unit) return null
  const span = { start_ms: start.getTime(), end_ms: end.getTime() }
  const [quarters, priced] = await Promise.all([
    readUnitQuarters(db, unit, span),
    readUnitPrices(db, unit, span),
  ])
  return priced && earnedOf(quarters, priced)
}

export type UnitId = Pick<Unit, 'site_id' | 'bess_id'>

export const readUnit = (db: Queries, { site_id, bess_id }: UnitId) =>
  db.queryOne<MarketedUnit>(
    `select site_id, bess_id, rated_charge_power_kw, rated_discharge_power_kw, logger_id,
       market_code
     from batteries where site_id = $1 and bess_id = $2`,
    [site_id, bess_id],
  )

/** @throws ApiError not_found */
export const requireUnit = async (db: Queries, id: UnitId): Promise<MarketedUnit> =>
  found(await readUnit(db, id), { bess_id: id.bess_id })

/**
 * Market of a unit by date (YYYY-MM-DD): its own, else that of its plant, else that of the site.
 */
export async function marketsOfUnit(
  db: Queries,
  { site_id, logger_id, market_code }: Pick<MarketedUnit, 'site_id' | 'logger_id' | 'market_code'>,
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
  periods: readonly PricePeriod[]
}

/** Day-ahead prices of the market of a unit; null without one. */
export async function readUnitPrices(
  db: Queries,
  unit: MarketedUnit,
  span: Span,
): Promise<UnitPrices | null> {
  const date = utcDate(span.start_ms)
  const market = (await marketsOfUnit(db, unit, [date])).get(date)
  if (!market) return null
  const wanted = { market_code: market.market_code, kind: 'day_ahead' } as const
  return { currency: market.currency, periods: await readPrices(db, wanted, span) }
}

/** Null where no energy is known, or the price of any charged or discharged energy is unknown. */
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

/** Value of energy within a quarter hour in millionths; null without a price, 0 without energy. */
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
