/**
 * The best of a model in which some columns exclude each other.
 *
 * A battery cannot charge and discharge at once, which a linear programme does not know; but both
 * pay hardly ever: where power earns by being taken. So it is solved without binary columns first.
 * Where both happen, they are added for those periods alone, and it is solved again, until none is
 * left. Before that, the same without the lesser of the two is tried: what that costs more than the
 * bound is often within the gap.
 */
import type { Highs } from 'highs'
import { type DispatchModel, isMixed, type Pair, separate } from './dispatch-model.ts'
import { solve } from './linear-program.ts'

export interface Search {
  highs: Highs
  model: DispatchModel
  /** For the solver; less than 0 where it took more. */
  left_s: number
  solves: number
}

export interface Found {
  /** Of each column, no pair mixed; null: there is none, or none was found in time. */
  values: Float64Array | null
  cost: number
  /** Nothing costs less. */
  bound: number
  is_proven: boolean
}

export const nothing: Found = { values: null, cost: Infinity, bound: -Infinity, is_proven: false }

/** What a part of the search comes to in a part of the time. */
export function within<Result>(search: Search, most_s: number, work: () => Result): Result {
  const later_s = Math.max(0, search.left_s - most_s)
  search.left_s -= later_s
  const result = work()
  search.left_s += later_s
  return result
}

/**
 * @param near a cost not far from the best
 * @param gapAt how far from the best the cost may be, by about what it is
 */
export function findBest(search: Search, near: number, gapAt: (cost: number) => number): Found {
  const { model } = search
  let best = nothing
  let gap = gapAt(near)
  for (;;) {
    const relaxed = solveOnce(search, gap)
    if (relaxed.values === null) return best
    const bound = Math.max(best.bound, relaxed.bound)
    const mixed = mixedOf(model, relaxed.values)
    gap = gapAt(bound)
    best = { ...best, bound }
    if (mixed.length === 0) best = better(best, { model, values: relaxed.values, gap })
    for (const rule of mixed.length === 0 ? [] : rules) {
      best = better(best, { model, values: dive(search, relaxed.values, rule), gap })
      if (best.is_proven || (search.left_s <= 0 && best.values !== null)) break
    }
    if (best.is_proven || mixed.length === 0 || relaxed.status !== 'optimal') return best
    for (const pair of mixed) separate(model, pair)
  }
}

function better(
  best: Found,
  { model, values, gap }: { model: DispatchModel; values: Float64Array | null; gap: number },
): Found {
  const cost = values === null ? Infinity : model.program.cost(values)
  const found = cost < best.cost ? { ...best, values, cost } : best
  const rounding = 1e-8 * Math.abs(best.bound)
  return { ...found, is_proven: found.cost - best.bound <= gap + rounding }
}

/** Which of a mixed pair is the lesser: by what it adds to the battery, by power, or both are. */
const rules = ['added', 'power', 'both'] as const
type Rule = (typeof rules)[number]

function lesserOf(pair: Pair, values: Float64Array, rule: Rule): number[] {
  const { one, other } = pair
  if (rule === 'both') return [one, other]
  const [one_share, other_share] = rule === 'added' ? [pair.one_share, pair.other_share] : [1, 1]
  return values[one]! * one_share >= values[other]! * other_share ? [other] : [one]
}

/** So often others mix when some cannot any more; then each pair is as it is, and none can. */
const rounds_max = 3

/** Mere linear programmes take milliseconds: enough to end with a plan though time is over. */
const dive_s = 0.5

export function solveOnce(search: Search, gap: number, least_s = 0) {
  const time_limit_s = Math.max(search.left_s, least_s)
  const solution = solve(search.highs, search.model.program, { time_limit_s, gap })
  search.left_s -= solution.solve_s
  search.solves += 1
  return solution
}

const mixedOf = ({ pairs }: DispatchModel, values: ArrayLike<number>) =>
  pairs.filter((pair) => isMixed(pair, values))

/** Without the lesser of each mixed pair, again and again; null where time runs out. */
function dive(search: Search, relaxed: Float64Array, rule: Rule): Float64Array | null {
  const { program } = search.model
  const { columns } = program
  const before = new Map<number, number>()
  const binaries = [...program.binaries].map((column) => [column, { ...columns[column]! }] as const)
  // The binaries there are stay as they are, which leaves a mere linear programme.
  for (const [column] of binaries) {
    const value = Math.round(relaxed[column]!)
    Object.assign(columns[column]!, { lower: value, upper: value })
  }
  program.binaries.clear()
  let values: Float64Array | null = relaxed
  for (let round = 0; values !== null; round += 1) {
    const mixed: Pair[] = mixedOf(search.model, values)
    if (mixed.length === 0) break
    for (const pair of round < rounds_max ? mixed : search.model.pairs) {
      for (const column of lesserOf(pair, values, rule)) {
        if (!before.has(column)) before.set(column, columns[column]!.upper)
        columns[column]!.upper = 0
      }
    }
    values = solveOnce(search, 0, dive_s).values
  }
  for (const [column, upper] of before) columns[column]!.upper = upper
  for (const [column, was] of binaries) {
    Object.assign(columns[column]!, was)
    program.binaries.add(column)
  }
  return values
}
