/** Plans batteries: drafts units, optimises the units of each connection, builds schedules. */

import type { Timers } from '@heliograph/domain/clock'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import {
  hoursOf,
  type Objective,
  type Period,
  type Violation,
} from '@heliograph/optimize/dispatch-problem'
import { iso } from '../../plant/frame.ts'
import type { Queries } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import type { SchedulePlan, ScheduleViolation, StoredHour } from '../schedule-plan.ts'
import type { StoredProblem } from '../schedules.ts'
import { sumOrNull } from '../unit-energy.ts'
import { createAdmission } from './admission.ts'
import { type HourPlan, lockedHour, sumOver } from './day-hours.ts'
import { besideOf } from './day-plans.ts'
import { type Draft, drafter, type PlanAsked, type PlanBasis, readBasis } from './drafts.ts'
import type { GroupTask } from './group-plan.ts'
import { type DayConsumption, readDayConsumption } from './plan-consumption.ts'
import { hourPrices } from './plan-prices.ts'
import { type DayProduction, readDayProduction } from './plan-production.ts'
import { Refusal } from './refusal.ts'
import { createSolverThread, type Solved } from './solver-thread.ts'

interface Order extends PlanAsked {
  objective: Objective
  /** Null: all units of the site. */
  bess_id: number | null
}

export interface PlannedUnit {
  bess_id: number
  objective: Objective
  problem: StoredProblem
  plan: SchedulePlan
  hours: StoredHour[]
}

export interface PlanOutcome {
  planned: PlannedUnit[]
  refused: { bess_id: number; refusal: Refusal }[]
}

export interface BatteryPlanner {
  /** Runs `work` for a site. Rejected with 503 when too many plans are being computed. */
  admit<Result>(site_id: string, work: () => Promise<Result>): Promise<Result>
  plan(db: Queries, order: Order): Promise<PlanOutcome>
  close(): Promise<void>
}

export function createBatteryPlanner({ timers }: { timers: Timers }): BatteryPlanner {
  const thread = createSolverThread({ timers })
  return {
    admit: createAdmission(),
    async plan(db, order) {
      const basis = await readBasis(db, order)
      const { drafts, refused } = await draftAll(db, basis, order)
      const planned: PlannedUnit[] = []
      const groups = Map.groupBy(drafts, ({ connection_logger_id, prices }) =>
        JSON.stringify([connection_logger_id, prices.market.market_code]),
      )
      for (const group of groups.values()) {
        const [{ bess_id, connection_logger_id: logger_id, prices }] = group as [Draft]
        const connection = { site_id: order.site_id, logger_id, step_ms: prices.step_ms }
        const pv = await readDayProduction(db, connection, basis.day)
        const load = pv && (await readDayConsumption(db, connection, basis.day))
        const outlook = await readOutlook(db, { basis, connection, prices, pv, load })
        // Plans of the others: just planned, else proposed, else approved.
        const { others } = besideOf(basis, bess_id, (other) => {
          if (group.some((draft) => draft.bess_id === other)) return undefined
          const before = planned.find((one) => one.bess_id === other)
          return before ?? basis.proposed.get(other) ?? basis.approved.get(other)
        })
        const of = { basis, order, group, pv, load, outlook, others }
        const outcome = await planGroup(thread.solve, of)
        planned.push(...outcome.planned)
        refused.push(...outcome.refused)
      }
      const byUnit = (a: { bess_id: number }, b: { bess_id: number }) => a.bess_id - b.bess_id
      return { planned: planned.sort(byUnit), refused: refused.sort(byUnit) }
    },
    close: () => thread.close(),
  }
}

async function draftAll(db: Queries, basis: PlanBasis, { bess_id }: Order) {
  const draft = drafter(db, basis)
  const drafts: Draft[] = []
  const refused: PlanOutcome['refused'] = []
  for (const row of basis.units) {
    if (bess_id !== null && bess_id !== row.bess_id) continue
    try {
      drafts.push(await draft(row))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused.push({ bess_id: row.bess_id, refusal: error })
    }
  }
  return { drafts, refused }
}

interface Group {
  basis: PlanBasis
  order: Order
  group: readonly Draft[]
  pv: DayProduction | null
  /** Only with a production forecast: consumption alone would look like a deficit. */
  load: DayConsumption | null
  /** The periods of the next day. */
  outlook: Period[]
  others: readonly HourPlan[]
}

async function planGroup(
  solve: (task: GroupTask) => Promise<Solved>,
  of: Group,
): Promise<PlanOutcome> {
  const { basis, group, order, pv } = of
  const periods = periodsOf(of)
  const has_end_target = order.soc_end_target_pct !== null
  const solved = await solve({
    objective: order.objective,
    periods,
    outlook: of.outlook,
    has_end_target,
    export_limit_kw: basis.site.export_plan_limit_kw,
    import_limit_kw: null,
    units: group.map((draft) => ({
      unit: draft.unit,
      usable_kwh: draft.usable_kwh,
      is_end_open: draft.is_end_open,
      cycles_per_day: draft.cycles_per_day,
      blank: blankHours(basis, draft, pv),
    })),
    fixed_kw: sumOver(periods, of.others),
    currency: group[0]!.prices.market.currency,
  })
  // After a timeout the target may still be reachable.
  const is_proven = has_end_target && solved.demands === 'infeasible'
  const short = is_proven ? solved.violations.filter(isShort) : []
  if (short.length > 0) {
    const refused = short.map((violation) => ({
      bess_id: violation.bess_id!,
      refusal: infeasible(order, violation),
    }))
    const left = group.filter(({ bess_id }) => !short.some((one) => one.bess_id === bess_id))
    if (left.length === 0) return { planned: [], refused }
    const rest = await planGroup(solve, { ...of, group: left })
    return { planned: rest.planned, refused: [...refused, ...rest.refused] }
  }
  const planned = group.map((draft, nth) => plannedUnit(of, draft, solved, nth))
  return { planned, refused: [] }
}

const isShort = ({ constraint, bess_id }: Violation) => constraint === 'soc_end' && bess_id !== null

function infeasible({ soc_end_target_pct }: Order, { amount, bound_by }: Violation): Refusal {
  const reachable_pct = rounded(soc_end_target_pct! - amount, 3)
  const message = `the highest reachable state of charge at the end of the day is ${reachable_pct} %`
  return new Refusal('infeasible', message, {
    constraint: 'soc_end_target_pct',
    bound_by,
    reachable_soc_end_pct: reachable_pct,
  })
}

/** The open periods of the day; missing forecasts are planned as 0. */
function periodsOf({ basis: { day }, group, pv, load }: Group): Period[] {
  const [{ prices }] = group as [Draft]
  const { step_ms } = prices
  const first = (day.from_ms - day.day_ms) / step_ms
  return Array.from({ length: day_ms / step_ms - first }, (_, nth) => ({
    start_ms: day.from_ms + nth * step_ms,
    end_ms: day.from_ms + (nth + 1) * step_ms,
    price: prices.price[first + nth]!,
    pv_kw: pv?.p50_kw[first + nth] ?? 0,
    load_kw: load?.mean_kw[first + nth] ?? 0,
  }))
}

/**
 * The hours of the next day that have prices. Quarter hours would double the solver time without a
 * better final state of charge. Consumption, and production without a forecast, are assumed to be
 * those of the planned day.
 */
async function readOutlook(
  db: Queries,
  of: Pick<Group, 'basis' | 'pv' | 'load'> & {
    connection: Parameters<typeof readDayProduction>[1]
    prices: Draft['prices']
  },
): Promise<Period[]> {
  const { basis, connection, prices, load } = of
  const { outlook_price } = prices
  if (outlook_price.length === 0) return []
  const { now } = basis.day
  const first_ms = basis.day.day_ms + day_ms
  const next = { day_ms: first_ms, from_ms: first_ms, now }
  const pv = (of.pv && (await readDayProduction(db, connection, next))) ?? of.pv
  const per_hour = hour_ms / prices.step_ms
  const meanOfHour = (values: readonly number[] | undefined, hour: number) =>
    meanOf(values?.slice(hour * per_hour, (hour + 1) * per_hour) ?? [0]) ?? 0
  return outlook_price.map((price, hour) => ({
    start_ms: first_ms + hour * hour_ms,
    end_ms: first_ms + (hour + 1) * hour_ms,
    price,
    pv_kw: meanOfHour(pv?.p50_kw, hour),
    load_kw: meanOfHour(load?.mean_kw, hour),
  }))
}

function plannedUnit(of: Group, draft: Draft, solved: Solved, nth: number): PlannedUnit {
  const { bess_id } = draft
  const { problem, hours, totals, soc_end_pct } = solved.units[nth]!
  const { version, status: solver_status, solve_ms, gap_pct, violations } = solved
  return {
    bess_id,
    objective: of.order.objective,
    problem,
    hours,
    plan: {
      optimizer: { name: 'highs', version, solver_status, solve_ms, gap_pct },
      inputs: { ...inputsOf(of, draft, problem.periods), soc_end_target_pct: soc_end_pct },
      totals,
      constraint_violations: violations
        .filter((violation) => violation.bess_id === null || violation.bess_id === bess_id)
        .map((violation) => violationOf(violation, problem.periods)),
    },
  }
}

function inputsOf(of: Group, draft: Draft, periods: readonly Period[]) {
  const { pv, load } = of
  const { day, site } = of.basis
  const { unit, prices } = draft
  const consumed_kwh = periods.reduce((sum, period) => sum + period.load_kw * hoursOf(period), 0)
  return {
    planned_from_at: isoTime(day.from_ms),
    forecast_run_at: iso(pv?.issued_at ?? null),
    consumption_kwh: load && rounded(consumed_kwh, 3),
    consumption_days: load?.days ?? null,
    market_code: prices.market.market_code,
    price_source: prices.source,
    price_status: prices.status,
    price_step_min: prices.step_ms / 60_000,
    soc_start_pct: unit.soc_start_pct,
    soc_start_source: draft.soc_start_source,
    soc_min_pct: unit.soc_min_pct,
    soc_max_pct: unit.soc_max_pct,
    capacity_kwh: rounded(unit.capacity_kwh, 3),
    efficiency_pct: Math.round(unit.charge_efficiency * unit.discharge_efficiency * 1e5) / 1000,
    efficiency_is_assumed: draft.efficiency_is_assumed,
    degradation_cost_per_mwh: unit.degradation_cost_per_mwh,
    export_plan_limit_kw: site.export_plan_limit_kw,
  }
}

function violationOf(violation: Violation, periods: readonly Period[]): ScheduleViolation {
  const { constraint, amount, period, bound_by } = violation
  const at = period === null ? null : new Date(periods[period]!.start_ms)
  const unit = constraint === 'soc_end' ? '%' : constraint === 'cycles' ? 'kWh' : 'kW'
  const by = bound_by.length > 0 ? `, held back by ${bound_by.join(', ')}` : ''
  return {
    constraint,
    hour: at?.getUTCHours() ?? null,
    by_pct: unit === '%' ? amount : null,
    by_kw: unit === 'kW' ? amount : null,
    by_kwh: unit === 'kWh' ? amount : null,
    message: `missed by ${amount} ${unit}${by}`,
  }
}

/** The 24 hours with prices and forecasts; hours that are not open are as approved, or idle. */
function blankHours(
  { day }: PlanBasis,
  { approved, prices, unit }: Draft,
  pv: DayProduction | null,
): StoredHour[] {
  const per_hour = hour_ms / prices.step_ms
  return Array.from({ length: 24 }, (_, hour): StoredHour => {
    const start_ms = day.day_ms + hour * hour_ms
    const mean = (values: readonly (number | null)[] | undefined) =>
      meanOf(values?.slice(hour * per_hour, (hour + 1) * per_hour) ?? [null])
    const price_per_mwh = mean(prices.price)
    const locked = lockedHour(hour, start_ms, approved)
    const is_last_locked = start_ms + hour_ms === day.from_ms
    return {
      ...locked,
      price_per_mwh,
      pv_forecast_kw: mean(pv?.p50_kw),
      ...hourPrices(prices, hour),
      // The plan continues from the measured state of charge.
      ...(is_last_locked && { soc_end_pct: unit.soc_start_pct }),
      expected_amount: locked.expected_amount ?? (price_per_mwh === null ? null : 0),
    }
  })
}

/** Mean to the millionth; null where any value is unknown. */
function meanOf(values: readonly (number | null)[]): number | null {
  const sum = sumOrNull(values)
  return sum === null ? null : rounded(sum / values.length, 6)
}
