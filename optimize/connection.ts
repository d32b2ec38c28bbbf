/** Flows over the connection of a site under a given dispatch, and their value. Pure. */
import { type Band, type DispatchProblem, hoursOf } from './dispatch-problem.ts'

export interface Flow {
  /** Towards the grid; negative: import. */
  net_kw: number
  /** Curtailment of the plants: no headroom, or a cost of export that curtailable plants avoid. */
  curtailed_kw: number
  /** Revenue of the period minus cost of import; null without a price. Without ageing. */
  amount: number | null
}

/** By unit and period; an absent unit is idle. */
export type Powers = readonly { bess_id: number; power_kw: readonly number[] }[]

/** By period. `flowsOf(problem, [])` returns the flows without batteries. */
export function flowsOf(problem: DispatchProblem, powers: Powers): Flow[] {
  return problem.periods.map((period, nth) => {
    const batteries_kw = powers.reduce((sum, { power_kw }) => sum + (power_kw[nth] ?? 0), 0)
    const others_kw = batteries_kw - period.load_kw
    const pv_kw = producedKw(problem, nth, others_kw)
    const net_kw = pv_kw + others_kw
    const price = net_kw > 0 ? period.price : (period.import_price ?? period.price)
    const amount = period.price === null ? null : (net_kw * price! * hoursOf(period)) / 1000 + 0
    return { net_kw: net_kw + 0, curtailed_kw: period.pv_kw - pv_kw + 0, amount }
  })
}

/** PV output beside the batteries: up to the headroom, minus curtailment for money. */
function producedKw(problem: DispatchProblem, nth: number, others_kw: number): number {
  const { export_limit_kw, import_limit_kw } = problem
  const { pv_kw, price, import_price } = problem.periods[nth]!
  const most = Math.min(pv_kw, Math.max(0, (export_limit_kw ?? Infinity) - others_kw))
  if (!mayCurtail(problem, nth)) return most
  const least = Math.max(0, -(import_limit_kw ?? Infinity) - others_kw)
  const wanted = (import_price ?? price ?? 0) < 0 ? 0 : -others_kw
  return Math.min(most, Math.max(least, wanted))
}

/**
 * True if the plants may be curtailed for money: they are curtailable, and money is the first goal.
 */
export function mayCurtail({ pv_curtailable, objective, periods }: DispatchProblem, nth: number) {
  const is_for_money = objective === 'arbitrage' || objective === 'combined'
  return pv_curtailable === true && is_for_money && (periods[nth]!.price ?? 0) < 0
}

/**
 * Headroom of one unit by period at the connection, with the other units as they are: for
 * `Unit.room_kw`, when one unit is revised. Always includes idle.
 */
export function roomOf(problem: DispatchProblem, powers: Powers, bess_id: number): Band[] {
  const { export_limit_kw, import_limit_kw, periods } = problem
  const others = powers.filter((other) => other.bess_id !== bess_id)
  return periods.map(({ pv_kw, load_kw }, nth) => {
    const others_kw = others.reduce((sum, { power_kw }) => sum + power_kw[nth]!, 0) - load_kw
    return {
      min_kw: Math.min(0, -(import_limit_kw ?? Infinity) - pv_kw - others_kw) + 0,
      // PV is not curtailed for power that a battery could deliver later.
      max_kw: Math.max(0, (export_limit_kw ?? Infinity) - pv_kw - others_kw),
    }
  })
}
