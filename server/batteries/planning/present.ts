/**
 * A schedule as it stands among what is planned now: it keeps what it was planned on, but others
 * may have been revised, approved or declined since, and the day before may end otherwise. Pure.
 */
import { rounded } from '@heliograph/domain/significant'
import { followCourse } from '@heliograph/optimize/course'
import type { ScheduleInputs, ScheduleViolation } from '../schedule-plan.ts'
import type { ScheduleHours, StoredProblem, StoredSchedule } from '../schedules.ts'
import { powersOf, totalsOf, unitInRoom, withPowers } from './day-hours.ts'
import { sumOver } from './others.ts'

/** What a unit shares its connection with. */
export interface Beside {
  export_limit_kw: number | null
  others: readonly Pick<ScheduleHours, 'hours'>[]
}

/** How charged the unit will be when its day begins. */
export interface DayStart {
  soc_pct: number
  source: ScheduleInputs['soc_start_source']
}

/** Where a plan leaves what its unit or its connection can. */
export interface Breach {
  constraint: ScheduleViolation['constraint']
  hour: number
  /** Too much power, kW; null where it is the unit that cannot follow. */
  by_kw: number | null
}

/** With the room that the others leave now: its bands, what it comes to, what it does not hold. */
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

/** With the course of its charge from where its day will begin, and what cannot be followed. */
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
 * The first hour, not over yet, in which the plan discharges more than the others leave of the
 * export limit, and by how much. Idle and charging hours never do: a battery can always be stopped.
 */
export function exportBreach(
  { hours, problem }: StoredSchedule,
  { others, now }: Pick<Beside, 'others'> & { now: Date },
): (Breach & { by_kw: number }) | null {
  if (problem.export_limit_kw === null) return null
  // Plans are in whole watts, each rounded for itself.
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

/** The first hour that the unit cannot follow of a day that is to come; null where it can all. */
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
  message: `${by_kw} kW more than the other units leave of export_plan_limit_kw now`,
})

const courseViolation = ({ constraint, hour }: Breach, soc_pct: number): ScheduleViolation => ({
  constraint,
  hour,
  by_pct: null,
  by_kw: null,
  by_kwh: null,
  message: `cannot be followed whole from the ${rounded(soc_pct, 1)} % that the day begins with`,
})

/** What was missed when it was planned has a measure, what is found later tells it in words. */
export const isOfPlan = ({ by_pct, by_kw, by_kwh }: ScheduleViolation) =>
  by_pct !== null || by_kw !== null || by_kwh !== null

/** Of one that is approved: whatever others only propose has to fit beside it from then on. */
export const settled = (schedule: StoredSchedule): StoredSchedule =>
  withViolation(schedule, 'export_limit', null)

/** In place of what was found of the same before. */
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
