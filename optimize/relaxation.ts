/** Finds why a state of charge is out of reach. */
import type { Highs } from 'highs'
import { missedTerms, setCosts } from './dispatch-model.ts'
import type { Bound, DispatchProblem, Unit } from './dispatch-problem.ts'
import { solve } from './linear-program.ts'
import { createModel } from './model-of.ts'

interface Lifted {
  problem?: Partial<DispatchProblem>
  unit?: Partial<Unit>
}

/** Effect of lifting each bound. */
const lifts: Record<Bound, (problem: DispatchProblem, unit: Unit) => Lifted> = {
  soc_max: () => ({ unit: { soc_max_pct: 100 } }),
  charge_limit: (_, { capacity_kwh }) => ({
    unit: { charge_limits: [{ soc_pct: 0, power_kw: capacity_kwh * 100 }] },
  }),
  export_limit: () => ({ problem: { export_limit_kw: null } }),
  import_limit: ({ periods }) => ({
    problem: { import_limit_kw: null },
    unit: { room_kw: periods.map(() => ({ min_kw: -Infinity, max_kw: Infinity })) },
  }),
  fixed_power: ({ periods }) => ({ unit: { fixed_kw: periods.map(() => null) } }),
  unknown_price: ({ periods }) => ({
    problem: { periods: periods.map((period) => ({ ...period, price: period.price ?? 0 })) },
  }),
  ramp: () => ({ unit: { ramp_kw_min: null } }),
}
const bounds = Object.keys(lifts) as Bound[]

/**
 * Bounds that keep a unit from its final state of charge: each one whose lifting alone brings it
 * nearer; if there is none, those that prevent it when all others are lifted.
 */
export function boundsOfEnd(highs: Highs, problem: DispatchProblem, bess_id: number): Bound[] {
  const shortOf = (lifted: readonly Bound[]) =>
    shortKwh(highs, without(problem, bess_id, lifted), bess_id)
  const short_kwh = shortOf([])
  const helps = (less_kwh: number, than_kwh: number) =>
    less_kwh < than_kwh - Math.max(0.01, 0.001 * than_kwh)
  const alone = bounds.filter((bound) => helps(shortOf([bound]), short_kwh))
  if (alone.length > 0) return alone
  const least_kwh = shortOf(bounds)
  return bounds.filter((bound) => {
    return helps(least_kwh, shortOf(bounds.filter((other) => other !== bound)))
  })
}

function without(
  problem: DispatchProblem,
  bess_id: number,
  lifted: readonly Bound[],
): DispatchProblem {
  const of = problem.units.find((unit) => unit.bess_id === bess_id)!
  const changes = lifted.map((bound) => lifts[bound](problem, of))
  const unit: Unit = Object.assign({}, of, ...changes.map((change) => change.unit))
  return Object.assign({}, problem, ...changes.map((change) => change.problem), {
    units: problem.units.map((other) => (other === of ? unit : other)),
  })
}

/** Minimum amount by which the end is missed if all other demands come first. */
function shortKwh(highs: Highs, problem: DispatchProblem, bess_id: number): number {
  const model = createModel(problem)
  setCosts(model, missedTerms(model))
  const { values } = solve(highs, model.program, { time_limit_s: 5, gap: 0 })
  const slack = model.slacks.find(({ violation }) => {
    return violation?.constraint === 'soc_end' && violation.bess_id === bess_id
  })!
  return values === null ? 0 : values[slack.column]!
}
