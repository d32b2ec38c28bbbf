/** Rows and columns of the flows over the connection. */
import { mayCurtail } from './connection.ts'
import { addSlack, type DispatchModel, wear_per_mwh, weights } from './dispatch-model.ts'
import { hoursOf } from './dispatch-problem.ts'
import type { Term } from './linear-program.ts'

export function batteriesAt({ units }: DispatchModel, nth: number): Term[] {
  return units.flatMap(({ charge, discharge }) => [
    [discharge[nth]!, 1] as const,
    [charge[nth]!, -1] as const,
  ])
}

const most = ({ program }: DispatchModel, terms: readonly Term[], sign: number) =>
  terms.reduce((sum, [column, by]) => sum + (by === sign ? program.columns[column]!.upper : 0), 0)

/** The flows of one period. */
export function addConnection(model: DispatchModel, nth: number): void {
  const { program, problem, pairs, wear } = model
  const period = problem.periods[nth]!
  const { export_limit_kw, import_limit_kw } = problem
  const hours = hoursOf(period)
  const batteries = batteriesAt(model, nth)
  const feed_in_kw = period.pv_kw + most(model, batteries, 1)
  const taken_kw = period.load_kw + most(model, batteries, -1)
  const feed_in = program.column({ upper: feed_in_kw })
  const taken = program.column({ upper: taken_kw })
  model.feed_in.push(feed_in)
  model.taken.push(taken)
  const net_kw = period.pv_kw - period.load_kw
  // Fixed discharge takes precedence over PV.
  const fixed_kw = model.units.reduce((sum, { unit }) => sum + (unit.fixed_kw?.[nth] ?? 0), 0)
  const over_kw = net_kw + fixed_kw - (export_limit_kw ?? Number.POSITIVE_INFINITY)
  const spilled = addSpilled(model, nth, over_kw)
  model.spilled.push(spilled)
  const opposite = batteries.map(([column, by]) => [column, -by] as const)
  program.row([[feed_in, 1], [taken, -1], [spilled, 1], ...opposite], {
    lower: net_kw,
    upper: net_kw,
  })
  wear.push([taken, wear_per_mwh * hours])
  if (period.import_price !== undefined && (period.price ?? 0) > period.import_price) {
    pairs.push({ one: feed_in, one_share: 1, other: taken, other_share: 1 })
  }
  const bound = (constraint: 'export_limit' | 'import_limit', most_kw: number, free: Term[]) => {
    const violation = { constraint, bess_id: null, period: nth }
    const slack = addSlack(model, { violation, weight: weights.limit * hours, share: 1 })
    const column = constraint === 'export_limit' ? feed_in : taken
    const lower = free.length > 0 ? most_kw : Number.NEGATIVE_INFINITY
    program.row([[column, 1], [slack, -1], ...free], { lower, upper: most_kw })
  }
  if (export_limit_kw !== null && export_limit_kw < feed_in_kw) {
    bound('export_limit', export_limit_kw, addFree(model, nth, spilled, export_limit_kw))
  }
  if (import_limit_kw !== null && import_limit_kw < taken_kw) {
    bound('import_limit', import_limit_kw, [])
  }
}

/**
 * PV is curtailed by as much as it alone exceeds the limit, or freely for money. Where more
 * curtailment would pay, or smooth, only a full connection allows it: that is a pair.
 */
function addSpilled({ problem, program }: DispatchModel, nth: number, over_kw: number): number {
  const { pv_kw } = problem.periods[nth]!
  const upper = mayCurtail(problem, nth) ? pv_kw : Math.min(pv_kw, Math.max(0, over_kw))
  return program.column({ upper })
}

/** Headroom of the connection where PV is curtailed only for lack of it; else no term. */
function addFree(model: DispatchModel, nth: number, spilled: number, upper: number): Term[] {
  const { problem, program, pairs } = model
  const is_tempting = (problem.periods[nth]!.price ?? 0) < 0
  const is_needed = program.columns[spilled]!.upper > 0
  if (!is_needed || !is_tempting || mayCurtail(problem, nth)) return []
  const free = program.column({ upper })
  pairs.push({ one: spilled, one_share: 1, other: free, other_share: 1 })
  return [[free, 1]]
}
