/** The idle plan, which stops a battery with an approved schedule. Pure. */
import type { StoredHour } from '../schedule-hours.ts'
import type { StoredSchedule } from '../schedules.ts'
import { powersOf, spanOf, totalsOf, withPowers } from './day-hours.ts'
import type { PlannedUnit } from './planner.ts'

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
