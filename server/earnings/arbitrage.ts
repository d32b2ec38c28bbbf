/**
 * Battery revenue: energy discharged minus energy charged, at day-ahead prices. It is separate from
 * the revenue of plants: charging is paid for here even with energy of the own plant, whose gross
 * counts it as sold, so the two can be added.
 */
import { day_ms, quarter_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { type BatteryDay, readBatteryDays, type UnitDays } from '../batteries/battery-days.ts'
import { marketsOfUnit, type UnitMarket } from '../batteries/earnings.ts'
import { type RateSpan, rateAtOf, readRateSpans } from '../contracts/exchange-rates.ts'
import { commonCurrency } from '../contracts/ledger.ts'
import { converted, type Micro, majorUnits, worth } from '../contracts/money.ts'
import { microAt, type QuarterPrices, readQuarterPrices } from '../contracts/quarter-prices.ts'
import { midnights } from '../contracts/terms.ts'
import { siteFacts } from '../plant/site-facts.ts'
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

interface ArbitrageQuery {
  site_id: string
  /** Only units of this plant; null: all. */
  logger_id: number | null
  /** UTC days, Unix ms: [from_ms, to_ms). */
  from_ms: number
  to_ms: number
  now_ms: number
  /** Currency of the revenue of plants; null without any. */
  currency: string | null
}

interface UnitDay {
  logger_id: number | null
  start_ms: number
  /** Revenue of the known energy, in the currency of the market. */
  micro: number
  currency: string | null
  reason: 'no_market' | 'no_price' | null
  /** Time in service so far, and its part with known energy. */
  demanded_ms: number
  known_ms: number
  /** False until the energy of the day has been summed up. */
  is_summed: boolean
}

export interface Arbitrage {
  /** null without any contract or battery market. */
  currency: string | null
  /** Exchange rates that the amounts use. */
  rates: readonly RateSpan[]
  /** Revenue of the units of a plant; of all units for null. */
  of(logger_id: number | null): { metrics: ArbitrageMetrics; is_settled: boolean }
}

interface ArbitrageMetrics {
  bess_arbitrage_amount: number | null
  bess_arbitrage_reason: ArbitrageReason | null
  bess_completeness_pct: number | null
}

/** Battery revenue by the prices, contracts and exchange rates known now. */
export async function readArbitrage(db: Queries, query: ArbitrageQuery): Promise<Arbitrage> {
  const { site_id, from_ms, to_ms, now_ms } = query
  const site = await siteFacts(db, site_id)
  const span = { from_ms, to_ms: Math.max(from_ms, Math.min(to_ms, now_ms)) }
  const units = await readBatteryDays(db, {
    site_id,
    logger_id: query.logger_id,
    now_ms,
    start_ms: span.from_ms,
    end_ms: span.to_ms,
  })
  const markets = await readMarkets(db, units, span)
  const pricesOf = await readMarketPrices(db, markets.values(), span)
  const { timezone } = site
  const days = units.flatMap((unit) =>
    unitDays(unit, { timezone, ...span, markets: markets.get(unit)!, pricesOf }),
  )
  const own_currencies = days.flatMap((day) => day.currency ?? [])
  const currency = query.currency ?? commonCurrency(own_currencies, site.currency)
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
      const isSelected = (unit: { logger_id: number | null }) =>
        logger_id === null || unit.logger_id === logger_id
      const reason_without_days = is_ahead && units.some(isSelected) ? 'not_yet' : 'no_battery'
      return sumOf(days.filter(isSelected), amountOf, reason_without_days)
    },
  }
}

/** Units with the same key have the same market. */
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
  // Includes the running quarter hour.
  const window = { from_ms, to_ms: Math.ceil(to_ms / quarter_ms) * quarter_ms }
  const found = new Map<string, QuarterPrices>()
  for (const { market_code } of [...markets].flatMap((by_day) => [...by_day.values()])) {
    if (found.has(market_code)) continue
    found.set(market_code, await readQuarterPrices(db, { market_code, kind: 'day_ahead' }, window))
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

/** Revenue within the span; quarter hours with zero net energy need no price. */
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
    const price_micro = prices && microAt(prices, at)
    if (price_micro === null) money.is_priced = false
    else money.micro += worth(discharged_wh - charged_wh, price_micro)
  }
  return money
}

function sumOf(
  days: readonly UnitDay[],
  amountOf: (day: UnitDay) => number | null,
  reason_without_days: ArbitrageReason,
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
  const energy_reason =
    demanded_ms === 0 ? reason_without_days : known_ms < demanded_ms ? 'no_energy' : null
  const metrics: ArbitrageMetrics = {
    bess_arbitrage_amount: is_known ? majorUnits(amount) : null,
    bess_arbitrage_reason: reason ?? energy_reason,
    bess_completeness_pct: demanded_ms === 0 ? null : rounded((100 * known_ms) / demanded_ms, 2),
  }
  const may_come = reason === 'no_price' || reason === 'no_exchange_rate'
  return { metrics, is_settled: !may_come && days.every(({ is_summed }) => is_summed) }
}
