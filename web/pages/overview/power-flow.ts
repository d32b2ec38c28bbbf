/** Powers between PV, batteries, consumption and grid. */
import type { Overview } from '@heliograph/sdk'
import { sumAll } from '../../ui/format.ts'

interface PowerFlow {
  /** AC power of the inverters; below 0 for their consumption at night. */
  pv_kw: number | null
  /** Positive when the batteries discharge. */
  battery_kw: number | null
  /** Positive when the site exports. */
  grid_kw: number | null
  /** Consumption and losses behind the grid meter. */
  consumption_kw: number | null
}

type Read = Pick<Overview, 'status' | 'bess'>
type Unit = NonNullable<Overview['bess']>[number]

/** Readings of different devices are up to some seconds apart. */
const imbalance_max = { kw: 1, share: 0.05 }

export function powerFlow({ status, bess }: Read): PowerFlow {
  const { ac_power_kw: pv_kw, export_power_kw, import_power_kw } = status
  const battery_kw = sumAll((bess ?? []).map(powerOf))
  const grid_kw =
    export_power_kw === null || import_power_kw === null ? null : export_power_kw - import_power_kw
  return { pv_kw, battery_kw, grid_kw, consumption_kw: consumptionOf(pv_kw, battery_kw, grid_kw) }
}

export const isPresent = ({ quality }: Unit) => quality !== 'stale' && quality !== 'missing'

const powerOf = (unit: Unit) => (isPresent(unit) ? unit.power_kw : null)

/** Null when the readings contradict each other. */
function consumptionOf(
  pv_kw: number | null,
  battery_kw: number | null,
  grid_kw: number | null,
): number | null {
  if (pv_kw === null || battery_kw === null || grid_kw === null) return null
  const rest_kw = pv_kw + battery_kw - grid_kw
  const largest_kw = Math.max(Math.abs(pv_kw), Math.abs(battery_kw), Math.abs(grid_kw))
  const is_wrong = rest_kw < -(imbalance_max.kw + imbalance_max.share * largest_kw)
  return is_wrong ? null : Math.max(0, rest_kw)
}

/** Mean by rated energy; null unless the state of charge of every unit is known. */
export function socOf({ bess }: Pick<Overview, 'bess'>): number | null {
  const units = bess ?? []
  const rated_kwh = units.reduce((sum, unit) => sum + unit.rated_energy_kwh, 0)
  const charged = sumAll(
    units.map((unit) =>
      isPresent(unit) && unit.soc_pct !== null ? unit.soc_pct * unit.rated_energy_kwh : null,
    ),
  )
  return charged === null || rated_kwh === 0 ? null : charged / rated_kwh
}
