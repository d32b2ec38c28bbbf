/**
 * Heat of the cells: from each module to the coolant, from there to the outside by a chiller, and a
 * little through the walls. Parameters are per kWh of rated energy and our choice: a rack at half
 * its capacity per hour warms by about five degrees, as liquid cooling is designed for. Heat
 * capacity of the cells: 1001 J/(kg K) (Naumann, see the curves of physics) at 165 Wh/kg.
 */
import type { Battery } from '@heliograph/domain/battery'
import type { BatteryModel, BatteryState } from './battery-state.ts'

const per_kwh = {
  cells_j_k: 6070,
  coolant_j_k: 500,
  to_coolant_w_k: 2,
  walls_w_k: 0.05,
  cooling_w: 40,
  heating_w: 20,
  idle_w: 0.5,
} as const

/** Temperatures at which chiller and heater start; two degrees further they run at full power. */
const cooling_from_c = 20
const heating_from_c = 16
const full_after_c = 2
/** Moved heat per unit of electricity. */
const cooling_performance = 3

/** Moves the heat of the last step, in place; sets `auxiliary_power_kw` to the required power. */
export function advanceTemperatures(
  { battery, clusters }: BatteryModel,
  state: BatteryState,
  seconds: number,
): void {
  const { rated_energy_kwh, cluster_count, modules_per_cluster } = battery
  const module_kwh = rated_energy_kwh / (cluster_count * modules_per_cluster)
  let coolant_w = 0
  for (const [cluster_idx, cluster] of state.clusters.entries()) {
    const heat_j = (cluster.heat_kwh * 3.6e6) / modules_per_cluster
    cluster.heat_kwh = 0
    const { module_temperature_c } = cluster
    const { cooling_ratio } = clusters[cluster_idx]!
    for (let idx = 0; idx < modules_per_cluster; idx += 1) {
      const temperature_c = module_temperature_c[idx]!
      const given_w =
        per_kwh.to_coolant_w_k *
        cooling_ratio[idx]! *
        module_kwh *
        (temperature_c - state.coolant_temperature_c)
      coolant_w += given_w
      module_temperature_c[idx] =
        temperature_c + (heat_j - given_w * seconds) / (per_kwh.cells_j_k * module_kwh)
    }
  }
  const { coolant_temperature_c, ambient_temperature_c } = state
  const above = share((coolant_temperature_c - cooling_from_c) / full_after_c)
  const below = share((heating_from_c - coolant_temperature_c) / full_after_c)
  const cooled_w = above * per_kwh.cooling_w * rated_energy_kwh
  const heated_w = below * per_kwh.heating_w * rated_energy_kwh
  const walls_w =
    per_kwh.walls_w_k * rated_energy_kwh * (ambient_temperature_c - coolant_temperature_c)
  state.coolant_temperature_c +=
    ((coolant_w + walls_w + heated_w - cooled_w) * seconds) /
    (per_kwh.coolant_j_k * rated_energy_kwh)
  const electric_w = cooled_w / cooling_performance + heated_w
  state.auxiliary_power_kw = electric_w / 1000 + idleSupply(battery)
  state.totals.auxiliary_kwh += (state.auxiliary_power_kw * seconds) / 3600
}

/** Own supply without heating or cooling, kW. */
export const idleSupply = ({ rated_energy_kwh }: Pick<Battery, 'rated_energy_kwh'>): number =>
  (per_kwh.idle_w * rated_energy_kwh) / 1000

const share = (value: number): number => Math.max(0, Math.min(1, value))
