/** The plan of all units of a connection, hour by hour: what the solver thread computes. Pure. */
import { type DispatchPlan, planDispatch } from '@heliograph/optimize/dispatch'
import type {
  DispatchProblem,
  Period,
  Unit,
  Violation,
} from '@heliograph/optimize/dispatch-problem'
import type { Highs } from 'highs'
import type { StoredHour } from '../schedule-hours.ts'
import type { ScheduleTotals } from '../schedule-plan.ts'
import type { StoredProblem } from '../schedules.ts'
import { totalsOf, withPowers } from './day-hours.ts'

export interface GroupUnit {
  unit: Unit
  usable_kwh: number
  /** The 24 hours without what the plan tells of those that are open. */
  blank: StoredHour[]
}

export interface GroupTask
  extends Pick<DispatchProblem, 'objective' | 'periods' | 'export_limit_kw' | 'import_limit_kw'> {
  units: GroupUnit[]
  /** What units of the connection that are not planned now do in each period, kW. */
  fixed_kw: number[]
  /** Whether the final state of charge was asked for: else it binds no one who revises the plan. */
  has_end_target: boolean
  currency: string
}

export interface GroupPlan {
  status: DispatchPlan['status']
  demands: DispatchPlan['demands']
  gap_pct: number | null
  violations: Violation[]
  /** As asked; idle where time ran out before there was a plan. */
  units: { problem: StoredProblem; hours: StoredHour[]; totals: ScheduleTotals }[]
}

export function planOfGroup(highs: Highs, task: GroupTask, time_limit_s: number): GroupPlan {
  const { objective, periods, export_limit_kw, import_limit_kw, fixed_kw, currency } = task
  const limits = { export_limit_kw, import_limit_kw }
  const { status, demands, gap_pct, violations, units } = planDispatch(
    highs,
    {
      ...{ objective, ...limits },
      periods: periods.map((period, nth) => besides(period, fixed_kw[nth]!)),
      units: task.units.map(({ unit }) => unit),
    },
    { time_limit_s },
  )
  const powers = task.units.map(({ unit }) => {
    const found = units.find(({ bess_id }) => bess_id === unit.bess_id)
    return found?.power_kw ?? periods.map(() => 0)
  })
  const all_kw = periods.map((_, nth) => {
    return powers.reduce((sum, power_kw) => sum + power_kw[nth]!, fixed_kw[nth]!)
  })
  const planned = task.units.map(({ unit, usable_kwh, blank }, place) => {
    const power_kw = powers[place]!
    const problem: StoredProblem = {
      ...{ objective, periods, ...limits, usable_kwh },
      unit: { ...unit, soc_end_pct: task.has_end_target ? unit.soc_end_pct : null },
      others_kw: all_kw.map((sum, nth) => Math.round((sum - power_kw[nth]!) * 1e6) / 1e6),
    }
    const { hours } = withPowers(blank, problem, power_kw)
    return { problem, hours, totals: totalsOf(hours, problem, { currency }) }
  })
  return { status, demands, gap_pct, violations, units: planned }
}

/** What other units do anyway is there as the plants and the consumption are. */
const besides = (period: Period, fixed_kw: number): Period => ({
  ...period,
  pv_kw: period.pv_kw + Math.max(0, fixed_kw),
  load_kw: period.load_kw + Math.max(0, -fixed_kw),
})
