/** Drafts of units: prices, state of charge and limits to plan with, or a refusal. */

import { powerAt } from '@heliograph/domain/dispatch'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { addDays, utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { addedKwh } from '@heliograph/optimize/course'
import type { Unit } from '@heliograph/optimize/dispatch-problem'
import { assignedMarket } from '../../forecasts/assigned-market.ts'
import { readMarket, readRate } from '../../markets/price-store.ts'
import type { Queries } from '../../storage/database.ts'
import type { StoredHour } from '../schedule-hours.ts'
import type { ScheduleInputs } from '../schedule-plan.ts'
import { type ScheduleHours, scheduleHoursIn } from '../schedules.ts'
import { quartersOf } from '../unit-energy.ts'
import { capacityOf } from '../units.ts'
import { type DayPrices, type PlanDay, readDayPrices } from './plan-prices.ts'
import {
  efficiencyOf,
  type PlanSite,
  presentSoc,
  readPlanSite,
  readUnits,
  type UnitRow,
  unitOf,
  usableOf,
} from './plan-units.ts'
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
  /** The final state of charge is neither requested nor approved: the plan chooses it. */
  is_end_open: boolean
  /** Maximum full cycles per day; null without a bound. */
  cycles_per_day: number | null
  soc_start_source: ScheduleInputs['soc_start_source']
  efficiency_is_assumed: boolean
  /** The approved schedule of the day, whose past and running hours stay. */
  approved: ScheduleHours | null
}

export interface PlanBasis {
  asked: PlanAsked
  day: PlanDay
  site: PlanSite
  units: UnitRow[]
  /** Schedules of the day, by unit. */
  approved: Map<number, ScheduleHours>
  proposed: Map<number, ScheduleHours>
  /** Schedules of the day before. */
  approved_before: Map<number, ScheduleHours>
}

export async function readBasis(db: Queries, asked: PlanAsked): Promise<PlanBasis> {
  const { site_id, date, now } = asked
  const start_ms = Date.parse(date)
  const is_today = utcDayStart(now) === start_ms
  // The running hour cannot be planned.
  const from_ms = is_today ? (Math.floor(now.getTime() / hour_ms) + 1) * hour_ms : start_ms
  const byUnit = async (day: string, state: 'approved' | 'proposed') => {
    const found = await scheduleHoursIn(db, { site_id, date: day, state })
    return new Map(found.map((schedule) => [schedule.bess_id, schedule]))
  }
  return {
    asked,
    day: { day_ms: start_ms, from_ms, now },
    site: await readPlanSite(db, site_id),
    units: await readUnits(db, site_id),
    approved: await byUnit(date, 'approved'),
    proposed: await byUnit(date, 'proposed'),
    approved_before: await byUnit(addDays(date, -1), 'approved'),
  }
}

/** Drafts units one by one; prices are read once per market. */
export function drafter(db: Queries, basis: PlanBasis): (row: UnitRow) => Promise<Draft> {
  const { asked, day, site } = basis
  const known = new Map<string, Promise<DayPrices>>()
  const markets = new Map<number | null, Promise<string | null>>()

  function once<Key, Value>(
    found: Map<Key, Promise<Value>>,
    key: Key,
    read: () => Promise<Value>,
  ): Promise<Value> {
    const value = found.get(key) ?? read()
    found.set(key, value)
    return value
  }

  async function pricesFor(row: UnitRow): Promise<DayPrices> {
    const assigned = () => marketOf(db, asked, row.logger_id)
    const code = row.market_code ?? (await once(markets, row.logger_id, assigned))
    if (code === null) {
      throw new Refusal('no_market', 'neither the unit nor its plant nor the site has a market')
    }
    return once(known, code, async () => {
      const market = await readMarket(db, code)
      if (market === null) {
        throw new Refusal('no_market', `the market ${code} is not known`, { market_code: code })
      }
      return readDayPrices(db, market, day)
    })
  }

  return async (row) => {
    if (row.is_retired) throw new Refusal('retired', 'the unit is out of service')
    if (day.from_ms >= day.day_ms + day_ms) {
      throw new Refusal('no_hours_left', 'the last hour of the day is running')
    }
    const prices = await pricesFor(row)
    const approved = basis.approved.get(row.bess_id) ?? null
    const counted = await readDayCounts(db, basis, row)
    const plan = {
      soc_start_pct: 0,
      soc_end_pct: 0,
      degradation_cost_per_mwh: await ageingCost(db, basis, row, prices),
      cycles_done: counted.drawn_kwh / usableOf(row),
    }
    const start = startOf(basis, row, unitOf(row, plan))
    const unit = { ...unitOf(row, plan), soc_start_pct: start.soc_pct }
    const set_pct = asked.soc_end_target_pct ?? (approved && endOf(approved))
    const wanted_pct = set_pct ?? counted.soc_first_pct ?? start.soc_pct
    const within = Math.min(unit.soc_max_pct, Math.max(unit.soc_min_pct, wanted_pct))
    return {
      bess_id: row.bess_id,
      connection_logger_id: site.export_plan_limit_kw === null ? row.logger_id : null,
      prices,
      unit: { ...unit, soc_end_pct: asked.soc_end_target_pct ?? rounded(within, 3) },
      usable_kwh: usableOf(row),
      is_end_open: set_pct === null,
      cycles_per_day: unitOf(row, { ...plan, cycles_done: 0 }).cycles_max,
      soc_start_source: start.source,
      efficiency_is_assumed: row.roundtrip_efficiency_pct === null,
      approved,
    }
  }
}

/** Final state of charge of an approved schedule; null where the unit cannot follow it. */
const endOf = ({ hours, violation_count }: ScheduleHours): number | null =>
  violation_count > 0 ? null : hours.at(-1)!.soc_end_pct

/** The market assigned on the day to the plant, else to the site. */
async function marketOf(
  db: Queries,
  { site_id, date }: PlanAsked,
  logger_id: number | null,
): Promise<string | null> {
  const own = logger_id === null ? null : await assignedMarket(db, { site_id, logger_id }, date)
  const market = own ?? (await assignedMarket(db, { site_id, logger_id: null }, date))
  return market?.market_code ?? null
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

/** State of charge at the start of the plan. */
function startOf(
  { day, site, approved, approved_before }: PlanBasis,
  row: UnitRow,
  unit: Unit,
): { soc_pct: number; source: Draft['soc_start_source'] } {
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
  const then_pct = now_pct + (100 * added_kwh) / capacityOf(row)
  // Limited to the operating window, unless already outside of it.
  const [low, high] = [Math.min(row.soc_min_pct, now_pct), Math.max(row.soc_max_pct, now_pct)]
  return { soc_pct: rounded(Math.min(high, Math.max(low, then_pct)), 3), source: 'measured' }
}

function askedAt(
  { start_at, end_at, power_kw, quarter_power_kw }: StoredHour,
  at_ms: number,
): number {
  const span = { start_at: Date.parse(start_at), end_at: Date.parse(end_at) }
  const hour = { schedule_id: 1, bess_id: 1, power_kw, quarter_power_kw, ended_at: null, ...span }
  return powerAt(hour, at_ms)
}
