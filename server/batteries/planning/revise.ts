/** Revisions of a proposal, changes made by its approval, and the idle plan. Pure. */
import { hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { addedKwh, type Hindrance, type Span, watts } from '@heliograph/optimize/course'
import type { SchedulePlan, ScheduleViolation, StoredHour } from '../schedule-plan.ts'
import type { StoredProblem, StoredSchedule } from '../schedules.ts'
import { lockedHour, powersOf, spanOf, totalsOf, unitInRoom, withPowers } from './day-hours.ts'
import { socAfter } from './plan-units.ts'
import type { PlannedUnit } from './planner.ts'
import { courseBreach, laterViolation } from './present.ts'

interface Revision {
  hour: number
  power_kw: number
  note: string | null
  by: string
  now: Date
}

type Parts = Pick<StoredSchedule, 'hours' | 'plan'>

type Revised =
  | { is: 'revised'; parts: Parts }
  | { is: 'locked' }
  /** Power outside the band; also has the first hour that could not be followed, if any. */
  | ({ is: 'outside'; min_power_kw: number; max_power_kw: number } & Partial<Unfollowed>)
  | ({ is: 'infeasible' } & Unfollowed)

interface Unfollowed {
  first_infeasible_hour: number
  by: Hindrance
}

/**
 * Sets one hour of a proposal to another power, in whole watts, if the unit can follow the whole
 * day and the connection has headroom in that hour.
 */
export function revised(schedule: StoredSchedule, revision: Revision): Revised {
  const { problem, hours } = schedule
  const { hour, now } = revision
  const power_kw = watts(revision.power_kw)
  const was = hours[hour]!
  const span = spanOf(problem, hour)
  if (span === null || Date.parse(was.start_at) <= now.getTime()) return { is: 'locked' }
  const { min_power_kw, max_power_kw } = was
  const powers = powersOf(hours, problem).fill(power_kw, span.first, span.last)
  const changed = withPowers(hours, problem, powers)
  const unfollowed = unfollowedOf(problem, powers, span)
  if (power_kw < min_power_kw || power_kw > max_power_kw) {
    return { is: 'outside', min_power_kw, max_power_kw, ...unfollowed }
  }
  if (unfollowed) return { is: 'infeasible', ...unfollowed }
  const edit = {
    original_power_kw: was.original_power_kw ?? was.power_kw,
    edited_by: revision.by,
    edited_at: now.toISOString(),
    edit_note: revision.note,
  }
  const after = changed.hours.map((one) => (one.hour === hour ? { ...one, ...edit } : one))
  const plan = planOf(schedule, after)
  return { is: 'revised', parts: { hours: after, plan: { ...plan, optimizer: byHand(plan) } } }
}

/** A revised plan is not proved optimal. */
const byHand = ({ optimizer }: SchedulePlan): SchedulePlan['optimizer'] => ({
  ...optimizer,
  solver_status: optimizer.solver_status === 'infeasible' ? 'infeasible' : 'feasible',
  gap_pct: null,
})

/** Headroom is checked in the revised hour only, so that hours can be corrected one by one. */
function unfollowedOf(
  problem: StoredProblem,
  power_kw: readonly number[],
  { first, last }: Span,
): Unfollowed | null {
  const { room_kw, ...unit } = unitInRoom(problem)
  const room_of_span_kw = room_kw!.map((room, nth) =>
    nth >= first && nth < last ? room : { min_kw: -Infinity, max_kw: Infinity },
  )
  const own = { ...unit, room_kw: room_of_span_kw }
  const breach = courseBreach(own, problem.periods, power_kw)
  return breach && { first_infeasible_hour: breach.hour, by: breach.constraint }
}

/**
 * Hours and plan of a schedule at its approval. Past hours become those of the schedule approved
 * before, else idle. `soc_pct` is the measured state of charge, null where unknown. Where the unit
 * cannot follow the plan from there, a violation is added; the edge follows it as far as possible.
 */
export function approvedParts(
  schedule: StoredSchedule,
  of: { replaced: StoredSchedule | null; soc_pct: number | null; now: Date },
): Parts {
  const { replaced, soc_pct, now } = of
  const hours = schedule.hours.map((hour): StoredHour => {
    if (Date.parse(hour.end_at) > now.getTime()) return hour
    const { price_per_mwh, pv_forecast_kw } = hour
    const { quarter_price_per_mwh = null, price_status = null } = hour
    const was = lockedHour(hour.hour, Date.parse(hour.start_at), replaced)
    const expected_amount = was.expected_amount ?? (price_per_mwh === null ? null : 0)
    const priced = { price_per_mwh, quarter_price_per_mwh, price_status }
    return { ...was, ...priced, pv_forecast_kw, expected_amount }
  })
  const plan = planOf(schedule, hours)
  const violation = soc_pct === null ? null : presentViolation(schedule, soc_pct, now)
  if (violation === null) return { hours, plan }
  return {
    hours,
    plan: { ...plan, constraint_violations: [...plan.constraint_violations, violation] },
  }
}

function planOf({ plan, problem }: StoredSchedule, hours: readonly StoredHour[]): SchedulePlan {
  return { ...plan, totals: totalsOf(hours, problem, plan.totals) }
}

/** The first hour of the rest of the day that the unit cannot follow; null without one. */
function presentViolation(
  { hours, problem }: StoredSchedule,
  soc_pct: number,
  now: Date,
): ScheduleViolation | null {
  const first = problem.periods.findIndex(({ start_ms }) => start_ms > now.getTime())
  const has_begun = problem.periods[0]!.start_ms <= now.getTime()
  if (first < 0 || !has_begun) return null
  const { room_kw, ...unit } = unitInRoom(problem)
  const rest = problem.periods.slice(first)
  const powers = powersOf(hours, problem)
  // The running period continues as approved.
  const left_h = (rest[0]!.start_ms - now.getTime()) / hour_ms
  const added_kwh = addedKwh(unit, powers[first - 1]!, left_h)
  const soc_start_pct = socAfter(unit, soc_pct, added_kwh)
  const breach = courseBreach(
    { ...unit, soc_start_pct, room_kw: room_kw!.slice(first), cycles_max: null },
    rest,
    powers.slice(first),
  )
  const message = `cannot be followed completely from ${rounded(soc_pct, 1)} % at its approval`
  return breach && laterViolation(breach, message)
}

/**
 * The approved schedule with zero power from now on, including the running hour. Needs no price, no
 * state of charge and no solver.
 */
export function idlePlan(approved: StoredSchedule, now: Date): PlannedUnit {
  const { bess_id, objective, plan } = approved
  // An idle plan has no target for the final state of charge.
  const unit = { ...approved.problem.unit, soc_end_pct: null }
  const problem = { ...approved.problem, unit }
  const powers = powersOf(approved.hours, problem).map((power_kw, nth) => {
    return problem.periods[nth]!.end_ms <= now.getTime() ? power_kw : 0
  })
  const { hours } = withPowers(
    approved.hours.map((hour) => {
      const is_locked = spanOf(problem, hour.hour) === null
      const unmarked = { ...hour, ...unedited }
      return is_locked && Date.parse(hour.end_at) > now.getTime() ? idleHour(unmarked) : unmarked
    }),
    problem,
    powers,
  )
  return {
    bess_id,
    objective,
    problem,
    hours,
    plan: {
      ...plan,
      optimizer: {
        name: 'idle',
        version: '1',
        solver_status: 'feasible',
        solve_ms: 0,
        gap_pct: null,
      },
      totals: totalsOf(hours, problem, plan.totals),
      constraint_violations: [],
    },
  }
}

const unedited = { original_power_kw: null, edited_by: null, edited_at: null, edit_note: null }

/** An hour that was running when the approved schedule was planned. */
const idleHour = (hour: StoredHour): StoredHour => ({
  ...hour,
  power_kw: 0,
  quarter_power_kw: null,
  min_power_kw: 0,
  max_power_kw: 0,
  soc_end_pct: hour.soc_start_pct,
  expected_amount: hour.price_per_mwh === null ? null : 0,
})
