/** The best dispatch of the batteries behind one connection, as a linear programme by HiGHS. */
import type { Highs } from 'highs'
import { type Flow, flowsOf, type Powers } from './connection.ts'
import { followCourse, watts } from './course.ts'
import { concede, insist, missedTerms, setCosts, type UnitColumns } from './dispatch-model.ts'
import { checkProblem, type DispatchProblem, type Violation } from './dispatch-problem.ts'
import { goalTerms, measure, perUnit, type Stage, stagesOf } from './goals.ts'
import { totalOf } from './linear-program.ts'
import { createModel } from './model-of.ts'
import { boundsOfEnd } from './relaxation.ts'
import { findBest, type Search, within } from './search.ts'
import { isOutside } from './unit-columns.ts'

interface UnitPlan {
  bess_id: number
  /** By period: kW at the connection, positive discharges; whole watts, except fixed power. */
  power_kw: number[]
  /** By period, at its end. */
  soc_pct: number[]
}

export interface DispatchPlan {
  /**
   * - `optimal`: no plan is better at any goal, in their order, by more than the requested gap;
   * - `feasible`: a plan may be better, by `gap_pct`; the proof ran out of time;
   * - `timeout`: time ran out before there was a plan; `units` is empty.
   */
  status: 'optimal' | 'feasible' | 'timeout'
  /**
   * Largest possible improvement of any goal: % of the money gained over idle batteries (or of a
   * thousandth of the money without them, if more), or of the remaining energy, peak or ramps. Null
   * without a plan, and if time ran out before the last goal, or before it had any bound.
   */
  gap_pct: number | null
  /** Number of solved programmes, and of binary columns in the last. */
  solves: number
  binaries: number
  units: UnitPlan[]
  /** Of the connection, by period; `flowsOf(problem, [])` returns those without batteries. */
  flows: Flow[]
  /**
   * - `met`: all demands are met, and `violations` is empty;
   * - `infeasible`: proven that no plan meets all; this one misses the least (`weights`);
   * - `unknown`: time ran out before either was proven: no plan, or one that may miss more than
   *   necessary.
   */
  demands: 'met' | 'infeasible' | 'unknown'
  violations: Violation[]
}

export interface PlanOptions {
  /** For all programmes of the solver together. */
  time_limit_s?: number
  /** Accepted gap to the best plan, as a share: see `gap_pct`. */
  gap_ratio?: number
}

/**
 * Plans by `problem.objective` (see `stagesOf` in goals.ts), such that `followCourse` accepts the
 * plan for each unit unless `violations` names what it misses. If demands contradict each other,
 * misses are minimised before any goal, so that there always is a plan. Blocks the thread.
 *
 * @throws {RangeError} naming an invalid part of the problem
 */
export function planDispatch(
  highs: Highs,
  problem: DispatchProblem,
  { time_limit_s = 10, gap_ratio = 1e-4 }: PlanOptions = {},
): DispatchPlan {
  checkProblem(problem)
  const search: Search = { highs, model: createModel(problem), left_s: time_limit_s, solves: 0 }
  const meeting = planMeeting(search, gap_ratio)
  const found = meeting ?? planMissing(search, gap_ratio)
  const { solves, model } = search
  const solver = { solves, binaries: model.program.binaries.size }
  const { values, gaps, demands } = found
  if (values === null) {
    return {
      status: 'timeout',
      gap_pct: null,
      ...solver,
      units: [],
      flows: [],
      demands,
      violations: [],
    }
  }
  const units = model.units.map((columns) => planOf(problem, columns, values))
  const is_whole = gaps.length === stagesOf[problem.objective].length
  const most_pct = Math.max(...gaps.map(({ gap_pct }) => gap_pct))
  const is_optimal = is_whole && demands !== 'unknown' && gaps.every(({ is_proven }) => is_proven)
  return {
    status: is_optimal ? 'optimal' : 'feasible',
    gap_pct: is_whole && Number.isFinite(most_pct) ? rounded(most_pct, 1e-6) : null,
    ...solver,
    units,
    flows: flowsOf(problem, units).map(tidyFlow),
    demands,
    violations: violationsOf(search, values),
  }
}

interface Planned {
  values: Float64Array | null
  /** Of the completed goals. */
  gaps: { gap_pct: number; is_proven: boolean }[]
  demands: DispatchPlan['demands']
}

/** All demands met; null if impossible, or not proven in time. */
function planMeeting(search: Search, gap_ratio: number): Planned | null {
  if (search.model.problem.units.some(isOutside)) return null
  insist(search.model)
  const planned = runStages(search, { values: null, gaps: [], demands: 'met' }, gap_ratio)
  return planned.values && planned
}

function planMissing(search: Search, gap_ratio: number): Planned {
  search.model = createModel(search.model.problem)
  const { model } = search
  setCosts(model, missedTerms(model))
  const least = within(search, search.left_s / 2, () => findBest(search, 0, () => 1e-2))
  const { values } = least
  if (values === null) return { values, gaps: [], demands: 'unknown' }
  concede(model, values)
  const planned = runStages(search, { values, gaps: [], demands: 'unknown' }, gap_ratio)
  const is_met = violationsOf(search, planned.values!).length === 0
  if (is_met) return { ...planned, demands: 'met' }
  return { ...planned, demands: least.is_proven ? 'infeasible' : 'unknown' }
}

/** One goal after the other; when time runs out, the result of the completed ones. */
function runStages(search: Search, from: Planned, gap_ratio: number): Planned {
  const stages = stagesOf[search.model.problem.objective]
  let planned = from
  for (const [nth, stage] of stages.entries()) {
    // Without a plan, part of the time is kept for one that misses demands.
    const share = planned.values === null ? 0.75 : 1
    const most_s = search.left_s * Math.min(share, 1 / (stages.length - nth))
    const of = { gap_ratio, before: planned.values }
    const { values, ...gap } = within(search, most_s, () => runStage(search, stage, of))
    if (values === null) break
    planned = { ...planned, values, gaps: [...planned.gaps, gap] }
  }
  return planned
}

/** The best for one goal; its allowed cost to later goals becomes a row. */
function runStage(
  search: Search,
  { goal, gives }: Stage,
  { gap_ratio, before }: { gap_ratio: number; before: Float64Array | null },
) {
  const { model } = search
  const { problem, program } = model
  const terms = goalTerms(model, goal)
  const idle = measure(problem, fixedPowers(problem), goal) * perUnit(goal)
  /** Reference of a gap: the gain in money, most of which does not depend on batteries. */
  const gainAt = (value: number) =>
    goal === 'money'
      ? Math.max(Math.abs(value - idle), Math.abs(idle) * 1e-3, 1)
      : Math.max(value, 1)
  const gapAt = (cost: number) => gap_ratio * gainAt(cost)
  const near = before === null ? idle : totalOf(terms, before)
  setCosts(model, terms)
  const found = findBest(search, near, gapAt, before)
  if (found.values === null) return { values: null, gap_pct: 0, is_proven: false }
  const value = totalOf(terms, found.values)
  const rounding = 1e-6 * Math.abs(value) + 1e-3
  program.row(terms, { upper: value + rounding + gives * gainAt(value) })
  const gap_pct = (100 * Math.max(0, found.cost - found.bound)) / gainAt(value)
  return { values: found.values, gap_pct, is_proven: found.is_proven }
}

/** Power that is fixed in any case. */
const fixedPowers = ({ units, periods }: DispatchProblem): Powers =>
  units.map(({ bess_id, fixed_kw }) => ({
    bess_id,
    power_kw: periods.map((_, nth) => fixed_kw?.[nth] ?? 0),
  }))

function planOf(
  { periods }: DispatchProblem,
  { unit, charge, discharge }: UnitColumns,
  values: Float64Array,
): UnitPlan {
  const power_kw = periods.map((_, nth) => {
    const exact_kw = values[discharge[nth]!]! - values[charge[nth]!]!
    const fixed_kw = unit.fixed_kw?.[nth] ?? null
    const is_held = fixed_kw !== null && Math.abs(fixed_kw - exact_kw) < 1e-3
    return is_held ? fixed_kw : watts(exact_kw)
  })
  const { soc_pct } = followCourse(unit, periods, power_kw)
  return { bess_id: unit.bess_id, power_kw, soc_pct: soc_pct.map((pct) => rounded(pct, 1e-4)) }
}

function violationsOf(search: Search, values: Float64Array): Violation[] {
  const { slacks, problem } = search.model
  const missed = new Map<string, Violation>()
  for (const { column, violation, share } of slacks) {
    const amount = rounded(values[column]! * share, 1e-3)
    if (violation === null || amount <= (violation.constraint === 'soc_end' ? 0.01 : 0.002))
      continue
    const key = `${violation.constraint}/${violation.bess_id}`
    const known = missed.get(key) ?? { ...violation, amount, bound_by: [] }
    missed.set(key, { ...known, amount: Math.max(amount, known.amount) })
  }
  return [...missed.values()].map((violation) => {
    if (violation.constraint !== 'soc_end') return violation
    return { ...violation, bound_by: boundsOfEnd(search.highs, problem, violation.bess_id!) }
  })
}

const tidyFlow = ({ net_kw, curtailed_kw, amount }: Flow): Flow => ({
  net_kw: watts(net_kw),
  curtailed_kw: watts(curtailed_kw),
  amount: amount === null ? null : rounded(amount, 1e-6),
})

/** Without the solver's rounding, and without negative zero. */
const rounded = (value: number, step: number) =>
  Number((Math.round(value / step) * step).toFixed(6)) + 0
