/** Meaning, unit, sign and example of the measured columns of `readingKinds`, and their schemas. */

import {
  type ColumnType,
  qualities,
  type ReadingKind,
  readingKinds,
  readingWords,
} from '@heliograph/domain/readings'
import { type TSchema, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Nullable } from '../http/params.ts'

type Kinds = typeof readingKinds
type Columns<Kind extends keyof Kinds> = Kinds[Kind]['columns']
type QuantityName = { [Kind in keyof Kinds]: keyof Columns<Kind> }[keyof Kinds]

const quantities: Readonly<
  Record<QuantityName, readonly [meaning: string, example?: number | string]>
> = {
  state: ['Operating state as the device reports it, in the terms of SunSpec.', 'mppt'],
  state_vendor_code: ["The manufacturer's own code of the state.", 4],
  ac_power_kw: ['AC active power, kW; positive towards the grid.', 33.1],
  active_power_kw: ['Active power, kW; positive is export to the grid, negative import.'],
  reactive_power_kvar: ['Reactive power, kvar; positive is injected (over-excited).', -0.4],
  apparent_power_kva: ['Apparent power, kVA.', 33.1],
  power_factor: ['Power factor, -1 to 1.', 1],
  frequency_hz: ['Grid frequency, Hz.', 50.01],
  voltage_l1_l2_v: [
    'Voltage L1 to L2, V; the mean of all phases if single ones are not measured.',
    801.2,
  ],
  voltage_l2_l3_v: ['Voltage L2 to L3, V.', 800.4],
  voltage_l3_l1_v: ['Voltage L3 to L1, V.', 801.9],
  voltage_l1_n_v: [
    'Voltage L1 to neutral, V; the mean of all phases if single ones are not measured.',
  ],
  voltage_l2_n_v: ['Voltage L2 to neutral, V.'],
  voltage_l3_n_v: ['Voltage L3 to neutral, V.'],
  current_l1_a: ['AC current of L1, A; an equal share if single phases are not measured.', 23.9],
  current_l2_a: ['AC current of L2, A.', 23.8],
  current_l3_a: ['AC current of L3, A.', 23.9],
  dc_power_kw: ['DC power from the panels, kW.', 33.7],
  dc_voltage_v: ['DC voltage, V.', 842],
  dc_current_a: ['DC current, A.', 40],
  energy_total_kwh: ['Lifetime counter of the delivered energy, kWh.', 81234.5],
  energy_export_kwh: ['Counter of the energy exported to the grid, kWh.'],
  energy_import_kwh: ['Counter of the energy imported from the grid, kWh.'],
  cabinet_temperature_c: ['Temperature in the cabinet, °C.', 41.5],
  heatsink_temperature_c: ['Temperature of the heat sink, °C.', 52],
  transformer_temperature_c: ['Temperature of the transformer, °C.'],
  insulation_resistance_kohm: ['Insulation resistance of the DC side to earth, kΩ.', 1850],
  available_power_kw: ['Power available without any limit, kW.'],
  power_limit_pct: ['Power limit in effect at the device, % of rated power.', 100],
  limited_by: [
    'What sets the limit: `curtailment`, a row of /curtailment; `permit`, the grid permit; ' +
      '`external`, a limit that this system did not set; `none`; `unknown`.',
    'none',
  ],
  alarm_1: ['First alarm word as read, 0 to 4294967295; see /inverters/alarms/decode.', 128],
  alarm_2: ['Second alarm word as read, 0 to 4294967295.', 0],
  alarm_3: ['Third alarm word as read, 0 to 4294967295.', 0],
  alarm_4: ['Fourth alarm word as read, 0 to 4294967295.', 0],
  alarm_5: ['Fifth alarm word as read, 0 to 4294967295.'],
  mppt_voltage_v: ['DC voltage of each MPPT, V, from MPPT 0 on.'],
  mppt_current_a: ['DC current of each MPPT, A, from MPPT 0 on.'],
  mppt_power_kw: ['DC power of each MPPT, kW, from MPPT 0 on.'],
  mppt_temperature_c: ['Temperature of each MPPT, °C, from MPPT 0 on.'],
  mppt_energy_total_kwh: ['Energy counter of each MPPT, kWh, from MPPT 0 on.'],
  current_a: ['DC current of the string, A; negative flows into the string.', 10.1],
  voltage_v: ['DC voltage of the string, V.', 842],
  poa_irradiance_w_m2: ['Irradiance in the plane of the panels, W/m².', 861],
  ghi_w_m2: ['Global horizontal irradiance, W/m².', 812],
  dhi_w_m2: ['Diffuse horizontal irradiance, W/m².', 121],
  module_temperature_c: ['Temperature of the back of the panels, °C.', 47.2],
  ambient_temperature_c: ['Air temperature, °C.', 24.8],
  relative_humidity_pct: ['Relative humidity of the air, %.', 41],
  pressure_hpa: ['Air pressure at the station, hPa.', 968],
  wind_speed_m_s: ['Wind speed, m/s.', 2],
  wind_direction_deg: ['Direction from which the wind blows, degrees clockwise from north.', 245],
  rain_mm: ['Rain, mm: the counter of the gauge in a reading, the rainfall in a span.'],
  instrument_values: ['Value of each instrument, in the order in which the station lists them.'],
  channel_values: ['Value of each channel, in the order in which the node lists them.'],
  inverters_online: ['Inverters that responded to the logger.', 4],
  inverters_total: ['Inverters of the logger.', 4],
  power_kw: ['Power of the battery at its connection, kW; positive when it discharges.', 100],
  setpoint_kw: ['Power setpoint, kW; positive is discharge.', 100],
  setpoint_kvar: ['Reactive power setpoint, kvar.'],
  soc_pct: ['State of charge, % of the current capacity.', 60],
  soh_pct: ['State of health, % of the capacity when new.', 98],
  available_energy_kwh: [
    'Energy stored in the cells, kWh, as reported by the device on its DC side. Discharge losses ' +
      'leave less at the connection.',
  ],
  energy_to_full_kwh: [
    'Energy that the cells can still store up to the maximum charge of the device, kWh, on its DC ' +
      'side. Charging takes more from the connection.',
  ],
  max_charge_power_kw: ['Maximum charging power now, kW, as reported by the device; from 0.', 180],
  max_discharge_power_kw: ['Maximum discharging power now, kW, as reported by the device; from 0.'],
  max_charge_current_a: ['Maximum charging current now, A; from 0.'],
  max_discharge_current_a: ['Maximum discharging current now, A; from 0.'],
  charged_total_kwh: ['Counter of the charged energy, kWh.'],
  discharged_total_kwh: ['Counter of the discharged energy, kWh.'],
  cycle_count: ['Full cycles as counted by the device.'],
  cell_voltage_min_mv: ['Lowest voltage of a cell, mV.', 3290],
  cell_voltage_max_mv: ['Highest voltage of a cell, mV.', 3304],
  cell_voltage_avg_mv: ['Mean voltage of the cells, mV.'],
  cell_temperature_min_c: ['Lowest temperature of a cell, °C.'],
  cell_temperature_max_c: ['Highest temperature of a cell, °C.'],
  cell_temperature_avg_c: ['Mean temperature of the cells, °C.'],
  cell_voltage_min_cluster_idx: ['Cluster of the cell with the lowest voltage, from 0.'],
  cell_voltage_min_module_idx: ['Module, within its cluster, of that cell, from 0.'],
  cell_voltage_max_cluster_idx: ['Cluster of the cell with the highest voltage, from 0.'],
  cell_voltage_max_module_idx: ['Module, within its cluster, of that cell, from 0.'],
  cell_temperature_min_cluster_idx: ['Cluster of the coldest cell, from 0.'],
  cell_temperature_min_module_idx: ['Module, within its cluster, of that cell, from 0.'],
  cell_temperature_max_cluster_idx: ['Cluster of the warmest cell, from 0.'],
  cell_temperature_max_module_idx: ['Module, within its cluster, of that cell, from 0.'],
  coolant_temperature_c: ['Temperature of the coolant, °C.'],
  igbt_temperature_c: ['Temperature of the power semiconductors, °C.'],
  contactor_state: ['State of the main contactors of the battery.'],
  fire_system_state: ['State of the fire alarm system.'],
  control_place: ['Control authority: local at the device, or remote by this system.'],
  heartbeat_ok: ['1: the heartbeat between device and edge is intact; 0: lost.'],
  grid_mode: ['Grid mode of the device.'],
  ac_breaker_closed: ['1: the breaker to the grid is closed; 0: open.'],
  dc_contactor_closed: ['1: the contactor to the battery is closed; 0: open.'],
  throttle_pct: ['Derating of the device, % of its rated power.'],
  throttle_source: ['Cause of the derating: bits as read.'],
  energy_injected_total_kwh: ['Counter of the energy fed into the grid, kWh.'],
  energy_absorbed_total_kwh: ['Counter of the energy taken from the grid, kWh.'],
  insulation_positive_kohm: ['Insulation resistance of the positive pole to earth, kΩ.'],
  insulation_negative_kohm: ['Insulation resistance of the negative pole to earth, kΩ.'],
  balancing_cell_count: ['Cells that are being balanced.'],
  positive_contactor_closed: ['1: the contactor of the positive pole is closed; 0: open.'],
  negative_contactor_closed: ['1: the contactor of the negative pole is closed; 0: open.'],
  precharge_contactor_closed: ['1: the contactor for pre-charging is closed; 0: open.'],
  connection_failure: ['Reason why the cluster could not be connected.'],
  cell_voltage_mv: ['Voltage of each cell, mV, module by module.'],
  cell_temperature_c: ['Temperature at each sensor, °C, module by module.'],
  cell_balancing: ['1 for each cell that is being balanced, else 0, module by module.'],
  module_voltage_v: ['Voltage of each module, V.'],
  module_soc_pct: ['State of charge of each module, %.'],
  module_soh_pct: ['State of health of each module, %.'],
}

type Null = ReturnType<typeof Type.Null>
type OrNull<Schema extends TSchema> = ReturnType<typeof Type.Union<[Schema, Null]>>
type NumberOrNull = OrNull<ReturnType<typeof Type.Number>>
type SchemaOf<Of extends ColumnType> = Of extends `${string}[]`
  ? OrNull<ReturnType<typeof Type.Array<NumberOrNull>>>
  : Of extends 'text'
    ? OrNull<ReturnType<typeof Type.String>>
    : NumberOrNull

type Measured<Kind extends keyof Kinds> = {
  [Name in keyof Columns<Kind>]: Columns<Kind>[Name] extends ColumnType
    ? SchemaOf<Columns<Kind>[Name]>
    : never
}

/** The fields of every reading of a history beside its measurements. */
export const readingFrame = {
  measured_at: field.At('When the edge measured the values.'),
  quality: field.OneOf(
    qualities,
    '`suspect`: measured but possibly wrong; `estimated`: not measured.',
  ),
}

/** The schema of one quantity: a number, null when not measured. */
export const quantity = (name: QuantityName) => Nullable(Type.Number(factsOf(name)))

function factsOf(name: QuantityName) {
  const [description, example] = quantities[name]
  return example === undefined ? { description } : { description, examples: [example] }
}

/** The schemas of the columns of a kind of reading; each is null when not measured. */
export function measured<Kind extends keyof Kinds>(kind: Kind): Measured<Kind> {
  const columns = Object.entries(readingKinds[kind].columns) as [QuantityName, ColumnType][]
  return Object.fromEntries(
    columns.map(([name, type]) => [name, schemaOf(kind, name, type)]),
  ) as unknown as Measured<Kind>
}

const wordsOf: Partial<Record<ReadingKind, Partial<Record<QuantityName, readonly string[]>>>> =
  readingWords

function schemaOf(kind: ReadingKind, name: QuantityName, type: ColumnType): TSchema {
  const facts = factsOf(name)
  if (type.endsWith('[]')) return Nullable(Type.Array(Nullable(Type.Number()), facts))
  if (type === 'text') return Nullable(Type.Enum([...wordsOf[kind]![name]!], facts))
  if (type === 'integer' || type === 'bigint') return Nullable(Type.Integer(facts))
  return Nullable(Type.Number(facts))
}
