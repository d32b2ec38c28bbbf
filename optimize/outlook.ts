/** Final states of charge by the value of their energy after the day. */
import { day_ms } from '@heliograph/domain/durations'
import type { Highs } from 'highs'
import { type PlanOptions, planDispatch } from './dispatch.ts'
import type { DispatchProblem, Period, Unit } from './dispatch-problem.ts'

/** The time after the periods of a problem. */
interface Outlook {
  /** May be empty; each has a price. */
  periods: readonly Period[]
  /** Full cycles of each unit in that time, in the order of the units; null: no bound. */
  cycles_max: readonly (number | null)[]
}

/** Plans are in whole watts, which adds up over a day. */
const rounding_kwh = 0.02

/**
 * The state of charge of each unit, %, at the end of the problem's periods in the plan with the
 * maximum revenue over these and the outlook. Required final states of charge do not count. Null:
 * time ran out.
 */
export function bestEnds(
  highs: Highs,
  problem: DispatchProblem,
  outlook: Outlook,
  options: PlanOptions = {},
): number[] | null {
  const periods = [...problem.periods, ...outlook.periods]
  const cheap_price = cheapPrice(periods)
  const units = problem.units.map((unit, nth): Unit => {
    return {
      ...unit,
      soc_end_pct: 0,
      end_value_per_mwh:
        Math.max(0, cheap_price - unit.degradation_cost_per_mwh) * unit.discharge_efficiency,
      cycles_after: { period: problem.periods.length, cycles_max: outlook.cycles_max[nth] ?? null },
    }
  })
  const plan = planDispatch(highs, { ...problem, objective: 'arbitrage', periods, units }, options)
  if (plan.status === 'timeout') return null
  return problem.units.map((unit, nth) => {
    const { soc_min_pct, soc_max_pct, capacity_kwh } = unit
    const end_pct = plan.units[nth]!.soc_pct[problem.periods.length - 1]!
    const sure_pct = end_pct - (100 * rounding_kwh) / capacity_kwh
    return Math.min(soc_max_pct, Math.max(soc_min_pct, sure_pct))
  })
}

const cheap_share = 0.1

/**
 * The price below which a tenth of the last priced day lies, which values the energy left after it.
 * A higher value would hold energy over nights that sell it cheaper: in the German 2016 of `npm run
 * score:plans` the median price earned 5 % less than no value at all, this 0.3 %.
 */
function cheapPrice(periods: readonly Period[]): number {
  const known = periods.filter(({ price }) => price !== null)
  const from_ms = (known.at(-1)?.end_ms ?? 0) - day_ms
  const prices = known.filter(({ start_ms }) => start_ms >= from_ms).map(({ price }) => price!)
  const sorted = prices.toSorted((a, b) => a - b)
  return sorted[Math.floor(cheap_share * (sorted.length - 1))] ?? 0
}
