/** One device of each kind at one instant, for the reference page. */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Inverter } from './inverter.ts'
import type { Logger } from './logger.ts'
import type { PvString, StringGlance, StringNow } from './pv-string.ts'
import type { SensorNow } from './sensor-node.ts'

const frame = {
  measured_at: '2026-06-21T10:00:05.000Z',
  received_at: '2026-06-21T10:00:05.120Z',
  age_s: 2.4,
  quality: 'good',
} as const

const inventoried = {
  created_at: '2026-01-05T08:00:00.000Z',
  updated_at: '2026-05-11T14:30:00.000Z',
  retired_at: null,
} as const

export const inverterExample: Inverter = {
  inverter_id: 7,
  logger_id: 2,
  location_id: 3,
  name: 'E-3',
  manufacturer: 'Example Power',
  model: 'EP 100',
  serial_number: 'EP100-2207',
  firmware_version: '2.14',
  driver: 'sunspec',
  modbus_unit_id: 3,
  installed_date: '2024-03-12',
  phase_count: 3,
  rated_ac_power_kw: 100,
  max_dc_voltage_v: 1500,
  mppt_count: 2,
  string_count: 4,
  dc_capacity_kwp: 43.7,
  ...frame,
  comm_state: 'connected',
  state: 'mppt',
  state_vendor_code: 4,
  ac_power_kw: 33.1,
  reactive_power_kvar: -0.4,
  apparent_power_kva: 33.1,
  power_factor: 1,
  frequency_hz: 50.01,
  voltage_l1_l2_v: 801.2,
  voltage_l2_l3_v: 800.4,
  voltage_l3_l1_v: 801.9,
  voltage_l1_n_v: null,
  voltage_l2_n_v: null,
  voltage_l3_n_v: null,
  current_l1_a: 23.9,
  current_l2_a: 23.8,
  current_l3_a: 23.9,
  dc_power_kw: 33.7,
  dc_voltage_v: 842,
  dc_current_a: 40,
  energy_total_kwh: 81234.5,
  cabinet_temperature_c: 41.5,
  heatsink_temperature_c: 52,
  transformer_temperature_c: null,
  insulation_resistance_kohm: 1850,
  available_power_kw: null,
  power_limit_pct: 100,
  limited_by: 'none',
  alarm_1: 128,
  alarm_2: 0,
  alarm_3: 0,
  alarm_4: 0,
  alarm_5: null,
  mppts: [
    {
      mppt_index: 0,
      dc_voltage_v: 842,
      dc_current_a: 20.1,
      dc_power_kw: 16.9,
      temperature_c: null,
      energy_total_kwh: 40612.1,
    },
    {
      mppt_index: 1,
      dc_voltage_v: 844,
      dc_current_a: 19.9,
      dc_power_kw: 16.8,
      temperature_c: null,
      energy_total_kwh: 40622.4,
    },
  ],
  efficiency_pct: 98.2,
  energy_today_kwh: 102.4,
  energy_source: 'inverter_counter',
  specific_yield_today_kwh_kwp: 2.34,
  active_alarm_codes: ['OVER_TEMP'],
  active_alarm_count: 1,
  highest_alarm_severity: 'major',
  ...inventoried,
}

export const loggerExample: Logger = {
  logger_id: 2,
  name: 'East plant',
  plant_code: 'E',
  location_id: 3,
  status: 'online',
  comm_state: 'connected',
  last_seen_at: '2026-06-21T10:00:04.000Z',
  last_data_at: '2026-06-21T10:00:05.000Z',
  rated_power_kw: 400,
  dc_capacity_kwp: 524,
  dc_ac_ratio: 1.31,
  inverter_count: 4,
  string_count: 48,
  module_count: 1152,
  azimuth_deg: 95,
  tilt_deg: 15,
  orientation: 'east',
  commissioned_date: '2024-05-01',
  guaranteed_yield_kwh_kwp: 980,
  agent_version: '0.1.0',
  sampling_interval_s: 5,
  clock_offset_ms: 12,
  buffer_depth_frames: 0,
  buffer_oldest_at: null,
  ...frame,
  ac_power_kw: 342.6,
  dc_power_kw: 349.2,
  reactive_power_kvar: -2.1,
  apparent_power_kva: 342.6,
  power_factor: 1,
  frequency_hz: 50.01,
  energy_total_kwh: 1421870.2,
  available_power_kw: null,
  poa_irradiance_w_m2: 861,
  module_temperature_c: 47.2,
  ambient_temperature_c: 24.8,
  inverters_online: 4,
  inverters_total: 4,
  curtailment_active: true,
  power_limit_kw: 240,
  limit_pct_of_rated: 60,
  energy_today_kwh: 1240.8,
  energy_source: 'inverter_counter',
  energy_today_inverter_count: 4,
  specific_yield_today_kwh_kwp: 2.37,
  ...inventoried,
}

export const stringExample: PvString = {
  inverter_id: 7,
  string_index: 0,
  mppt_index: 0,
  combiner_id: null,
  combiner_input: null,
  connected: true,
  module_count: 24,
  params_id: 1,
  panel_model: 'Example Solar 455',
  module_power_wp: 454.84,
  dc_capacity_kwp: 10.92,
  azimuth_deg: 95,
  tilt_deg: 15,
  orientation: 'east',
  updated_at: '2026-05-11T14:30:00.000Z',
  retired_at: null,
}

export const stringGlanceExample: StringGlance = {
  inverter_id: 7,
  string_index: 0,
  current_a: 10.1,
  voltage_v: 842,
  power_kw: 8.5042,
  status: 'ok',
}

export const stringNowExample: StringNow = { ...stringGlanceExample, ...frame }

/** The measured columns of a live example: what a reading of its history shows. */
export function measuredIn<Kind extends ReadingKind, Example extends object>(
  kind: Kind,
  example: Example,
) {
  const measured = Object.entries(example).filter(([name]) => name in readingKinds[kind].columns)
  return Object.fromEntries(measured) as Pick<
    Example,
    keyof Example & keyof (typeof readingKinds)[Kind]['columns']
  >
}

export const nodeNowExample: SensorNow = {
  node_id: 'ts-1',
  measured_at: '2026-06-21T10:00:00.000Z',
  received_at: '2026-06-21T10:00:00.310Z',
  age_s: 12.4,
  quality: 'good',
  ambient_temperature_c: null,
  oil_temperature_c: 61.5,
  winding_temperature_c: null,
  busbar_temperature_c: null,
  relative_humidity_pct: 40,
  dew_point_c: null,
  temperatures: [{ channel: 'oil', label: 'Top oil', temperature_c: 61.5, status: 'normal' }],
  fans: [
    {
      fan_index: 0,
      channel: 'fan-1',
      label: 'Exhaust fan',
      current_a: 1.9,
      running: true,
      commanded: true,
      fault: false,
    },
  ],
  doors: [{ door_index: 0, channel: 'door', label: 'Door', open: false }],
  relays: [
    {
      relay_index: 0,
      channel: 'fan-relay',
      label: 'Fan contactor',
      state: true,
      changed_at: '2026-06-21T09:12:30.000Z',
      source: 'automation',
      reason: 'oil above 60 °C',
    },
  ],
}
