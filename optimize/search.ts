/**
 * The best solution of a model in which some columns exclude each other.
 *
 * A battery cannot charge and discharge at once, which a linear programme does not enforce. But
 * both rarely pay: only where import has a revenue. The model is therefore solved without binary
 * columns first; they are added for the periods with both, and it is solved again until none is
 * left. Before that, the lesser of the two is excluded: the additional cost is often within the
 * gap. For steady power both pay anywhere, so that all pairs get a binary column.
 */
import type { Highs } from 'highs'
import { type DispatchModel, isMixed, type Pair, separate } from './dispatch-model.ts'
import { type SolveOptions, solve } from './linear-program.ts'

export interface Search {
  highs: Highs
  model: DispatchModel
  /** For the solver; negative if it took more. */
  left_s: number
  solves: number
}

interface Found {
  /** By column, no mixed pair; null: none, or none found in time. */
  values: Float64Array | null
  cost: number
  bound: number
  is_proven: boolean
}

const nothing: Found = { values: null, cost: Infinity, bound: -Infinity, is_proven: false }

/** Runs a part of the search within a part of the time. */
export function within<Result>(search: Search, most_s: number, work: () => Result): Result {
  const later_s = Math.max(0, search.left_s - most_s)
  search.left_s -= later_s
  const result = work()
  search.left_s += later_s
  return result
}

/**
 * @param near a cost close to the best
 * @param gapAt accepted gap, by the approximate cost
 * @param before a plan to start from, of any cost; columns may have been added since
 */
export function findBest(
  search: Search,
  near: number,
  gapAt: (cost: number) => number,
  before: Float64Array | null = null,
): Found {
  const { model } = search
  let best = nothing
  let gap = gapAt(near)
  if (before !== null) {
    const values = dive(search, { from: before, rule: 'added', pairs: model.pairs })
    best = better(best, { model, values, gap })
  }
  for (;;) {
    const start = best.values && startOf(model, best.values)
    const relaxed = solveOnce(search, { gap, ...(start && { start }) })
    if (relaxed.values === null) return best
    const bound = Math.max(best.bound, relaxed.bound)
    const mixed = mixedOf(model, relaxed.values)
    gap = gapAt(bound)
    best = { ...best, bound }
    if (mixed.length === 0) best = better(best, { model, values: relaxed.values, gap })
    for (const rule of mixed.length === 0 ? [] : rules) {
      const values = dive(search, { from: relaxed.values, rule, pairs: mixed })
      best = better(best, { model, values, gap })
      if (best.is_proven || (search.left_s <= 0 && best.values !== null)) break
    }
    if (best.is_proven || mixed.length === 0 || relaxed.status !== 'optimal') return best
    const is_firming = model.problem.objective === 'capacity_firming'
    for (const pair of is_firming ? model.pairs : mixed) {
      if (pair.is_one === undefined) separate(model, pair)
    }
  }
}

/** The binary columns of pairs in a plan that may be older than the columns. */
function startOf({ pairs }: DispatchModel, values: Float64Array) {
  const start = new Map<number, number>()
  for (const { one, other, is_one } of pairs) {
    if (is_one !== undefined) start.set(is_one, values[one]! > values[other]! ? 1 : 0)
  }
  return start
}

function better(
  best: Found,
  { model, values, gap }: { model: DispatchModel; values: Float64Array | null; gap: number },
): Found {
  const cost = values === null ? Infinity : model.program.cost(values)
  const found = cost < best.cost ? { ...best, values, cost } : best
  if (best.bound === -Infinity) return found
  const rounding = 1e-8 * Math.abs(best.bound)
  return { ...found, is_proven: found.cost - best.bound <= gap + rounding }
}

/** Rules for the lesser of a mixed pair: by its effect on the battery, by power, or both. */
const rules = ['added', 'power', 'both'] as const
type Rule = (typeof rules)[number]

function lesserOf(pair: Pair, values: Float64Array, rule: Rule): number[] {
  const { one, other } = pair
  if (rule === 'both' && isMixed(pair, values)) return [one, other]
  const [one_share, other_share] = rule === 'added' ? [pair.one_share, pair.other_share] : [1, 1]
  return values[one]! * one_share >= values[other]! * other_share ? [other] : [one]
}

/** Rounds in which other pairs mix after some are fixed; then all pairs are fixed. */
const rounds_max = 3

/** Plain linear programmes take milliseconds: enough to end with a plan after the time is over. */
const dive_s = 0.5

function solveOnce(search: Search, options: Omit<SolveOptions, 'time_limit_s'>, least_s = 0) {
  const time_limit_s = Math.max(search.left_s, least_s)
  const solution = solve(search.highs, search.model.program, { time_limit_s, ...options })
  search.left_s -= solution.solve_s
  search.solves += 1
  return solution
}

const mixedOf = ({ pairs }: DispatchModel, values: ArrayLike<number>) =>
  pairs.filter((pair) => isMixed(pair, values))

/** Excludes the lesser of each pair, then of newly mixed ones; null if time runs out. */
function dive(
  search: Search,
  { from, rule, pairs }: { from: Float64Array; rule: Rule; pairs: readonly Pair[] },
): Float64Array | null {
  const { program } = search.model
  const { columns } = program
  const before = new Map<number, number>()
  const binaries = [...program.binaries].map((column) => [column, { ...columns[column]! }] as const)
  // Existing binaries stay fixed, which leaves a plain linear programme.
  const start = startOf(search.model, from)
  for (const [column] of binaries) {
    const value = start.get(column) ?? Math.round(from[column]!)
    Object.assign(columns[column]!, { lower: value, upper: value })
  }
  program.binaries.clear()
  let values: Float64Array | null = from
  for (let round = 1; values !== null && pairs.length > 0; round += 1) {
    for (const pair of pairs) {
      for (const column of lesserOf(pair, values, rule)) {
        if (!before.has(column)) before.set(column, columns[column]!.upper)
        columns[column]!.upper = 0
      }
    }
    values = solveOnce(search, { gap: 0 }, dive_s).values
    const mixed: Pair[] = values === null ? [] : mixedOf(search.model, values)
    pairs = mixed.length > 0 && round >= rounds_max ? search.model.pairs : mixed
  }
  for (const [column, upper] of before) columns[column]!.upper = upper
  for (const [column, was] of binaries) {
    Object.assign(columns[column]!, was)
    program.binaries.add(column)
  }
  return values
}
