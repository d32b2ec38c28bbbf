/**
 * A schedule next to the present plans of other units and the present end of the day before, both
 * of which may have changed since it was planned. Its own inputs stay. Pure.
 */
import { rounded } from '@heliograph/domain/significant'
import { followCourse, type Hindrance } from '@heliograph/optimize/course'
import type { Period, Unit } from '@heliograph/optimize/dispatch-problem'
import type { ScheduleInputs, ScheduleViolation } from '../schedule-plan.ts'
import type { StoredProblem, StoredSchedule } from '../schedules.ts'
import { type HourPlan, powersOf, sumOver, totalsOf, unitInRoom, withPowers } from './day-hours.ts'

export interface Beside {
  export_limit_kw: number | null
  others: readonly HourPlan[]
}

export interface DayStart {
  soc_pct: number
  source: ScheduleInputs['soc_start_source']
}

export interface Breach {
  constraint: ScheduleViolation['constraint']
  hour: number
  /** Power above the limit, kW; null where the unit cannot follow. */
  by_kw: number | null
}

interface Present {
  row: StoredSchedule
  breach: Breach | null
}

/** Recomputes bands, totals and violations with the headroom that other units leave now. */
export function besideOthers(
  schedule: StoredSchedule,
  { export_limit_kw, others }: Beside,
  now: Date,
): Present {
  const others_kw = sumOver(schedule.problem.periods, others).map((sum) => rounded(sum, 6))
  const problem = { ...schedule.problem, export_limit_kw, others_kw }
  const inputs = { ...schedule.plan.inputs, export_plan_limit_kw: export_limit_kw }
  const changed = recomputed(schedule, problem, inputs)
  const breach = exportBreach(changed, others.length, now)
  const message = `exceeds the headroom of export_plan_limit_kw next to other units by ${breach?.by_kw} kW`
  return { row: withViolation(changed, 'export_limit', breach, message), breach }
}

/** Recomputes the state of charge and violations from a new start of the day. */
export function fromStart(schedule: StoredSchedule, start: DayStart): Present {
  const unit = { ...schedule.problem.unit, soc_start_pct: rounded(start.soc_pct, 3) }
  const inputs = {
    ...schedule.plan.inputs,
    soc_start_pct: unit.soc_start_pct,
    soc_start_source: start.source,
  }
  const changed = recomputed(schedule, { ...schedule.problem, unit }, inputs)
  const { periods } = changed.problem
  const breach = courseBreach(unit, periods, powersOf(changed.hours, changed.problem))
  const soc_pct = rounded(unit.soc_start_pct, 1)
  const message = `cannot be followed completely from ${soc_pct} % at the start of the day`
  return { row: withViolation(changed, 'course', breach, message), breach }
}

function recomputed(
  schedule: StoredSchedule,
  problem: StoredProblem,
  inputs: ScheduleInputs,
): StoredSchedule {
  const { hours } = withPowers(schedule.hours, problem, powersOf(schedule.hours, problem))
  const { plan } = schedule
  const totals = totalsOf(hours, problem, plan.totals)
  return { ...schedule, problem, hours, plan: { ...plan, inputs, totals } }
}

/**
 * The first hour, not past, in which discharging exceeds the headroom that other units leave of the
 * export limit. Idle and charging hours never do, as a battery can always be stopped.
 */
function exportBreach(
  { hours, problem }: StoredSchedule,
  other_count: number,
  now: Date,
): Breach | null {
  if (problem.export_limit_kw === null) return null
  // Each plan is rounded to whole watts.
  const rounding_kw = 1e-3 * (other_count + 1)
  const room_kw = unitInRoom(problem).room_kw!
  const powers = powersOf(hours, problem)
  for (const [nth, { start_ms, end_ms }] of problem.periods.entries()) {
    const by_kw = powers[nth]! - room_kw[nth]!.max_kw
    if (end_ms <= now.getTime() || powers[nth]! <= 0 || by_kw <= rounding_kw) continue
    const hour = new Date(start_ms).getUTCHours()
    return { constraint: 'export_limit', hour, by_kw: rounded(by_kw, 3) }
  }
  return null
}

/** The first hour that the unit cannot follow; null without one. */
export function courseBreach(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
): (Breach & { constraint: Hindrance }) | null {
  const { hindered } = followCourse(unit, periods, power_kw)
  if (hindered === null) return null
  const at = new Date(periods[hindered.period]!.start_ms)
  return { constraint: hindered.by, hour: at.getUTCHours(), by_kw: null }
}

/** Violations found at planning have a number; those found later have only a message. */
export const laterViolation = (
  { constraint, hour }: Breach,
  message: string,
): ScheduleViolation => ({ constraint, hour, by_pct: null, by_kw: null, by_kwh: null, message })

export const isOfPlan = ({ by_pct, by_kw, by_kwh }: ScheduleViolation) =>
  by_pct !== null || by_kw !== null || by_kwh !== null

/** An approved schedule has no export violation: proposals of other units must fit next to it. */
export const settled = (schedule: StoredSchedule): StoredSchedule =>
  withViolation(schedule, 'export_limit', null, '')

/** Replaces an earlier violation of the same kind. */
function withViolation(
  schedule: StoredSchedule,
  of: 'export_limit' | 'course',
  breach: Breach | null,
  message: string,
): StoredSchedule {
  const isSame = (one: ScheduleViolation) =>
    !isOfPlan(one) && (one.constraint === 'export_limit') === (of === 'export_limit')
  const kept = schedule.plan.constraint_violations.filter((one) => !isSame(one))
  const constraint_violations = breach ? [...kept, laterViolation(breach, message)] : kept
  return { ...schedule, plan: { ...schedule.plan, constraint_violations } }
}
