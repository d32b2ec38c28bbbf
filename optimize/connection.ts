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
  const powerOf = new Map(powers.map(({ bess_id, power_kw }) => [bess_id, power_kw]))
  return problem.periods.map((period, nth) => {
    const sum = (bess_ids: Iterable<number>) => {
      let total_kw = 0
      for (const bess_id of bess_ids) total_kw += powerOf.get(bess_id)?.[nth] ?? 0
      return total_kw
    }
    const others_kw = sum(powerOf.keys()) - period.load_kw
    const pv_kw = producedKw(problem, nth, { others_kw, sum })
    const net_kw = pv_kw + others_kw
    const price = net_kw > 0 ? period.price : (period.import_price ?? period.price)
    const amount = period.price === null ? null : (net_kw * price! * hoursOf(period)) / 1000 + 0
    return { net_kw: net_kw + 0, curtailed_kw: period.pv_kw - pv_kw + 0, amount }
  })
}

/** PV output beside the batteries: up to the headroom, minus curtailment for money. */
function producedKw(
  problem: DispatchProblem,
  nth: number,
  { others_kw, sum }: { others_kw: number; sum: (bess_ids: Iterable<number>) => number },
): number {
  const { export_limit_kw, import_limit_kw, plants = [] } = problem
  const { pv_kw, price, import_price } = problem.periods[nth]!
  /** Within 0 and `pv_kw`, as close to the limits as PV can bring it. */
  const between = (pv: number, batteries_kw: number, limits: Limits) => {
    const most = Math.min(pv, Math.max(0, (limits.export_limit_kw ?? Infinity) - batteries_kw))
    const least = Math.max(0, -(limits.import_limit_kw ?? Infinity) - batteries_kw)
    return { most, least: Math.min(most, least) }
  }
  let own = { most: pv_kw, least: 0 }
  for (const plant of plants) {
    const pv = plant.pv_kw[nth]!
    const { most, least } = between(pv, sum(plant.bess_ids), plant)
    own = { most: own.most - pv + most, least: own.least + least }
  }
  const common = between(own.most, others_kw, { export_limit_kw, import_limit_kw })
  if (!mayCurtail(problem, nth)) return common.most
  const wanted = (import_price ?? price ?? 0) < 0 ? 0 : -others_kw
  return Math.min(common.most, Math.max(own.least, common.least, wanted))
}

type Limits = Pick<DispatchProblem, 'export_limit_kw' | 'import_limit_kw'>

/**
 * True if the plants may be curtailed for money: they are curtailable, and money is the first goal.
 */
export function mayCurtail({ pv_curtailable, objective, periods }: DispatchProblem, nth: number) {
  const is_for_money = objective === 'arbitrage' || objective === 'combined'
  return pv_curtailable === true && is_for_money && (periods[nth]!.price ?? 0) < 0
}

/**
 * Headroom of one unit by period at the connection, and at its plant's, with the other units as
 * they are: for `Unit.room_kw`, when one unit is revised. Always includes idle.
 */
export function roomOf(problem: DispatchProblem, powers: Powers, bess_id: number): Band[] {
  const others = powers.filter((other) => other.bess_id !== bess_id)
  const sum = (bess_ids: readonly number[] | null, nth: number) =>
    others.reduce((total_kw, other) => {
      const is_in = bess_ids === null || bess_ids.includes(other.bess_id)
      return is_in ? total_kw + other.power_kw[nth]! : total_kw
    }, 0)
  return problem.periods.map((period, nth) => {
    const plants = (problem.plants ?? []).filter((plant) => plant.bess_ids.includes(bess_id))
    const connections = [
      { ...problem, pv_kw: period.pv_kw, others_kw: sum(null, nth) - period.load_kw },
      ...plants.map((plant) => ({
        ...plant,
        pv_kw: plant.pv_kw[nth]!,
        others_kw: sum(plant.bess_ids, nth),
      })),
    ]
    const bands = connections.map(({ export_limit_kw, import_limit_kw, pv_kw, others_kw }) => ({
      // PV is not curtailed for power that a battery could deliver later.
      max_kw: Math.max(0, (export_limit_kw ?? Infinity) - pv_kw - others_kw),
      min_kw: Math.min(0, -(import_limit_kw ?? Infinity) - pv_kw - others_kw),
    }))
    return {
      min_kw: Math.max(...bands.map(({ min_kw }) => min_kw)) + 0,
      max_kw: Math.min(...bands.map(({ max_kw }) => max_kw)),
    }
  })
}
