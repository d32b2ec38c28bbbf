/**
 * What batteries earned: what they discharged less what they charged, at day-ahead prices. It is a
 * figure of its own, in no sum of plants: charging is paid for here, also with energy of the own
 * plant, whose gross has it as sold, so that the two add up.
 */
import { rounded } from '@heliograph/domain/significant'
import { day_ms, utcDate } from '@heliograph/domain/utc-day'
import { type BatteryDay, readBatteryDays, type UnitDays } from '../batteries/battery-days.ts'
import { marketsOfUnit, type UnitMarket } from '../batteries/earnings.ts'
import { type RateSpan, rateAtOf, readRateSpans } from '../contracts/exchange-rates.ts'
import { converted, type Micro, majorUnits, worth } from '../contracts/money.ts'
import { quarter_ms } from '../contracts/plant-quarters.ts'
import { type QuarterPrices, quarterPrices } from '../contracts/quarter-prices.ts'
import { midnights } from '../contracts/terms.ts'
import { readPrices } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'

export const arbitrageReasons = [
  'no_battery',
  'no_market',
  'no_price',
  'no_exchange_rate',
  'no_energy',
  'not_yet',
] as const
type ArbitrageReason = (typeof arbitrageReasons)[number]

export interface ArbitrageAsked {
  site_id: string
  /** Only units of this plant; null: all. */
  logger_id: number | null
  /** Days of UTC, Unix ms: [from_ms, to_ms). */
  from_ms: number
  to_ms: number
  now_ms: number
  /** Of all other sums; null where there are none. */
  currency: string | null
  site_currency: string | null
  /** Of the site. */
  timezone: string
}

/** A unit on a day of UTC. */
interface UnitDay {
  logger_id: number | null
  start_ms: number
  /** What the energy that is known earned, in the currency of its market. */
  micro: number
  currency: string | null
  reason: 'no_market' | 'no_price' | null
  /** In service so far, and of it that of which the energy is known. */
  demanded_ms: number
  known_ms: number
  /** False where its sum is yet to be made. */
  is_summed: boolean
}

export interface Arbitrage {
  /** Of amounts; null where there is neither a contract nor a market of a battery. */
  currency: string | null
  /** Those that amounts need. */
  rates: readonly RateSpan[]
  /** Of the units of a plant; of all that were read for null. */
  of(logger_id: number | null): { figures: ArbitrageFigures; is_settled: boolean }
}

interface ArbitrageFigures {
  bess_arbitrage_amount: number | null
  bess_arbitrage_reason: ArbitrageReason | null
  bess_completeness_pct: number | null
}

/** Money of batteries by the prices, contracts and rates that are known now. */
export async function readArbitrage(db: Queries, asked: ArbitrageAsked): Promise<Arbitrage> {
  const { from_ms, to_ms, now_ms } = asked
  const span = { from_ms, to_ms: Math.max(from_ms, Math.min(to_ms, now_ms)) }
  const units = await readBatteryDays(db, {
    site_id: asked.site_id,
    logger_id: asked.logger_id,
    now_ms,
    start_ms: span.from_ms,
    end_ms: span.to_ms,
  })
  const markets = await readMarkets(db, units, span)
  const pricesOf = await readMarketPrices(db, markets.values(), span)
  const days = units.flatMap((unit) =>
    unitDays(unit, { ...asked, ...span, markets: markets.get(unit)!, pricesOf }),
  )
  const currency = asked.currency ?? commonCurrency(days, asked.site_currency)
  const others = days.filter((day) => day.currency !== null && day.currency !== currency)
  const pairs = others.map((day) => `${day.currency} ${currency}`)
  const rates = await readRateSpans(db, new Set(pairs), span)
  const rateAt = rateAtOf(rates)
  const amountOf = (day: UnitDay): number | null => {
    if (day.micro === 0 || day.currency === null || currency === null) return 0
    const rate = rateAt(day.currency, currency, day.start_ms)
    return rate === null ? null : converted(day.micro, rate)
  }
  const is_ahead = from_ms >= now_ms
  return {
    currency,
    rates,
    of(logger_id) {
      const of_asked = (unit: { logger_id: number | null }) =>
        logger_id === null || unit.logger_id === logger_id
      const nothing = is_ahead && units.some(of_asked) ? 'not_yet' : 'no_battery'
      return sumOf(days.filter(of_asked), amountOf, nothing)
    },
  }
}

/** What the market of a unit goes by. */
const marketKey = ({ market_code, logger_id }: UnitDays) => market_code ?? `of plant ${logger_id}`

type DayMarkets = Map<string, UnitMarket>

async function readMarkets(
  db: Queries,
  units: readonly UnitDays[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<Map<UnitDays, DayMarkets>> {
  const dates: string[] = []
  for (let at = from_ms; at < to_ms; at += day_ms) dates.push(utcDate(at))
  const found = new Map<UnitDays, DayMarkets>()
  for (const alike of Map.groupBy(units, marketKey).values()) {
    const markets = await marketsOfUnit(db, alike[0]!, dates)
    for (const unit of alike) found.set(unit, markets)
  }
  return found
}

async function readMarketPrices(
  db: Queries,
  markets: Iterable<DayMarkets>,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<Map<string, QuarterPrices>> {
  // The quarter hour that is running has its price, too.
  const window = { from_ms, to_ms: Math.ceil(to_ms / quarter_ms) * quarter_ms }
  const span = { from: new Date(window.from_ms), to: new Date(window.to_ms) }
  const found = new Map<string, QuarterPrices>()
  for (const { market_code } of [...markets].flatMap((by_day) => [...by_day.values()])) {
    if (found.has(market_code)) continue
    const periods = await readPrices(db, { market_code, kind: 'day_ahead' }, span)
    found.set(market_code, quarterPrices(periods, window))
  }
  return found
}

interface Priced {
  from_ms: number
  /** Not after now. */
  to_ms: number
  timezone: string
  markets: DayMarkets
  pricesOf: ReadonlyMap<string, QuarterPrices>
}

/** The days on which it was in service. */
function unitDays(unit: UnitDays, priced: Priced): UnitDay[] {
  const { commissioned_date, known_from_at, retired_at, logger_id } = unit
  const service_ms =
    commissioned_date === null
      ? known_from_at.getTime()
      : midnights(priced.timezone)(commissioned_date)
  const end_ms = Math.min(priced.to_ms, retired_at?.getTime() ?? Infinity)
  const days: UnitDay[] = []
  for (let at = priced.from_ms; at < end_ms; at += day_ms) {
    const span = { from_ms: Math.max(at, service_ms), to_ms: Math.min(at + day_ms, end_ms) }
    if (span.to_ms <= span.from_ms) continue
    const market = priced.markets.get(utcDate(at)) ?? null
    const prices = market && priced.pricesOf.get(market.market_code)!
    const { is_priced, ...money } = dayMoney(unit.days.get(at), at, span, prices)
    days.push({
      logger_id,
      start_ms: at,
      currency: market?.currency ?? null,
      reason: market === null ? 'no_market' : is_priced ? null : 'no_price',
      demanded_ms: span.to_ms - span.from_ms,
      is_summed: unit.days.has(at),
      ...money,
    })
  }
  return days
}

/** Of what lies within the span; quarter hours in which nothing moved need no price. */
function dayMoney(
  day: BatteryDay | undefined,
  start_ms: number,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  prices: QuarterPrices | null,
) {
  const money = { micro: 0, known_ms: 0, is_priced: true }
  for (const [nth, discharged_wh] of (day?.discharged_wh ?? []).entries()) {
    const at = start_ms + nth * quarter_ms
    const within_ms = Math.min(at + quarter_ms, to_ms) - Math.max(at, from_ms)
    const charged_wh = day!.charged_wh[nth]!
    if (within_ms <= 0 || discharged_wh === null || charged_wh === null) continue
    money.known_ms += within_ms
    if (discharged_wh === charged_wh) continue
    const price_micro = prices?.price_micro[(at - prices.from_ms) / quarter_ms] ?? Number.NaN
    if (Number.isNaN(price_micro)) money.is_priced = false
    else money.micro += worth(discharged_wh - charged_wh, price_micro)
  }
  return money
}

function commonCurrency(days: readonly UnitDay[], site_currency: string | null): string | null {
  const all = days.flatMap(({ currency }) => currency ?? [])
  const [first, ...others] = new Set(all)
  return others.length === 0 ? (first ?? null) : (site_currency ?? first!)
}

function sumOf(
  days: readonly UnitDay[],
  amountOf: (day: UnitDay) => number | null,
  nothing: ArbitrageReason,
) {
  let amount: Micro = 0n
  let [demanded_ms, known_ms] = [0, 0]
  let reason: ArbitrageReason | null = null
  for (const day of days) {
    demanded_ms += day.demanded_ms
    known_ms += day.known_ms
    const of_day = amountOf(day)
    reason ??= day.reason ?? (of_day === null ? 'no_exchange_rate' : null)
    amount += BigInt(of_day ?? 0)
  }
  const is_known = reason === null && known_ms > 0
  const energy = demanded_ms === 0 ? nothing : known_ms < demanded_ms ? 'no_energy' : null
  const figures: ArbitrageFigures = {
    bess_arbitrage_amount: is_known ? majorUnits(amount) : null,
    bess_arbitrage_reason: reason ?? energy,
    bess_completeness_pct: demanded_ms === 0 ? null : rounded((100 * known_ms) / demanded_ms, 2),
  }
  const may_come = reason === 'no_price' || reason === 'no_exchange_rate'
  return { figures, is_settled: !may_come && days.every(({ is_summed }) => is_summed) }
}
