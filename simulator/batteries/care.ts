/** Effects other than the current: alarms, contactors, balancing, ageing. */

import { restVoltage } from '@heliograph/physics/cell-curves'
import { cellTemperatures, isConnected } from './bank.ts'
import type { BatteryModel, BatteryState, ClusterState } from './battery-state.ts'
import { ageingLaws } from './cell-ageing.ts'
import { sweep } from './cluster.ts'
import { followAlarms, levelOf, type Measured } from './protection.ts'

const precharge_s = 3
/** Time after the cause is gone at which a contactor closes again. */
const reclose_s = 30
const balance_every_s = 60
/** A cell is balanced from this voltage above the lowest one, until half of it. */
const balance_v = 0.01
const ageing_every_s = 3600
/** A reversal of the current ends a half cycle from this depth on. */
const turn_soc = 0.005

interface Care {
  seconds: number
  is_held_open: boolean
  /** Open-circuit voltage of the connected clusters; 0 without any. */
  bus_v: number
}

export function advanceCare(model: BatteryModel, state: BatteryState, care: Care): void {
  const { seconds } = care
  state.balancing_s += seconds
  const is_balancing_due = state.balancing_s >= balance_every_s
  if (is_balancing_due) state.balancing_s = 0
  for (const [idx, cluster] of state.clusters.entries()) {
    followAlarms(cluster.alarms, measured(model, cluster, idx), {
      chemistry: model.chemistry,
      seconds,
    })
    moveContactor(cluster, care)
    if (is_balancing_due) balance(model, cluster, idx)
    age(model, state, { cluster, idx, seconds })
  }
}

/** Below this the curve is so steep that equally charged cells differ in voltage. */
const plateau_from_soc = 0.1

/** In the order of `watched`. */
function measured(model: BatteryModel, cluster: ClusterState, idx: number): Measured {
  const { sums, current_a } = cluster
  const { min, max } = cellTemperatures(model, cluster, idx)
  const { charge_a, discharge_a } = ratedCurrents(model, cluster)
  const plateau_v = restVoltage(model.clusters[idx]!.curve, plateau_from_soc)
  return [
    sums.cell_v.max * 1000,
    sums.cell_v.min * 1000,
    max,
    min,
    (Math.max(0, -current_a) / charge_a) * 100,
    (Math.max(0, current_a) / discharge_a) * 100,
    sums.cell_v.min > plateau_v ? (sums.cell_v.max - sums.cell_v.min) * 1000 : null,
    max - min,
    sums.soc * 100,
  ]
}

function ratedCurrents({ rated_dc_kw, clusters }: BatteryModel, { sums }: ClusterState) {
  const per_kw = 1000 / (clusters.length * sums.open_circuit_v)
  return { charge_a: rated_dc_kw.charge * per_kw, discharge_a: rated_dc_kw.discharge * per_kw }
}

/** Opens at level 2 or when held open; closes afterwards by way of precharge. */
function moveContactor(cluster: ClusterState, { seconds, is_held_open, bus_v }: Care): void {
  const become = (contactor: ClusterState['contactor']) => {
    if (contactor !== cluster.contactor) Object.assign(cluster, { contactor, contactor_s: 0 })
  }
  cluster.contactor_s += seconds
  cluster.is_out_of_range = false
  if (is_held_open || levelOf(cluster.alarms.levels) === 3) {
    become('open')
    cluster.contactor_s = 0
    return
  }
  if (cluster.contactor === 'open' && cluster.contactor_s >= reclose_s) {
    // The equalising current must be below the rated current of one cluster.
    const { open_circuit_v, resistance_ohm, capacity_ah } = cluster.sums
    const between_a = Math.abs(open_circuit_v - bus_v) / resistance_ohm
    cluster.is_out_of_range = bus_v > 0 && between_a > capacity_ah / 4
    if (!cluster.is_out_of_range) become('precharge')
  } else if (cluster.contactor === 'precharge' && cluster.contactor_s >= precharge_s) {
    become('closed')
  }
}

/** Selects the cells to balance until the next time. */
function balance(model: BatteryModel, cluster: ClusterState, idx: number): void {
  const { curve } = model.clusters[idx]!
  const { is_bleeding, soc, sums } = cluster
  const is_time = isConnected(cluster) && cluster.current_a <= 0
  const highest_v = sums.cell_v.max
  if (!is_time || highest_v < curve.balances_above_v) {
    if (is_bleeding.includes(1)) is_bleeding.fill(0)
    return
  }
  const lowest_v = restVoltage(curve, Math.min(...soc))
  for (const [index, own_soc] of soc.entries()) {
    const above_v = restVoltage(curve, own_soc) - lowest_v
    const from_v = is_bleeding[index] === 1 ? balance_v / 2 : balance_v
    is_bleeding[index] = above_v > from_v ? 1 : 0
  }
}

function age(
  model: BatteryModel,
  { totals }: BatteryState,
  { cluster, idx, seconds }: { cluster: ClusterState; idx: number; seconds: number },
): void {
  const { half_cycle, sums, current_a } = cluster
  const law = ageingLaws[model.chemistry]
  const moved_ah = (Math.abs(current_a) * seconds) / 3600
  cluster.rested_s += seconds
  half_cycle.seconds += moved_ah > 0 ? seconds : 0
  half_cycle.moved_ah += moved_ah
  const depth = Math.abs(sums.soc - half_cycle.from_soc)
  const turned = current_a !== 0 && current_a < 0 !== half_cycle.is_charging
  if (turned && depth >= turn_soc) {
    const mean_v = restVoltage(model.clusters[idx]!.curve, (sums.soc + half_cycle.from_soc) / 2)
    const hours = Math.max(1e-6, half_cycle.seconds / 3600)
    const rate_per_h = half_cycle.moved_ah / sums.capacity_ah / hours
    cluster.ageing = law.cycle(cluster.ageing, { depth, rate_per_h, mean_v })
  }
  if (turned) {
    cluster.half_cycle = {
      from_soc: sums.soc,
      moved_ah: 0,
      seconds: 0,
      is_charging: current_a < 0,
    }
  }
  if (cluster.rested_s < ageing_every_s) return
  const { rested_s, module_temperature_c } = cluster
  const temperature_c =
    module_temperature_c.reduce((sum, one) => sum + one, 0) / module_temperature_c.length
  const open_circuit_v = sums.open_circuit_v / cluster.soc.length
  cluster.ageing = law.rest(cluster.ageing, {
    seconds: rested_s,
    soc: sums.soc,
    temperature_c,
    open_circuit_v,
  })
  cluster.rested_s = 0
  const { calendar_fade, cycle_fade, resistance_growth } = cluster.ageing
  cluster.capacity_ratio = 1 - calendar_fade - cycle_fade
  cluster.resistance_ratio = 1 + resistance_growth
  const aged = sweep(model.clusters[idx]!, cluster, { moved_ah: 0, current_a })
  totals.faded_kwh += sums.stored_kwh - aged.stored_kwh
  cluster.sums = aged
}
