/** A simulated battery at an instant, as battery management and PCS show it. */
import type { BatteryState as BatteryWord } from '@heliograph/domain/battery'
import { storedEnergy } from '@heliograph/physics/cell-curves'
import { bankOf, cellTemperatures, clusterLimits, type DcLimits, isConnected } from './bank.ts'
import type { BatteryModel, BatteryState, Contactor, PcsMode, Totals } from './battery-state.ts'
import { type CellReadings, readCells } from './cluster.ts'
import { acPowerAt } from './converter.ts'
import { type AlarmLevel, eventWord } from './protection.ts'

interface Extremes {
  min: number
  max: number
  avg: number
  /** Module of the extreme within the cluster. */
  min_module_idx: number
  max_module_idx: number
}

export interface ClusterSnapshot {
  cluster_idx: number
  contactor: Contactor
  is_out_of_range: boolean
  soc_pct: number
  soh_pct: number
  voltage_v: number
  current_a: number
  cell_voltage_v: Extremes
  cell_temperature_c: Extremes
  max_charge_current_a: number
  max_discharge_current_a: number
  cycle_count: number
  balancing_cell_count: number
  /** In the order of `watched`. */
  alarm_levels: readonly AlarmLevel[]
  event_word: number
}

export interface PcsSnapshot {
  pcs_idx: number
  mode: PcsMode
  is_throttled: boolean
  ac_power_kw: number
  dc_power_kw: number
  /** Present capability, within its rating and its share of the battery's limits. */
  max_charge_power_kw: number
  max_discharge_power_kw: number
  injected_kwh: number
  absorbed_kwh: number
}

export interface BatterySnapshot {
  bess_id: number
  state: BatteryWord
  /** Weighted by energy over the clusters, 0 to 100. */
  soc_pct: number
  soh_pct: number
  /** Energy above empty, as the battery management calculates it. */
  available_energy_kwh: number
  dc_voltage_v: number
  dc_current_a: number
  dc_power_kw: number
  /** Sum of its PCS, without its own supply. */
  ac_power_kw: number
  auxiliary_power_kw: number
  contactor: Contactor
  /** Limits of the battery management, on the DC side. */
  dc_limits: DcLimits
  /**
   * On the AC side: present capability of its PCS within those limits and the rating of the unit.
   */
  max_charge_power_kw: number
  max_discharge_power_kw: number
  cycle_count: number
  coolant_temperature_c: number
  ambient_temperature_c: number
  event_word: number
  clusters: ClusterSnapshot[]
  pcs: PcsSnapshot[]
  totals: Totals
}

export function batterySnapshot(model: BatteryModel, state: BatteryState): BatterySnapshot {
  const { battery } = model
  const { limits } = bankOf(model, state)
  const clusters = state.clusters.map((_, idx) => clusterSnapshot(model, state, idx))
  const pcs = pcsSnapshots(model, state, limits)
  const mean = (value: (cluster: ClusterSnapshot) => number) =>
    clusters.reduce((total, cluster) => total + value(cluster), 0) / clusters.length
  const sumOf = (value: (one: PcsSnapshot) => number) =>
    pcs.reduce((total, one) => total + value(one), 0)
  const connected = clusters.filter(({ contactor }) => contactor === 'closed')
  const shown = connected.length > 0 ? connected : clusters
  const soc_pct = mean((cluster) => cluster.soc_pct)
  const soh_pct = mean((cluster) => cluster.soh_pct)
  const { curve } = model.clusters[0]!
  const stored = storedEnergy(curve, soc_pct / 100) / storedEnergy(curve, 1)
  const snapshot = {
    bess_id: battery.bess_id,
    soc_pct,
    soh_pct,
    available_energy_kwh: battery.rated_energy_kwh * (soh_pct / 100) * stored,
    dc_voltage_v: shown.reduce((total, { voltage_v }) => total + voltage_v, 0) / shown.length,
    dc_current_a: clusters.reduce((total, { current_a }) => total + current_a, 0),
    dc_power_kw: sumOf((one) => one.dc_power_kw),
    ac_power_kw: sumOf((one) => one.ac_power_kw),
    auxiliary_power_kw: state.auxiliary_power_kw,
    contactor: contactorOf(clusters),
    dc_limits: limits,
    max_charge_power_kw: Math.min(
      battery.rated_charge_power_kw,
      sumOf((one) => one.max_charge_power_kw),
    ),
    max_discharge_power_kw: Math.min(
      battery.rated_discharge_power_kw,
      sumOf((one) => one.max_discharge_power_kw),
    ),
    cycle_count: mean((cluster) => cluster.cycle_count),
    coolant_temperature_c: state.coolant_temperature_c,
    ambient_temperature_c: state.ambient_temperature_c,
    event_word: clusters.reduce((word, { event_word }) => (word | event_word) >>> 0, 0),
    clusters,
    pcs,
    totals: { ...state.totals },
  }
  return { ...snapshot, state: stateOf(model, state, snapshot) }
}

export const cellsOf = (
  { clusters }: BatteryModel,
  state: BatteryState,
  cluster_idx: number,
): CellReadings => {
  const cluster = state.clusters[cluster_idx]!
  return readCells(clusters[cluster_idx]!, cluster, cluster.current_a)
}

function clusterSnapshot(model: BatteryModel, state: BatteryState, idx: number): ClusterSnapshot {
  const cluster = state.clusters[idx]!
  const { sums, current_a, alarms } = cluster
  const { cells_per_module, nominal_ah } = model.clusters[idx]!
  const { cell_v } = sums
  const { min_module, max_module, ...temperature } = cellTemperatures(model, cluster, idx)
  const limits = clusterLimits(model, cluster, idx)
  const can = isConnected(cluster) ? 1 : 0
  const moduleOf = (index: number) => Math.floor(index / cells_per_module)
  return {
    cluster_idx: idx,
    contactor: cluster.contactor,
    is_out_of_range: cluster.is_out_of_range,
    soc_pct: 100 * Math.max(0, Math.min(1, sums.soc)),
    soh_pct: 100 * cluster.capacity_ratio,
    voltage_v: sums.open_circuit_v - current_a * sums.resistance_ohm,
    current_a,
    cell_voltage_v: {
      min: cell_v.min,
      max: cell_v.max,
      avg: cell_v.avg,
      min_module_idx: moduleOf(cell_v.min_index),
      max_module_idx: moduleOf(cell_v.max_index),
    },
    cell_temperature_c: { ...temperature, min_module_idx: min_module, max_module_idx: max_module },
    max_charge_current_a: limits.charge_a * can,
    max_discharge_current_a: limits.discharge_a * can,
    cycle_count: cluster.discharged_ah / nominal_ah,
    balancing_cell_count: cluster.is_bleeding.filter((one) => one === 1).length,
    alarm_levels: alarms.levels,
    event_word: eventWord(alarms.levels),
  }
}

function pcsSnapshots(
  { battery }: BatteryModel,
  state: BatteryState,
  limits: DcLimits,
): PcsSnapshot[] {
  const able = state.pcs.map(({ mode }) => mode !== 'fault' && mode !== 'off')
  const able_kw = battery.pcs.reduce(
    (sum, { rated_power_kw }, nth) => sum + (able[nth] ? rated_power_kw : 0),
    0,
  )
  return state.pcs.map((one, nth) => {
    const { pcs_idx, rated_power_kw } = battery.pcs[nth]!
    const share = able[nth] ? rated_power_kw / able_kw : 0
    const acAt = (dc_kw: number) => acPowerAt(dc_kw * share, rated_power_kw)
    const charge_kw = share * limits.charge_kw > 0 ? -acAt(-limits.charge_kw) : 0
    return {
      pcs_idx,
      mode: one.mode,
      is_throttled: one.is_throttled,
      ac_power_kw: one.ac_power_kw,
      dc_power_kw: one.dc_power_kw,
      max_charge_power_kw: Math.min(rated_power_kw, charge_kw),
      max_discharge_power_kw: Math.min(rated_power_kw, Math.max(0, acAt(limits.discharge_kw))),
      injected_kwh: one.injected_kwh,
      absorbed_kwh: one.absorbed_kwh,
    }
  })
}

function contactorOf(clusters: readonly ClusterSnapshot[]): Contactor {
  if (clusters.some(({ contactor }) => contactor === 'closed')) return 'closed'
  return clusters.some(({ contactor }) => contactor === 'precharge') ? 'precharge' : 'open'
}

/** Share of rated power up to which the state is "holding". */
const holding_ratio = 0.01

function stateOf(
  { battery }: BatteryModel,
  { clusters }: BatteryState,
  { contactor, dc_power_kw, pcs }: Pick<BatterySnapshot, 'contactor' | 'dc_power_kw' | 'pcs'>,
): BatteryWord {
  if (clusters.some(({ alarms }) => alarms.levels.includes(3))) return 'fault'
  if (contactor === 'precharge') return 'initializing'
  if (contactor === 'open') return 'disconnected'
  const holding_kw = battery.rated_discharge_power_kw * holding_ratio
  if (dc_power_kw > holding_kw) return 'discharging'
  if (dc_power_kw < -holding_kw) return 'charging'
  if (clusters.some(({ is_full }) => is_full)) return 'full'
  if (clusters.some(({ is_empty }) => is_empty)) return 'empty'
  return pcs.some(({ mode }) => mode === 'running') ? 'holding' : 'standby'
}
