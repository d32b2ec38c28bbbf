/**
 * Readings of a healthy simulated battery with the newer models, as the edge would read them. For
 * history, without Modbus.
 */
import { type BessReading, emptyReading, type PcsReading } from '@heliograph/domain/readings'
import { extremesOf } from '../devices/sunspec-battery.ts'
import { type Grid, phasesAt, temperaturesAt, unityPower } from '../grid-side.ts'
import { bank_headroom } from './bank.ts'
import type { BatterySnapshot } from './battery-snapshot.ts'
import type { BatteryModel } from './battery-state.ts'

export interface BatteryCounters {
  pcs: { injected_kwh: number; absorbed_kwh: number }[]
  discharged_ah: number[]
}

interface BatteryTold {
  model: BatteryModel
  snapshot: BatterySnapshot
  /** Setpoint of each PCS; null: none. */
  setpoint_kw: readonly (number | null)[]
}

export function bessReading(
  { model, snapshot, setpoint_kw }: BatteryTold,
  at: number,
): BessReading {
  const { battery, rated_dc_kw } = model
  const { soc_pct, dc_voltage_v, dc_limits, state } = snapshot
  const energyOf = (share_pct: number) => (Math.max(0, share_pct) / 100) * battery.rated_energy_kwh
  const powerOf = (current_a: number, rated_kw: number) =>
    Math.min((current_a * dc_voltage_v) / 1000, rated_kw * bank_headroom)
  const sum = (name: 'injected_kwh' | 'absorbed_kwh') =>
    snapshot.pcs.reduce((total, one) => total + one[name], 0)
  return {
    ...emptyReading('bess'),
    bess_id: battery.bess_id,
    measured_at: at,
    quality: 'good',
    state,
    power_kw: snapshot.ac_power_kw,
    setpoint_kw: setpoint_kw.includes(null)
      ? null
      : setpoint_kw.reduce<number>((total, one) => total + one!, 0),
    soc_pct,
    soh_pct: snapshot.soh_pct,
    dc_voltage_v,
    // At rest the remaining sum over clusters is noise.
    dc_current_a: Math.round(snapshot.dc_current_a * 100) / 100 + 0,
    available_energy_kwh: energyOf(soc_pct),
    energy_to_full_kwh: energyOf(battery.soc_max_pct - soc_pct),
    max_charge_power_kw: powerOf(dc_limits.charge_a, rated_dc_kw.charge),
    max_discharge_power_kw: powerOf(dc_limits.discharge_a, rated_dc_kw.discharge),
    max_charge_current_a: dc_limits.charge_a,
    max_discharge_current_a: dc_limits.discharge_a,
    charged_total_kwh: sum('absorbed_kwh'),
    discharged_total_kwh: sum('injected_kwh'),
    cycle_count: snapshot.cycle_count,
    ...cellValues(snapshot),
    contactor_state: state === 'standby' ? null : 'closed',
    control_place: 'remote',
    heartbeat_ok: 1,
    alarm_1: snapshot.event_word,
    alarm_2: 0,
    alarm_3: 0,
    alarm_4: 0,
  }
}

function cellValues(snapshot: BatterySnapshot): Partial<BessReading> {
  const volt = extremesOf(snapshot, 'cell_voltage_v')
  const warm = extremesOf(snapshot, 'cell_temperature_c')
  return {
    cell_voltage_min_mv: volt.min * 1000,
    cell_voltage_max_mv: volt.max * 1000,
    cell_voltage_avg_mv: volt.avg * 1000,
    cell_voltage_min_cluster_idx: volt.min_str - 1,
    cell_voltage_min_module_idx: volt.min_mod - 1,
    cell_voltage_max_cluster_idx: volt.max_str - 1,
    cell_voltage_max_module_idx: volt.max_mod - 1,
    cell_temperature_min_c: warm.min,
    cell_temperature_max_c: warm.max,
    cell_temperature_avg_c: warm.avg,
    cell_temperature_min_cluster_idx: warm.min_str - 1,
    cell_temperature_min_module_idx: warm.min_mod - 1,
    cell_temperature_max_cluster_idx: warm.max_str - 1,
    cell_temperature_max_module_idx: warm.max_mod - 1,
  }
}

/** Without the measurements of the grid side. */
export const pcsReadings = (told: BatteryTold, at: number): PcsReading[] =>
  told.snapshot.pcs.map((_, nth) => pcsReading(told, nth, at))

function pcsReading({ model, snapshot, setpoint_kw }: BatteryTold, nth: number, at: number) {
  const { battery } = model
  const { ambient_temperature_c: ambient_c, dc_voltage_v } = snapshot
  const { rated_power_kw } = battery.pcs[nth]!
  const { pcs_idx, mode, ac_power_kw, dc_power_kw, ...one } = snapshot.pcs[nth]!
  const load = Math.abs(ac_power_kw) / rated_power_kw
  return {
    ...emptyReading('pcs'),
    bess_id: battery.bess_id,
    pcs_idx,
    measured_at: at,
    quality: 'good' as const,
    state: mode,
    grid_mode: mode === 'off' ? 'off_grid' : 'on_grid',
    ...unityPower(ac_power_kw),
    dc_voltage_v,
    dc_power_kw,
    setpoint_kw: setpoint_kw[nth]!,
    dc_current_a: (dc_power_kw * 1000) / Math.max(1, dc_voltage_v),
    max_charge_power_kw: rated_power_kw,
    max_discharge_power_kw: rated_power_kw,
    energy_injected_total_kwh: one.injected_kwh,
    energy_absorbed_total_kwh: one.absorbed_kwh,
    ...temperaturesAt(ambient_c, load),
    ambient_temperature_c: ambient_c,
    ac_breaker_closed: mode === 'off' ? 0 : 1,
    control_place: 'remote',
    alarm_1: 0,
    throttle_pct: 0,
    throttle_source: 0,
  }
}

/** A PCS with the measurements of its grid side. */
export const onGrid = (pcs: PcsReading, grid: Grid): PcsReading => ({
  ...pcs,
  ...phasesAt(pcs.ac_power_kw!, grid),
})
