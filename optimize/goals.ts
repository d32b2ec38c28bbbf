/**
 * What a plan can be best at. An objective is one goal after the other: the next one decides
 * between what the one before leaves equal, or gives up a little of it for.
 */
import { flowsOf, type Powers } from './connection.ts'
import { addedKwh } from './course.ts'
import type { DispatchModel } from './dispatch-model.ts'
import { type DispatchProblem, hoursOf, type Objective, type Unit } from './dispatch-problem.ts'
import type { Term } from './linear-program.ts'

/**
 * - `money`: what is paid for power taken, less what is earned by feeding in, plus ageing, less
 *   what the energy left at the end is worth;
 * - `import`: energy taken from the grid, kWh;
 * - `peaks`: the highest power taken, plus the highest fed in where that is asked for, kW;
 * - `exchange`: the highest power taken plus the highest fed in, kW;
 * - `ramps`: the sum of all changes, from one period to the next, of what is offered to the
 *   connection: the net power before panels are held back, kW. Where only the common connection is
 *   too small for it, the power that flows is steadier still.
 *
 * The less the better.
 */
export type Goal = 'money' | 'import' | 'peaks' | 'exchange' | 'ramps'

export interface Stage {
  goal: Goal
  /** What of its gain, as a share, the goals after it may cost. */
  gives: number
}

const only = (goal: Goal): Stage => ({ goal, gives: 0 })

export const stagesOf: Record<Objective, readonly Stage[]> = {
  /** The most money. */
  arbitrage: [only('money')],
  /** The least energy from the grid, whatever it costs; then the most money. */
  self_consumption: [only('import'), only('money')],
  /** The lowest highest power from the grid, whatever it costs; then the most money. */
  peak_shaving: [only('peaks'), only('money')],
  /**
   * Power as steady as can be, whatever it costs; then the most money.
   */
  capacity_firming: [only('ramps'), only('money')],
  /** The most money; of what the batteries earn, up to 2 % are given for lower peaks, both ways. */
  combined: [{ ...only('money'), gives: 0.02 }, only('exchange')],
}

export const isForMoney = (objective: Objective) => stagesOf[objective][0]!.goal === 'money'

/** So much of `terms` is one of the goal, so that all goals are of about the same size. */
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
      return rampTerms(model, () => ({ charge: 1, discharge: 1 }))
  }
}

/**
 * By how much what is offered rises and falls: a column for each period, two for each change.
 *
 * @param sharesOf what counts of a kW that a unit charges, and discharges
 */
function rampTerms(
  { problem, program, units }: DispatchModel,
  sharesOf: (unit: Unit) => { charge: number; discharge: number },
): Term[] {
  let before: number | null = null
  return problem.periods.flatMap(({ pv_kw, load_kw }, nth): Term[] => {
    const offered = program.column({ lower: Number.NEGATIVE_INFINITY })
    const batteries = units.flatMap(({ unit, charge, discharge }): Term[] => {
      const shares = sharesOf(unit)
      return [
        [discharge[nth]!, -shares.discharge],
        [charge[nth]!, shares.charge],
      ]
    })
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

/** From `goalTerms` to the goal's own unit. */
export const perUnit = (goal: Goal) => (goal === 'money' ? 1000 : per_unit)

/** How good a dispatch is: in kW, kWh or the currency; the less the better. */
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
