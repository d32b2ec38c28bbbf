/** One unit at one instant, for the reference page. */
import { exampleOf } from '../../http/example.ts'
import { BatteryNow, BatteryReading } from '../current.ts'
import { Envelope } from '../envelope.ts'
import { BatteryUnit } from '../units.ts'
import { Cluster, ClusterCells } from './clusters.ts'
import { FleetSummary } from './fleet.ts'
import { PcsNow, PcsReading, UnitPcs } from './pcs.ts'
import { Protection, Setup } from './setup.ts'

const frame = {
  measured_at: '2026-06-21T10:00:05.000Z',
  received_at: '2026-06-21T10:00:05.120Z',
  age_s: 2.4,
} as const

export const batteryUnitExample = exampleOf(BatteryUnit, {
  bess_id: 1,
  name: 'Battery South',
  logger_id: 1,
  manufacturer: 'Example Storage',
  model: 'ES 400',
  rated_energy_kwh: 400,
  usable_energy_kwh: 360,
  rated_charge_power_kw: 200,
  rated_discharge_power_kw: 200,
  c_rate: 0.5,
  roundtrip_efficiency_pct: 88,
  soc_min_pct: 5,
  soc_max_pct: 95,
  cluster_count: 2,
  pcs_count: 2,
  module_count: 28,
  cell_count: 448,
  operating_mode: 'schedule',
  last_seen_at: frame.measured_at,
  schedule_status_today: 'dispatching',
})

const measured = {
  state: 'discharging',
  power_kw: 100,
  setpoint_kw: 100,
  soc_pct: 60,
  soh_pct: 98,
  dod_pct: 40,
  available_energy_kwh: 196,
  energy_to_full_kwh: 137.2,
  dc_voltage_v: 720,
  dc_current_a: 141.7,
  max_charge_power_kw: 180,
  max_discharge_power_kw: 190,
  cell_voltage_min_mv: 3290,
  cell_voltage_max_mv: 3304,
  cell_voltage_spread_mv: 14,
  contactor_state: 'closed',
  heartbeat_ok: true,
  local_remote: 'remote',
} as const

export const batteryNowExample = exampleOf(BatteryNow, {
  bess_id: 1,
  ...frame,
  ...measured,
  grid_connected: true,
  charged_today_kwh: 310.4,
  discharged_today_kwh: 280.2,
})

export const batteryReadingExample = exampleOf(BatteryReading, measured)

export const fleetExample = exampleOf(FleetSummary, {
  measured_at: '2026-06-21T10:00:04.000Z',
  unit_count: 2,
  online_count: 2,
  stale_unit_ids: [],
  rated_energy_kwh: 500,
  usable_energy_kwh: 440,
  available_energy_kwh: 226,
  soc_pct: 56.4,
  power_kw: 100,
  max_charge_power_kw: 230,
  max_discharge_power_kw: 240,
  charged_today_kwh: 370.4,
  discharged_today_kwh: 330.2,
  cycles_today: 0.75,
  roundtrip_efficiency_30d_pct: 89.3,
  active_alarm_counts: { warning: 1 },
  schedules: { proposed: 1, approved: 1 },
  earnings_today_amount: 31.42,
  currency: 'EUR',
})

const pcsMeasured = {
  state: 'running',
  grid_mode: 'on_grid',
  ac_power_kw: 48.6,
  frequency_hz: 50.01,
  dc_voltage_v: 720,
  dc_current_a: 69.4,
  dc_power_kw: 50,
  setpoint_kw: 50,
  max_charge_power_kw: 100,
  max_discharge_power_kw: 100,
  ac_breaker_closed: true,
  dc_contactor_closed: true,
  local_remote: 'remote',
} as const

const pcsExample = exampleOf(PcsNow, {
  rated_power_kw: 100,
  ...frame,
  ...pcsMeasured,
  efficiency_pct: 97.2,
})

export const unitPcsExample = exampleOf(UnitPcs, {
  bess_id: 1,
  measured_at: frame.measured_at,
  age_s: frame.age_s,
  pcs_count: 2,
  ac_power_kw: 97.2,
  dc_power_kw: 100,
  max_charge_power_kw: 200,
  max_discharge_power_kw: 200,
  pcs: [pcsExample, { ...pcsExample, pcs_idx: 1 }],
})

export const pcsReadingExample = exampleOf(PcsReading, pcsMeasured)

/** A cluster of three modules with four cells each. */
export const clusterExample = exampleOf(Cluster, {
  ...frame,
  state: 'discharging',
  soc_pct: 60,
  voltage_v: 720,
  current_a: 70.8,
  power_kw: 50.976,
  module_count: 3,
  cell_count: 12,
  cell_voltage_min_mv: 3280,
  cell_voltage_max_mv: 3304,
  cell_voltage_spread_mv: 24,
  cell_voltage_min_module_idx: 2,
  cell_voltage_max_module_idx: 1,
})

export const clusterCellsExample = exampleOf(ClusterCells, {
  ...clusterExample,
  cells_measured_at: '2026-06-21T09:59:30.000Z',
  cells_age_s: 37.4,
  cells_per_module: 4,
  temperature_sensors_per_module: 2,
  cell_voltage_min_index: 10,
  cell_voltage_max_index: 4,
  cell_temperature_min_index: 0,
  cell_temperature_max_index: 5,
  modules: [
    { module_idx: 0, voltage_v: 13.195, soc_pct: 60, soh_pct: null, temperature_c: 24.5 },
    { module_idx: 1, voltage_v: 13.198, soc_pct: 60.5, soh_pct: null, temperature_c: 25.5 },
    { module_idx: 2, voltage_v: null, soc_pct: 59.5, soh_pct: null, temperature_c: 26.5 },
  ],
  cell_voltages_mv: [3298, 3299, 3300, 3298, 3304, 3297, 3299, 3298, 3298, null, 3280, 3299],
  cell_temperatures_c: [24, 25, 25, 26, 26, 27],
  cell_balancing: Array.from({ length: 12 }, (_, index) => index === 4),
  outlier_cell_indexes: [10],
})

export const envelopeExample = exampleOf(Envelope, {
  ...frame,
  soc_pct: 60,
  soc_min_pct: 5,
  soc_max_pct: 95,
  soc_reserve_pct: 10,
  available_discharge_energy_kwh: 196,
  available_charge_energy_kwh: 137.2,
  max_charge_power_kw: 180,
  max_discharge_power_kw: 190,
  bms_charge_limit_kw: 180,
  bms_discharge_limit_kw: 190,
  pcs_charge_limit_kw: 200,
  pcs_discharge_limit_kw: 200,
  limited_by_charge: 'bms',
  limited_by_discharge: 'bms',
  max_charge_duration_min: 48.7518979,
  max_discharge_duration_min: 58.0624098,
  valid_until_at: '2026-06-21T10:00:35.000Z',
})

export const protectionExample = exampleOf(Protection, {
  level: 'level_1',
  trip_value: 3600,
  recover_value: 3500,
  action: 'stop',
})

export const setupExample = exampleOf(Setup, {
  bess_id: 1,
  read_at: '2026-06-21T04:12:00.000Z',
  changed_at: '2025-03-01T09:30:00.000Z',
  rated_energy_kwh: 400,
  max_charge_power_kw: 200,
  max_discharge_power_kw: 200,
  soc_min_pct: 5,
  soc_max_pct: 95,
  soc_reserve_pct: 10,
  bms_firmware: '3.2',
  timezone: 'Europe/Berlin',
  raw_registers: [{ address: 40_070, name: 'WHRtg', value: 400_000, unit: 'Wh' }],
})
