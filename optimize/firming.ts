/**
 * The steadiest power, without a binary column.
 *
 * Burning power by charging and discharging at once smooths it, which a linear programme likes
 * more often than not, and binaries against it are not proven in minutes. But what burns adds
 * nothing to the cells: where the battery is counted by what goes in and out of them, there is
 * nothing to gain. So the steadiest plan by the cells says in which direction each battery goes in
 * each period, and with these directions the steadiest at the connection is a linear programme.
 * The one in which all may burn bounds how much steadier any plan could be.
 */
import { type DispatchModel, setCosts, type UnitColumns } from './dispatch-model.ts'
import { rampTerms } from './goals.ts'
import type { Term } from './linear-program.ts'
import { type Found, nothing, type Search, solveOnce } from './search.ts'

/**
 * @param terms of the goal `ramps`
 * @param gapAt how far from the best the cost may be, by about what it is
 */
export function findSteadiest(
  search: Search,
  terms: readonly Term[],
  gapAt: (cost: number) => number,
): Found {
  const { model } = search
  setCosts(model, terms)
  const relaxed = solveOnce(search, 0)
  if (relaxed.values === null) return nothing
  setCosts(model, cellTerms(model))
  const by_cells = solveOnce(search, 0)
  if (by_cells.values === null) return nothing
  const { columns } = model.program
  const uppers = columns.map(({ upper }) => upper)
  for (const unit of model.units) keepDirections(model, unit, by_cells.values)
  setCosts(model, terms)
  const { values } = solveOnce(search, 0)
  for (const [nth, upper] of uppers.entries()) columns[nth]!.upper = upper
  if (values === null) return nothing
  const cost = model.program.cost(values)
  const { bound } = relaxed
  return { values, cost, bound, is_proven: cost - bound <= gapAt(cost) }
}

const cellTerms = (model: DispatchModel) =>
  rampTerms(model, ({ charge_efficiency, discharge_efficiency }) => ({
    charge: charge_efficiency,
    discharge: 1 / discharge_efficiency,
  }))

function keepDirections(
  { program: { columns } }: DispatchModel,
  { unit, charge, discharge }: UnitColumns,
  values: Float64Array,
): void {
  charge.forEach((from, nth) => {
    const to = discharge[nth]!
    const added = values[from]! * unit.charge_efficiency
    const is_charging = added >= values[to]! / unit.discharge_efficiency
    columns[is_charging ? to : from]!.upper = 0
  })
}
