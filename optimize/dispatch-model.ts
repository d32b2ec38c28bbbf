/** Rows and columns of a dispatch problem, and what is done with all of them alike. */
import type { DispatchProblem, Unit, Violation } from './dispatch-problem.ts'
import { type LinearProgram, type Term, totalOf } from './linear-program.ts'

/** By period. */
export interface UnitColumns {
  unit: Unit
  charge: number[]
  discharge: number[]
  energy_kwh: number[]
}

/** Two columns of which only one can be above 0, which the programme does not know of itself. */
export interface Pair {
  one: number
  other: number
  /** The binary column that says which, once it has one. */
  is_one?: number
  /** In the relaxed programme the one for which share × value is more stays. */
  one_share: number
  other_share: number
}

/** A column that is above 0 where a demand is not met. */
interface Slack {
  column: number
  /** How bad, beside the others: see `weights`. */
  weight: number
  /** Null: no demand, but what the plan does first of all. */
  violation: Omit<Violation, 'amount' | 'bound_by'> | null
  /** From the column to the violation's amount. */
  share: number
}

export interface DispatchModel {
  program: LinearProgram
  problem: DispatchProblem
  units: UnitColumns[]
  /** By period, kW. */
  feed_in: number[]
  taken: number[]
  /** Held back at the common connection. */
  spilled: number[]
  pairs: Pair[]
  slacks: Slack[]
  /** Decides between what is equally good: what flows for nothing. Far below a cent per MWh. */
  wear: Term[]
}

/** How bad it is to miss each demand, per kWh: what is worse is missed last. */
export const weights = { outside: 0.2, soc_end: 1, cycles: 1, limit: 10, ramp: 20, fixed: 100 }
export const wear_per_mwh = 1e-3

/** A column by which a row may be missed. */
export function addSlack(model: DispatchModel, slack: Omit<Slack, 'column'>): number {
  const column = model.program.column()
  model.slacks.push({ ...slack, column })
  return column
}

/** Both columns of a pair at once. */
export const isMixed = ({ one, other }: Pair, values: ArrayLike<number>) =>
  values[one]! > 1e-4 && values[other]! > 1e-4

/** Lets only one of a pair be above 0, as a binary column says. */
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

/** A goal to be minimised, and wear between what is equally good at it. */
export function setCosts({ program, wear }: DispatchModel, goal: readonly Term[]): void {
  for (const column of program.columns) column.cost = 0
  for (const [column, cost] of [...goal, ...wear]) program.columns[column]!.cost += cost
}

/** How badly demands are missed, as a goal; far above wear. */
export const missedTerms = ({ slacks }: DispatchModel): Term[] =>
  slacks.map(({ column, weight }) => [column, 1000 * weight])

/** No demand is missed. */
export function insist({ program, slacks }: DispatchModel): void {
  for (const { column } of slacks) program.columns[column]!.upper = 0
}

/** Demands are missed as badly as by `values`, in one way or another, and no worse. */
export function concede(model: DispatchModel, values: ArrayLike<number>): void {
  const terms = missedTerms(model)
  const missed = totalOf(terms, values)
  model.program.row(terms, { upper: missed + 1e-3 + 1e-7 * missed })
}
