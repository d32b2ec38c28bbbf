/**
 * The columns of readings per kind of device, under the names that they keep from the driver
 * through the journal, the link and SQL to the API. Unit, sign and range of each:
 * docs/nomenclature.md.
 *
 * A value is `null` when it was not measured; `0` is a measurement. Arrays hold one element for
 * each MPPT or string, `null` if not measured.
 */
import {
  batteryStates,
  clusterStates,
  connectionFailures,
  contactorStates,
  controlPlaces,
  fireStates,
  gridModes,
  pcsStates,
} from './battery.ts'

export type ColumnType =
  | 'real'
  | 'double'
  | 'integer'
  | 'bigint'
  | 'text'
  | `${'real' | 'double'}[]`

type Columns = Readonly<Record<string, ColumnType>>

type Value<Type extends ColumnType> = Type extends `${string}[]`
  ? readonly (number | null)[] | null
  : Type extends 'text'
    ? string | null
    : number | null

type Measured<Of extends Columns> = { [Name in keyof Of]: Value<Of[Name]> }

/** Maximum strings of an inverter and cells of a cluster; more is a fault. */
export const array_length_max = 1024

export const qualities = ['good', 'suspect', 'estimated'] as const
export type Quality = (typeof qualities)[number]

export const inverterStates = [
  'off',
  'sleeping',
  'starting',
  'mppt',
  'throttled',
  'shutting_down',
  'fault',
  'standby',
  'test',
  'unknown',
] as const
export type InverterState = (typeof inverterStates)[number]

/** Cause of a power limit: none, a curtailment of ours, the grid permit, an external limit. */
const limiters = ['none', 'curtailment', 'permit', 'external', 'unknown'] as const
export type Limiter = (typeof limiters)[number]

const inverter = {
  state: 'text',
  state_vendor_code: 'integer',
  ac_power_kw: 'real',
  reactive_power_kvar: 'real',
  apparent_power_kva: 'real',
  power_factor: 'real',
  frequency_hz: 'real',
  voltage_l1_l2_v: 'real',
  voltage_l2_l3_v: 'real',
  voltage_l3_l1_v: 'real',
  voltage_l1_n_v: 'real',
  voltage_l2_n_v: 'real',
  voltage_l3_n_v: 'real',
  current_l1_a: 'real',
  current_l2_a: 'real',
  current_l3_a: 'real',
  dc_power_kw: 'real',
  dc_voltage_v: 'real',
  dc_current_a: 'real',
  energy_total_kwh: 'double',
  cabinet_temperature_c: 'real',
  heatsink_temperature_c: 'real',
  transformer_temperature_c: 'real',
  insulation_resistance_kohm: 'real',
  available_power_kw: 'real',
  power_limit_pct: 'real',
  limited_by: 'text',
  alarm_1: 'bigint',
  alarm_2: 'bigint',
  alarm_3: 'bigint',
  alarm_4: 'bigint',
  alarm_5: 'bigint',
  mppt_voltage_v: 'real[]',
  mppt_current_a: 'real[]',
  mppt_power_kw: 'real[]',
  mppt_temperature_c: 'real[]',
  mppt_energy_total_kwh: 'double[]',
} as const satisfies Columns

const string = {
  current_a: 'real[]',
  voltage_v: 'real[]',
} as const satisfies Columns

const meter = {
  active_power_kw: 'real',
  reactive_power_kvar: 'real',
  apparent_power_kva: 'real',
  power_factor: 'real',
  frequency_hz: 'real',
  voltage_l1_n_v: 'real',
  voltage_l2_n_v: 'real',
  voltage_l3_n_v: 'real',
  voltage_l1_l2_v: 'real',
  voltage_l2_l3_v: 'real',
  voltage_l3_l1_v: 'real',
  current_l1_a: 'real',
  current_l2_a: 'real',
  current_l3_a: 'real',
  energy_export_kwh: 'double',
  energy_import_kwh: 'double',
} as const satisfies Columns

const weather = {
  poa_irradiance_w_m2: 'real',
  ghi_w_m2: 'real',
  dhi_w_m2: 'real',
  module_temperature_c: 'real',
  ambient_temperature_c: 'real',
  relative_humidity_pct: 'real',
  pressure_hpa: 'real',
  wind_speed_m_s: 'real',
  wind_direction_deg: 'real',
  /** The counter of the gauge as read; some gauges reset it, for example at midnight. */
  rain_mm: 'real',
  /** One value per instrument, in the order of site.yaml. */
  instrument_values: 'real[]',
} as const satisfies Columns

const logger = {
  ac_power_kw: 'real',
  dc_power_kw: 'real',
  reactive_power_kvar: 'real',
  apparent_power_kva: 'real',
  power_factor: 'real',
  frequency_hz: 'real',
  energy_total_kwh: 'double',
  available_power_kw: 'real',
  poa_irradiance_w_m2: 'real',
  module_temperature_c: 'real',
  ambient_temperature_c: 'real',
  inverters_online: 'integer',
  inverters_total: 'integer',
} as const satisfies Columns

const node = {
  /**
   * One value per channel, in the order of site.yaml: °C, %, A; a door is 1 when open, a relay 1
   * when on.
   */
  channel_values: 'real[]',
} as const satisfies Columns

/** A battery as a whole, as its battery management reports it. */
const bess = {
  state: 'text',
  state_vendor_code: 'integer',
  power_kw: 'real',
  setpoint_kw: 'real',
  soc_pct: 'real',
  soh_pct: 'real',
  available_energy_kwh: 'real',
  energy_to_full_kwh: 'real',
  dc_voltage_v: 'real',
  dc_current_a: 'real',
  max_charge_power_kw: 'real',
  max_discharge_power_kw: 'real',
  max_charge_current_a: 'real',
  max_discharge_current_a: 'real',
  charged_total_kwh: 'double',
  discharged_total_kwh: 'double',
  cycle_count: 'real',
  cell_voltage_min_mv: 'real',
  cell_voltage_max_mv: 'real',
  cell_voltage_avg_mv: 'real',
  cell_temperature_min_c: 'real',
  cell_temperature_max_c: 'real',
  cell_temperature_avg_c: 'real',
  cell_voltage_min_cluster_idx: 'integer',
  cell_voltage_min_module_idx: 'integer',
  cell_voltage_max_cluster_idx: 'integer',
  cell_voltage_max_module_idx: 'integer',
  cell_temperature_min_cluster_idx: 'integer',
  cell_temperature_min_module_idx: 'integer',
  cell_temperature_max_cluster_idx: 'integer',
  cell_temperature_max_module_idx: 'integer',
  insulation_resistance_kohm: 'real',
  ambient_temperature_c: 'real',
  coolant_temperature_c: 'real',
  contactor_state: 'text',
  fire_system_state: 'text',
  control_place: 'text',
  /** 1: device and edge receive each other's heartbeat; 0: not. */
  heartbeat_ok: 'integer',
  alarm_1: 'bigint',
  alarm_2: 'bigint',
  alarm_3: 'bigint',
  alarm_4: 'bigint',
} as const satisfies Columns

const pcs = {
  state: 'text',
  state_vendor_code: 'integer',
  grid_mode: 'text',
  ac_power_kw: 'real',
  reactive_power_kvar: 'real',
  apparent_power_kva: 'real',
  power_factor: 'real',
  frequency_hz: 'real',
  voltage_l1_l2_v: 'real',
  voltage_l2_l3_v: 'real',
  voltage_l3_l1_v: 'real',
  current_l1_a: 'real',
  current_l2_a: 'real',
  current_l3_a: 'real',
  dc_voltage_v: 'real',
  dc_current_a: 'real',
  dc_power_kw: 'real',
  setpoint_kw: 'real',
  setpoint_kvar: 'real',
  max_charge_power_kw: 'real',
  max_discharge_power_kw: 'real',
  energy_injected_total_kwh: 'double',
  energy_absorbed_total_kwh: 'double',
  heatsink_temperature_c: 'real',
  igbt_temperature_c: 'real',
  cabinet_temperature_c: 'real',
  ambient_temperature_c: 'real',
  transformer_temperature_c: 'real',
  ac_breaker_closed: 'integer',
  dc_contactor_closed: 'integer',
  insulation_resistance_kohm: 'real',
  throttle_pct: 'real',
  throttle_source: 'bigint',
  control_place: 'text',
  alarm_1: 'bigint',
  alarm_2: 'bigint',
  alarm_3: 'bigint',
  alarm_4: 'bigint',
  alarm_5: 'bigint',
} as const satisfies Columns

const cluster = {
  state: 'text',
  soc_pct: 'real',
  soh_pct: 'real',
  voltage_v: 'real',
  current_a: 'real',
  cell_voltage_min_mv: 'real',
  cell_voltage_max_mv: 'real',
  cell_voltage_avg_mv: 'real',
  cell_voltage_min_module_idx: 'integer',
  cell_voltage_max_module_idx: 'integer',
  cell_temperature_min_c: 'real',
  cell_temperature_max_c: 'real',
  cell_temperature_avg_c: 'real',
  cell_temperature_min_module_idx: 'integer',
  cell_temperature_max_module_idx: 'integer',
  insulation_positive_kohm: 'real',
  insulation_negative_kohm: 'real',
  max_charge_current_a: 'real',
  max_discharge_current_a: 'real',
  cycle_count: 'real',
  balancing_cell_count: 'integer',
  positive_contactor_closed: 'integer',
  negative_contactor_closed: 'integer',
  precharge_contactor_closed: 'integer',
  connection_failure: 'text',
  alarm_1: 'bigint',
  alarm_2: 'bigint',
} as const satisfies Columns

/** One cluster, in the order of its modules and of the cells or sensors within each. */
const cells = {
  cell_voltage_mv: 'real[]',
  cell_temperature_c: 'real[]',
  /** 1 for a cell that is being balanced, else 0. */
  cell_balancing: 'real[]',
  module_voltage_v: 'real[]',
  module_soc_pct: 'real[]',
  module_soh_pct: 'real[]',
} as const satisfies Columns

/**
 * The kinds of reading. `keys` name the device (and, for strings, the first string of the range
 * that one combiner or inverter reports); with `measured_at` they are unique within a site.
 */
export const readingKinds = {
  inverter: { table: 'inverter_readings', keys: ['inverter_id'], columns: inverter },
  string: {
    table: 'string_readings',
    keys: ['inverter_id', 'first_string_index'],
    columns: string,
  },
  meter: { table: 'meter_readings', keys: ['meter_id'], columns: meter },
  weather: { table: 'weather_readings', keys: ['station_id'], columns: weather },
  logger: { table: 'logger_readings', keys: ['logger_id'], columns: logger },
  node: { table: 'node_readings', keys: ['node_number'], columns: node },
  bess: { table: 'bess_readings', keys: ['bess_id'], columns: bess },
  pcs: { table: 'pcs_readings', keys: ['bess_id', 'pcs_idx'], columns: pcs },
  cluster: { table: 'cluster_readings', keys: ['bess_id', 'cluster_idx'], columns: cluster },
  cells: { table: 'cells_readings', keys: ['bess_id', 'cluster_idx'], columns: cells },
} as const

export const readingWords = {
  inverter: { state: inverterStates, limited_by: limiters },
  bess: {
    state: batteryStates,
    contactor_state: contactorStates,
    fire_system_state: fireStates,
    control_place: controlPlaces,
  },
  pcs: { state: pcsStates, grid_mode: gridModes, control_place: controlPlaces },
  cluster: { state: clusterStates, connection_failure: connectionFailures },
} as const satisfies Partial<
  Record<keyof typeof readingKinds, Readonly<Record<string, readonly string[]>>>
>

export type ReadingKind = keyof typeof readingKinds

/** Instant of measurement at the edge (Unix ms), and quality. */
interface Sample {
  measured_at: number
  quality: Quality
}

type Kinds = typeof readingKinds

export type ReadingOf = {
  [Kind in ReadingKind]: { [Key in Kinds[Kind]['keys'][number]]: number } & Sample &
    Measured<Kinds[Kind]['columns']>
}

export type InverterReading = ReadingOf['inverter']
export type StringReading = ReadingOf['string']
export type MeterReading = ReadingOf['meter']
export type WeatherReading = ReadingOf['weather']
export type LoggerReading = ReadingOf['logger']
export type NodeReading = ReadingOf['node']
export type BessReading = ReadingOf['bess']
export type PcsReading = ReadingOf['pcs']
export type ClusterReading = ReadingOf['cluster']
export type CellsReading = ReadingOf['cells']

/** All columns of a kind in the order of the link and of COPY: keys, time, quality, values. */
export function columnsOf(kind: ReadingKind): readonly string[] {
  const { keys, columns } = readingKinds[kind]
  return [...keys, 'measured_at', 'quality', ...Object.keys(columns)]
}

/** A reading in which every value is null. */
export function emptyReading<Kind extends ReadingKind>(
  kind: Kind,
): { [Name in keyof (typeof readingKinds)[Kind]['columns']]: null } {
  const names = Object.keys(readingKinds[kind].columns)
  return Object.fromEntries(names.map((name) => [name, null])) as never
}
