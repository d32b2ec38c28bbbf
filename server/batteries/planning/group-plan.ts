/** The plan of all units of a connection, computed on the solver thread. Pure. */
import { rounded } from '@heliograph/domain/significant'
import { type DispatchPlan, planDispatch } from '@heliograph/optimize/dispatch'
import type {
  DispatchProblem,
  Period,
  Unit,
  Violation,
} from '@heliograph/optimize/dispatch-problem'
import { isForMoney } from '@heliograph/optimize/goals'
import { bestEnds } from '@heliograph/optimize/outlook'
import type { Highs } from 'highs'
import type { ScheduleTotals, StoredHour } from '../schedule-plan.ts'
import type { StoredProblem } from '../schedules.ts'
import { totalsOf, withPowers } from './day-hours.ts'
import type { Draft } from './drafts.ts'

interface GroupUnit extends Pick<Draft, 'unit' | 'usable_kwh' | 'is_end_open' | 'cycles_per_day'> {
  /** The 24 hours before planning. */
  blank: StoredHour[]
}

export interface GroupTask
  extends Pick<DispatchProblem, 'objective' | 'periods' | 'export_limit_kw' | 'import_limit_kw'> {
  units: GroupUnit[]
  /** Periods after `periods`, as far as prices are known. */
  outlook: Period[]
  /** Power of units of the connection that are not planned now, by period, kW. */
  fixed_kw: number[]
  /** Whether the final state of charge was requested; otherwise it does not bind revisions. */
  has_end_target: boolean
  currency: string
}

export interface GroupPlan {
  status: DispatchPlan['status']
  demands: DispatchPlan['demands']
  gap_pct: number | null
  violations: Violation[]
  /** In the order of the task; idle after a timeout without a plan. */
  units: {
    problem: StoredProblem
    hours: StoredHour[]
    totals: ScheduleTotals
    soc_end_pct: number | null
  }[]
}

export function planOfGroup(highs: Highs, task: GroupTask, time_limit_s: number): GroupPlan {
  const { objective, periods, export_limit_kw, import_limit_kw, fixed_kw, currency } = task
  const limits = { export_limit_kw, import_limit_kw }
  const began_ms = performance.now()
  const open: DispatchProblem = {
    objective,
    ...limits,
    periods: periods.map((period, nth) => besides(period, fixed_kw[nth]!)),
    units: task.units.map(({ unit }) => unit),
  }
  const problem = { ...open, units: unitsWithEnds(highs, task, open, time_limit_s / 2) }
  const left_s = time_limit_s - (performance.now() - began_ms) / 1000
  const { status, demands, gap_pct, violations, units } = planDispatch(highs, problem, {
    time_limit_s: left_s,
  })
  const powers = task.units.map(({ unit }) => {
    const found = units.find(({ bess_id }) => bess_id === unit.bess_id)
    return found?.power_kw ?? periods.map(() => 0)
  })
  const all_kw = periods.map((_, nth) => {
    return powers.reduce((sum, power_kw) => sum + power_kw[nth]!, fixed_kw[nth]!)
  })
  const planned = task.units.map(({ usable_kwh, blank }, place) => {
    const power_kw = powers[place]!
    const unit = problem.units[place]!
    const stored: StoredProblem = {
      objective,
      periods,
      ...limits,
      usable_kwh,
      unit: { ...unit, soc_end_pct: task.has_end_target ? unit.soc_end_pct : null },
      others_kw: all_kw.map((sum, nth) => rounded(sum - power_kw[nth]!, 6)),
    }
    const { hours } = withPowers(blank, stored, power_kw)
    const totals = totalsOf(hours, stored, { currency })
    return { problem: stored, hours, totals, soc_end_pct: unit.soc_end_pct }
  })
  return { status, demands, gap_pct, violations, units: planned }
}

/** Accepted distance to the optimum of day and outlook, as a share of the gain. */
const end_gap_ratio = 1e-3

/**
 * The units, with the most profitable final state of charge for units with an open end. Unchanged
 * where the plan is not for revenue, and after a timeout.
 */
function unitsWithEnds(
  highs: Highs,
  task: GroupTask,
  problem: DispatchProblem,
  time_limit_s: number,
): readonly Unit[] {
  const { units } = problem
  if (!isForMoney(task.objective) || !task.units.some(({ is_end_open }) => is_end_open))
    return units
  const cycles_max = task.units.map(({ cycles_per_day }) => cycles_per_day)
  const outlook = { periods: task.outlook, cycles_max }
  const ends = bestEnds(highs, problem, outlook, { time_limit_s, gap_ratio: end_gap_ratio })
  if (ends === null) return units
  return units.map((unit, place) =>
    task.units[place]!.is_end_open ? { ...unit, soc_end_pct: rounded(ends[place]!, 3) } : unit,
  )
}

const besides = (period: Period, fixed_kw: number): Period => ({
  ...period,
  pv_kw: period.pv_kw + Math.max(0, fixed_kw),
  load_kw: period.load_kw + Math.max(0, -fixed_kw),
})
