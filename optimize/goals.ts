/**
 * Goals of a plan. An objective is a sequence of goals: each one decides between equally good plans
 * of the one before, or costs it a small share.
 */
import { flowsOf, type Powers } from './connection.ts'
import { batteriesAt } from './connection-columns.ts'
import { addedKwh } from './course.ts'
import type { DispatchModel } from './dispatch-model.ts'
import { type DispatchProblem, hoursOf, type Objective } from './dispatch-problem.ts'
import type { Term } from './linear-program.ts'

/**
 * - `money`: cost of import minus revenue of export, plus ageing, minus the value of the energy
 *   left at the end;
 * - `import`: energy taken from the grid, kWh;
 * - `peaks`: highest import, plus highest export if requested, kW;
 * - `exchange`: highest import plus highest export, kW;
 * - `ramps`: sum of all changes, from one period to the next, of the power offered to the
 *   connection: net power before curtailment, kW. Where only the common connection is too small for
 *   it, the actual power is steadier still.
 *
 * All are minimised.
 */
export type Goal = 'money' | 'import' | 'peaks' | 'exchange' | 'ramps'

export interface Stage {
  goal: Goal
  /** Share of its gain that later goals may cost. */
  gives: number
}

const only = (goal: Goal): Stage => ({ goal, gives: 0 })

export const stagesOf: Record<Objective, readonly Stage[]> = {
  arbitrage: [only('money')],
  /** Minimum import at any cost; then maximum money. */
  self_consumption: [only('import'), only('money')],
  /** Minimum import peak at any cost; then maximum money. */
  peak_shaving: [only('peaks'), only('money')],
  /** Minimum ramps at any cost; then maximum money. */
  capacity_firming: [only('ramps'), only('money')],
  /** Maximum money; up to 2 % of the batteries' revenue for lower peaks, both ways. */
  combined: [{ ...only('money'), gives: 0.02 }, only('exchange')],
}

export const isForMoney = (objective: Objective) => stagesOf[objective][0]!.goal === 'money'

/** Scale of the terms, so that all goals are of similar size. */
const per_unit = 100

/** The goal as the cost of a model; adds the columns that it needs. */
export function goalTerms(model: DispatchModel, goal: Goal): Term[] {
  const { problem, feed_in, taken, program } = model
  const { periods, shave_export } = problem
  const peakOf = (columns: readonly number[]): Term => {
    const peak = program.column()
    for (const column of columns) {
      program.row(
        [
          [peak, 1],
          [column, -1],
        ],
        { lower: 0 },
      )
    }
    return [peak, per_unit]
  }
  switch (goal) {
    case 'money':
      return moneyTerms(model)
    case 'import':
      return taken.map((column, nth) => [column, per_unit * hoursOf(periods[nth]!)])
    case 'peaks':
      return shave_export ? [peakOf(taken), peakOf(feed_in)] : [peakOf(taken)]
    case 'exchange':
      return [peakOf(taken), peakOf(feed_in)]
    case 'ramps':
      return rampTerms(model)
  }
}

/** Changes of the offered power: a column for each period, two for each change. */
function rampTerms(model: DispatchModel): Term[] {
  const { problem, program } = model
  let before: number | null = null
  return problem.periods.flatMap(({ pv_kw, load_kw }, nth): Term[] => {
    const offered = program.column({ lower: Number.NEGATIVE_INFINITY })
    const batteries = batteriesAt(model, nth).map(([column, by]) => [column, -by] as const)
    const others_kw = pv_kw - load_kw
    program.row([[offered, 1], ...batteries], { lower: others_kw, upper: others_kw })
    const then = before
    before = offered
    if (then === null) return []
    const [up, down] = [program.column(), program.column()]
    const change: Term[] = [
      [offered, 1],
      [then, -1],
      [up, -1],
      [down, 1],
    ]
    program.row(change, { lower: 0, upper: 0 })
    return [
      [up, per_unit],
      [down, per_unit],
    ]
  })
}

/** In thousandths of the currency. */
function moneyTerms({ problem, feed_in, taken, units }: DispatchModel): Term[] {
  const left = units.flatMap(({ unit: { end_value_per_mwh = 0 }, energy_kwh }): Term[] => {
    return end_value_per_mwh > 0 ? [[energy_kwh.at(-1)!, -end_value_per_mwh]] : []
  })
  const flows = problem.periods.flatMap((period, nth): Term[] => {
    const hours = hoursOf(period)
    const price = period.price ?? 0
    return [
      [feed_in[nth]!, -price * hours],
      [taken[nth]!, (period.import_price ?? price) * hours],
      ...units.map(({ unit, discharge }): Term => {
        return [discharge[nth]!, unit.degradation_cost_per_mwh * hours]
      }),
    ]
  })
  return [...flows, ...left]
}

/** Converts `goalTerms` to the unit of the goal. */
export const perUnit = (goal: Goal) => (goal === 'money' ? 1000 : per_unit)

/** The value of a goal under a dispatch: kW, kWh or the currency; lower is better. */
export function measure(problem: DispatchProblem, powers: Powers, goal: Goal): number {
  const { periods, units, shave_export } = problem
  const flows = flowsOf(problem, powers)
  const offered = flows.map(({ net_kw, curtailed_kw }) => net_kw + curtailed_kw)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const highest_in = Math.max(0, ...flows.map(({ net_kw }) => -net_kw))
  const highest_out = Math.max(0, ...flows.map(({ net_kw }) => net_kw))
  switch (goal) {
    case 'money': {
      const ageing = units.flatMap(({ bess_id, degradation_cost_per_mwh }) => {
        const power_kw = powers.find((power) => power.bess_id === bess_id)?.power_kw ?? []
        return power_kw.map((power, nth) => {
          return (Math.max(0, power) * hoursOf(periods[nth]!) * degradation_cost_per_mwh) / 1000
        })
      })
      const left = units.map((unit) => {
        const { end_value_per_mwh = 0, bess_id, capacity_kwh, soc_start_pct } = unit
        const power_kw = powers.find((power) => power.bess_id === bess_id)?.power_kw ?? []
        const added_kwh = power_kw.map((power, nth) =>
          addedKwh(unit, power, hoursOf(periods[nth]!)),
        )
        const left_kwh = (soc_start_pct * capacity_kwh) / 100 + sum(added_kwh)
        return (left_kwh * end_value_per_mwh) / 1000
      })
      return sum(ageing) - sum(flows.map(({ amount }) => amount ?? 0)) - sum(left)
    }
    case 'import':
      return sum(flows.map(({ net_kw }, nth) => Math.max(0, -net_kw) * hoursOf(periods[nth]!)))
    case 'peaks':
      return shave_export ? highest_in + highest_out : highest_in
    case 'exchange':
      return highest_in + highest_out
    case 'ramps':
      return sum(offered.slice(1).map((offered_kw, nth) => Math.abs(offered_kw - offered[nth]!)))
  }
}
