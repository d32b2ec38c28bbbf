/**
 * A schedule next to the present plans of other units and the present end of the day before, both
 * of which may have changed since it was planned. Its own inputs stay. Pure.
 */
import { rounded } from '@heliograph/domain/significant'
import { followCourse } from '@heliograph/optimize/course'
import type { ScheduleInputs, ScheduleViolation } from '../schedule-plan.ts'
import type { ScheduleHours, StoredProblem, StoredSchedule } from '../schedules.ts'
import { powersOf, totalsOf, unitInRoom, withPowers } from './day-hours.ts'
import { sumOver } from './others.ts'

/** The other plans of the connection. */
export interface Beside {
  export_limit_kw: number | null
  others: readonly Pick<ScheduleHours, 'hours'>[]
}

/** State of charge at the start of the day. */
export interface DayStart {
  soc_pct: number
  source: ScheduleInputs['soc_start_source']
}

/** The first violation of a limit of unit or connection by a plan. */
export interface Breach {
  constraint: ScheduleViolation['constraint']
  hour: number
  /** Power above the limit, kW; null where the unit cannot follow. */
  by_kw: number | null
}

/** Recomputes bands, totals and violations with the headroom that other units leave now. */
export function besideOthers(
  schedule: StoredSchedule,
  { export_limit_kw, others }: Beside,
  now: Date,
): StoredSchedule {
  const others_kw = sumOver(schedule.problem.periods, others).map((sum) => rounded(sum, 6))
  const problem = { ...schedule.problem, export_limit_kw, others_kw }
  const inputs = { ...schedule.plan.inputs, export_plan_limit_kw: export_limit_kw }
  const changed = recomputed(schedule, problem, inputs)
  const breach = exportBreach(changed, { others, now })
  return withViolation(changed, 'export_limit', breach && exportViolation(breach))
}

/** Recomputes the state of charge and violations from a new start of the day. */
export function fromStart(schedule: StoredSchedule, start: DayStart): StoredSchedule {
  const unit = { ...schedule.problem.unit, soc_start_pct: rounded(start.soc_pct, 3) }
  const inputs = {
    ...schedule.plan.inputs,
    soc_start_pct: unit.soc_start_pct,
    soc_start_source: start.source,
  }
  const changed = recomputed(schedule, { ...schedule.problem, unit }, inputs)
  const breach = courseBreach(changed)
  return withViolation(changed, 'course', breach && courseViolation(breach, unit.soc_start_pct))
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
export function exportBreach(
  { hours, problem }: StoredSchedule,
  { others, now }: Pick<Beside, 'others'> & { now: Date },
): (Breach & { by_kw: number }) | null {
  if (problem.export_limit_kw === null) return null
  // Each plan is rounded to whole watts.
  const rounding_kw = 1e-3 * (others.length + 1)
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

/** The first hour of a coming day that the unit cannot follow; null without one. */
export function courseBreach({ hours, problem }: StoredSchedule): Breach | null {
  const { hindered } = followCourse(problem.unit, problem.periods, powersOf(hours, problem))
  if (hindered === null) return null
  const at = new Date(problem.periods[hindered.period]!.start_ms)
  return { constraint: hindered.by, hour: at.getUTCHours(), by_kw: null }
}

const exportViolation = ({ constraint, hour, by_kw }: Breach): ScheduleViolation => ({
  constraint,
  hour,
  by_pct: null,
  by_kw: null,
  by_kwh: null,
  message: `exceeds the headroom of export_plan_limit_kw next to other units by ${by_kw} kW`,
})

const courseViolation = ({ constraint, hour }: Breach, soc_pct: number): ScheduleViolation => ({
  constraint,
  hour,
  by_pct: null,
  by_kw: null,
  by_kwh: null,
  message: `cannot be followed completely from ${rounded(soc_pct, 1)} % at the start of the day`,
})

/** Violations found at planning have a number; those found later have only a message. */
export const isOfPlan = ({ by_pct, by_kw, by_kwh }: ScheduleViolation) =>
  by_pct !== null || by_kw !== null || by_kwh !== null

/** An approved schedule has no export violation: proposals of other units must fit next to it. */
export const settled = (schedule: StoredSchedule): StoredSchedule =>
  withViolation(schedule, 'export_limit', null)

/** Replaces an earlier violation of the same kind. */
function withViolation(
  schedule: StoredSchedule,
  of: 'export_limit' | 'course',
  violation: ScheduleViolation | null,
): StoredSchedule {
  const isSame = (one: ScheduleViolation) =>
    !isOfPlan(one) && (one.constraint === 'export_limit') === (of === 'export_limit')
  const kept = schedule.plan.constraint_violations.filter((one) => !isSame(one))
  const constraint_violations = violation ? [...kept, violation] : kept
  return { ...schedule, plan: { ...schedule.plan, constraint_violations } }
}
