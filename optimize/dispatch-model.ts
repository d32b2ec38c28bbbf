/** Rows and columns of a dispatch problem, and their common operations. */
import type { DispatchProblem, Unit, Violation } from './dispatch-problem.ts'
import { type LinearProgram, type Term, totalOf } from './linear-program.ts'

export interface UnitColumns {
  unit: Unit
  charge: number[]
  discharge: number[]
  energy_kwh: number[]
}

/** Two columns of which only one may be above 0, which the linear programme does not enforce. */
export interface Pair {
  one: number
  other: number
  /** The binary column that decides, once it exists. */
  is_one?: number
  /** In the relaxed programme the one with the larger share × value stays. */
  one_share: number
  other_share: number
}

/** A column above 0 where a demand is missed. */
interface Slack {
  column: number
  /** Relative penalty: see `weights`. */
  weight: number
  /** Null: no demand, but the first goal of the plan. */
  violation: Omit<Violation, 'amount' | 'bound_by'> | null
  /** Converts the column to the amount of the violation. */
  share: number
}

export interface DispatchModel {
  program: LinearProgram
  problem: DispatchProblem
  units: UnitColumns[]
  /** By period, kW. */
  feed_in: number[]
  taken: number[]
  /** Curtailed at the common connection. */
  spilled: number[]
  pairs: Pair[]
  slacks: Slack[]
  /**
   * Decides between equally good plans, against flows without benefit. Far below a cent per MWh.
   */
  wear: Term[]
}

/** Penalty of missing each demand, per kWh: demands with a higher one are missed last. */
export const weights = { outside: 0.2, soc_end: 1, cycles: 1, limit: 10, ramp: 20, fixed: 100 }
export const wear_per_mwh = 1e-3

/** A column by which a row may be missed. */
export function addSlack(model: DispatchModel, slack: Omit<Slack, 'column'>): number {
  const column = model.program.column()
  model.slacks.push({ ...slack, column })
  return column
}

export const isMixed = ({ one, other }: Pair, values: ArrayLike<number>) =>
  values[one]! > 1e-4 && values[other]! > 1e-4

/** Lets only one of a pair be above 0, by a binary column. */
export function separate({ program }: DispatchModel, pair: Pair): void {
  const { one, other } = pair
  const { columns } = program
  const is_one = program.binary()
  pair.is_one = is_one
  program.row(
    [
      [one, 1],
      [is_one, -columns[one]!.upper],
    ],
    { upper: 0 },
  )
  program.row(
    [
      [other, 1],
      [is_one, columns[other]!.upper],
    ],
    { upper: columns[other]!.upper },
  )
}

/** A goal to be minimised, plus wear to decide between equal plans. */
export function setCosts({ program, wear }: DispatchModel, goal: readonly Term[]): void {
  for (const column of program.columns) column.cost = 0
  for (const [column, cost] of [...goal, ...wear]) program.columns[column]!.cost += cost
}

/** The penalty of missed demands as a goal; far above wear. */
export const missedTerms = ({ slacks }: DispatchModel): Term[] =>
  slacks.map(({ column, weight }) => [column, 1000 * weight])

export function insist({ program, slacks }: DispatchModel): void {
  for (const { column } of slacks) program.columns[column]!.upper = 0
}

/** Allows the total penalty of `values`, in any distribution, and no more. */
export function concede(model: DispatchModel, values: ArrayLike<number>): void {
  const terms = missedTerms(model)
  const missed = totalOf(terms, values)
  model.program.row(terms, { upper: missed + 1e-3 + 1e-7 * missed })
}
