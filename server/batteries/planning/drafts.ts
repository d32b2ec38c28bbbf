/** Drafts of units: prices, state of charge and limits to plan with, or a refusal. */
import { cached } from '@heliograph/domain/cached'
import { day_ms, hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { addDays, utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { addedKwh } from '@heliograph/optimize/course'
import type { Unit } from '@heliograph/optimize/dispatch-problem'
import { readMarket, readRate } from '../../markets/price-store.ts'
import type { Queries } from '../../storage/database.ts'
import { marketsOfUnit } from '../earnings.ts'
import type { StoredHour } from '../schedule-plan.ts'
import type { ScheduleHours } from '../schedules.ts'
import { quartersOf } from '../unit-energy.ts'
import { capacityOf } from '../units.ts'
import { connectionOf, type DayPlans, plansByUnit, readDayPlans } from './day-plans.ts'
import { type DayPrices, type PlanDay, readDayPrices } from './plan-prices.ts'
import {
  efficiencyOf,
  presentSoc,
  socAfter,
  type UnitLimits,
  type UnitRow,
  unitLimits,
  usableOf,
} from './plan-units.ts'
import type { DayStart } from './present.ts'
import { Refusal } from './refusal.ts'

export interface PlanAsked {
  site_id: string
  /** UTC day, YYYY-MM-DD; not past. */
  date: string
  soc_end_target_pct: number | null
  now: Date
}

export interface Draft {
  bess_id: number
  /** The plant of the connection; null for the connection of the site. */
  connection_logger_id: number | null
  prices: DayPrices
  unit: Unit
  usable_kwh: number
  /**
   * The final state of charge is neither requested nor approved: a plan for revenue replaces
   * `unit.soc_end_pct` by the most profitable value.
   */
  is_end_open: boolean
  /** Maximum full cycles per day; null without a bound. */
  cycles_per_day: number | null
  soc_start_source: DayStart['source']
  efficiency_is_assumed: boolean
  /** The approved schedule of the day, whose past and running hours stay. */
  approved: ScheduleHours | null
}

export interface PlanBasis extends DayPlans {
  asked: PlanAsked
  day: PlanDay
  approved_before: ReadonlyMap<number, ScheduleHours>
}

export async function readBasis(db: Queries, asked: PlanAsked): Promise<PlanBasis> {
  const { site_id, date, now } = asked
  const start_ms = Date.parse(date)
  // The running hour cannot be planned.
  const next_ms = (Math.floor(now.getTime() / hour_ms) + 1) * hour_ms
  return {
    ...(await readDayPlans(db, asked)),
    asked,
    day: { day_ms: start_ms, from_ms: utcDayStart(now) === start_ms ? next_ms : start_ms, now },
    approved_before: await plansByUnit(db, { site_id, date: addDays(date, -1) }, 'approved'),
  }
}

/** Drafts units one by one; prices are read once per market. */
export function drafter(db: Queries, basis: PlanBasis): (row: UnitRow) => Promise<Draft> {
  const { asked, day, site } = basis
  const pricesIn = cached((market_code: string) => pricesOf(db, market_code, day))

  async function pricesFor(row: UnitRow): Promise<DayPrices> {
    const code = await marketOf(db, asked, row)
    if (code === null) {
      throw new Refusal('no_market', 'neither the unit nor its plant nor the site has a market')
    }
    return pricesIn(code)
  }

  return async (row) => {
    if (row.is_retired) throw new Refusal('retired', 'the unit is out of service')
    if (day.from_ms >= day.day_ms + day_ms) {
      throw new Refusal('no_hours_left', 'the last hour of the day is running')
    }
    const prices = await pricesFor(row)
    const approved = basis.approved.get(row.bess_id) ?? null
    const counted = await readDayCounts(db, basis, row)
    const limits = unitLimits(row, await ageingCost(db, basis, row, prices))
    const start = startOf(basis, row, limits)
    const set_pct = asked.soc_end_target_pct ?? (approved && endOf(approved))
    const wanted_pct = set_pct ?? counted.soc_first_pct ?? start.soc_pct
    const within = Math.min(limits.soc_max_pct, Math.max(limits.soc_min_pct, wanted_pct))
    const usable_kwh = usableOf(row)
    const cyclesLeft = (done: number) =>
      row.cycles_per_day_max === null
        ? null
        : (Math.max(0, row.cycles_per_day_max - done) * usable_kwh) / capacityOf(row)
    return {
      bess_id: row.bess_id,
      connection_logger_id: connectionOf(site, row.logger_id),
      prices,
      unit: {
        ...limits,
        soc_start_pct: start.soc_pct,
        soc_end_pct: asked.soc_end_target_pct ?? rounded(within, 3),
        cycles_max: cyclesLeft(counted.drawn_kwh / usable_kwh),
      },
      usable_kwh,
      is_end_open: set_pct === null,
      cycles_per_day: cyclesLeft(0),
      soc_start_source: start.source,
      efficiency_is_assumed: row.roundtrip_efficiency_pct === null,
      approved,
    }
  }
}

/** Final state of charge of an approved schedule; null where the unit cannot follow it. */
const endOf = ({ hours, violation_count }: ScheduleHours): number | null =>
  violation_count > 0 ? null : hours.at(-1)!.soc_end_pct

/** The market of the unit, else the one assigned on the day to its plant, else to the site. */
async function marketOf(
  db: Queries,
  { site_id, date }: PlanAsked,
  { logger_id, market_code }: UnitRow,
): Promise<string | null> {
  if (market_code !== null) return market_code
  const markets = await marketsOfUnit(db, { site_id, logger_id, market_code }, [date])
  return markets.get(date)?.market_code ?? null
}

async function pricesOf(db: Queries, market_code: string, day: PlanDay): Promise<DayPrices> {
  const market = await readMarket(db, market_code)
  if (market) return readDayPrices(db, market, day)
  throw new Refusal('no_market', `the market ${market_code} is not known`, { market_code })
}

/** Ageing cost per MWh in the currency of the market. */
async function ageingCost(
  db: Queries,
  { asked, site }: PlanBasis,
  { degradation_cost_per_mwh }: UnitRow,
  { market }: DayPrices,
): Promise<number> {
  const cost = degradation_cost_per_mwh ?? 0
  const currency = site.currency ?? market.currency
  const on = new Date(asked.date)
  const rate = cost === 0 ? 1 : await readRate(db, { currency, base: market.currency, on })
  if (rate !== null) return rounded(cost * rate, 6)
  throw new Refusal(
    'no_exchange_rate',
    `no exchange rate between ageing cost (${currency}) and prices (${market.currency})`,
  )
}

/** State of charge at the start of the day, and energy drawn from the cells since then. */
async function readDayCounts(
  db: Queries,
  { asked, day }: PlanBasis,
  row: UnitRow,
): Promise<{ soc_first_pct: number | null; drawn_kwh: number }> {
  if (day.from_ms === day.day_ms) return { soc_first_pct: null, drawn_kwh: 0 }
  const [first] = await db.query<{ soc_pct: number; discharged_total_kwh: number | null }>(
    `select soc_pct::float8 as soc_pct, discharged_total_kwh from bess_readings
     where site_id = $1 and bess_id = $2 and measured_at >= $3 and measured_at < $4
       and soc_pct is not null
     order by measured_at limit 1`,
    [asked.site_id, row.bess_id, new Date(day.day_ms), new Date(day.day_ms + hour_ms)],
  )
  const given_kwh =
    row.discharged_total_kwh === null || first?.discharged_total_kwh == null
      ? 0
      : Math.max(0, row.discharged_total_kwh - first.discharged_total_kwh)
  return {
    soc_first_pct: first ? rounded(first.soc_pct, 3) : null,
    // Half of the losses belong to discharging.
    drawn_kwh: given_kwh / Math.sqrt(efficiencyOf(row) / 100),
  }
}

function startOf(
  { day, site, approved, approved_before }: PlanBasis,
  row: UnitRow,
  unit: UnitLimits,
): DayStart {
  const before = approved_before.get(row.bess_id)?.hours.at(-1)?.soc_end_pct
  if (before != null && day.day_ms > day.now.getTime()) {
    return { soc_pct: before, source: 'approved_schedule' }
  }
  const now_pct = presentSoc(row, site, day.now)
  const running = approved.get(row.bess_id)?.hours[new Date(day.now).getUTCHours()]
  const is_today = utcDate(day.now) === utcDate(day.day_ms)
  if (!is_today || running === undefined) return { soc_pct: now_pct, source: 'measured' }
  const rest = quartersOf({ start_ms: day.now.getTime(), end_ms: day.from_ms })
  const added_kwh = rest.reduce(
    (kwh, { start_ms, end_ms }) =>
      kwh + addedKwh(unit, askedAt(running, start_ms), (end_ms - start_ms) / hour_ms),
    0,
  )
  const soc_pct = socAfter({ ...row, capacity_kwh: unit.capacity_kwh }, now_pct, added_kwh)
  return { soc_pct: rounded(soc_pct, 3), source: 'measured' }
}

const askedAt = ({ power_kw, quarter_power_kw }: StoredHour, at_ms: number): number =>
  quarter_power_kw?.[Math.floor((at_ms % hour_ms) / quarter_ms)] ?? power_kw
