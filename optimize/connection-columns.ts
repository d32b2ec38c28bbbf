/** Rows and columns of the flows over the common connection and over those of plants. */
import { mayCurtail } from './connection.ts'
import { addSlack, type DispatchModel, wear_per_mwh, weights } from './dispatch-model.ts'
import { hoursOf, type Plant } from './dispatch-problem.ts'
import type { Term } from './linear-program.ts'

export function addConnections(model: DispatchModel): void {
  model.problem.periods.forEach((_, nth) => {
    const spilled = (model.problem.plants ?? []).flatMap((plant) => addPlant(model, plant, nth))
    addCommon(model, nth, spilled)
  })
}

export function batteriesAt(
  model: DispatchModel,
  nth: number,
  bess_ids?: readonly number[],
): Term[] {
  return model.units
    .filter(({ unit }) => bess_ids === undefined || bess_ids.includes(unit.bess_id))
    .flatMap(({ charge, discharge }) => [
      [discharge[nth]!, 1] as const,
      [charge[nth]!, -1] as const,
    ])
}

const most = ({ program }: DispatchModel, terms: readonly Term[], sign: number) =>
  terms.reduce((sum, [column, by]) => sum + (by === sign ? program.columns[column]!.upper : 0), 0)

/**
 * PV is curtailed by as much as it alone exceeds a limit, or freely for money. Where more
 * curtailment would pay, or smooth, only a full connection allows it: that is a pair.
 */
function addSpilled(model: DispatchModel, nth: number, pv_kw: number, over_kw: number): number {
  const upper = mayCurtail(model.problem, nth) ? pv_kw : Math.min(pv_kw, Math.max(0, over_kw))
  return model.program.column({ upper })
}

/** Fixed discharge takes precedence over PV. */
function fixedKw({ units }: DispatchModel, nth: number, bess_ids?: readonly number[]): number {
  return units.reduce((sum, { unit }) => {
    const is_in = bess_ids === undefined || bess_ids.includes(unit.bess_id)
    return is_in ? sum + (unit.fixed_kw?.[nth] ?? 0) : sum
  }, 0)
}

function addPlant(model: DispatchModel, plant: Plant, nth: number): Term[] {
  const { export_limit_kw, import_limit_kw, bess_ids } = plant
  const pv_kw = plant.pv_kw[nth]!
  const batteries = batteriesAt(model, nth, bess_ids)
  const lower = import_limit_kw === null ? -Infinity : -import_limit_kw - pv_kw
  const upper = export_limit_kw === null ? Infinity : export_limit_kw - pv_kw
  const spilled = addSpilled(model, nth, pv_kw, fixedKw(model, nth, bess_ids) - upper)
  if (lower > -most(model, batteries, -1) || upper < most(model, batteries, 1)) {
    const weight = weights.limit * hoursOf(model.problem.periods[nth]!)
    const slack = (constraint: 'export_limit' | 'import_limit') => {
      const violation = { constraint, bess_id: null, period: nth }
      return addSlack(model, { violation, weight, share: 1 })
    }
    const free = addFree(model, nth, { spilled, upper: upper - lower })
    const terms: Term[] = [
      ...batteries,
      [spilled, -1],
      [slack('import_limit'), 1],
      [slack('export_limit'), -1],
    ]
    model.program.row(free === null ? terms : [...terms, [free, 1]], {
      lower: free === null ? lower : upper,
      upper,
    })
  }
  return [[spilled, 1]]
}

/** Headroom of a connection at which PV is curtailed, maybe only for lack of headroom. */
function addFree(
  model: DispatchModel,
  nth: number,
  { spilled, upper }: { spilled: number; upper: number },
): number | null {
  const { problem, program, pairs } = model
  const is_tempting = (problem.periods[nth]!.price ?? 0) < 0
  const is_needed = program.columns[spilled]!.upper > 0
  if (!is_needed || !is_tempting || mayCurtail(problem, nth)) return null
  const bound_kw = Number.isFinite(upper) ? upper : 1e6
  const free = program.column({ upper: bound_kw })
  pairs.push({ one: spilled, one_share: 1, other: free, other_share: 1 })
  return free
}

function addCommon(model: DispatchModel, nth: number, plants: Term[]): void {
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
  const over_kw = net_kw + fixedKw(model, nth) - (export_limit_kw ?? Number.POSITIVE_INFINITY)
  // PV behind a plant's connection is curtailed there, unless the common connection is full.
  const behind_kw = (problem.plants ?? []).reduce((sum, plant) => sum + plant.pv_kw[nth]!, 0)
  const own_kw = mayCurtail(problem, nth) ? Math.max(0, period.pv_kw - behind_kw) : period.pv_kw
  const spilled = addSpilled(model, nth, own_kw, over_kw)
  model.spilled.push(spilled)
  if (plants.length > 0) program.row([[spilled, 1], ...plants], { upper: period.pv_kw })
  const opposite = batteries.map(([column, by]) => [column, -by] as const)
  program.row([[feed_in, 1], [taken, -1], [spilled, 1], ...plants, ...opposite], {
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
    const free = addFree(model, nth, { spilled, upper: export_limit_kw })
    bound('export_limit', export_limit_kw, free === null ? [] : [[free, 1]])
  }
  if (import_limit_kw !== null && import_limit_kw < taken_kw) {
    bound('import_limit', import_limit_kw, [])
  }
}
