/**
 * What each measured column means, with unit and sign, and the schemas that follow from the columns
 * of `readingKinds`: a column is named there and explained here, and nowhere else.
 */
import {
  type ColumnType,
  inverterStates,
  limiters,
  qualities,
  readingKinds,
} from '@heliograph/domain/readings'
import { type TSchema, Type } from 'typebox'
import { Nullable } from '../http/params.ts'

type Kinds = typeof readingKinds
type Columns<Kind extends keyof Kinds> = Kinds[Kind]['columns']
type QuantityName = { [Kind in keyof Kinds]: keyof Columns<Kind> }[keyof Kinds]

const quantities: Readonly<Record<QuantityName, string>> = {
  state: 'Operating state as the inverter reports it, in the terms of SunSpec.',
  state_vendor_code: "The manufacturer's own code of the state.",
  ac_power_kw: 'AC active power, kW; positive towards the grid.',
  active_power_kw: 'Active power, kW; positive is export to the grid, negative import.',
  reactive_power_kvar: 'Reactive power, kvar; positive is injected (over-excited).',
  apparent_power_kva: 'Apparent power, kVA.',
  power_factor: 'Power factor, -1 to 1.',
  frequency_hz: 'Grid frequency, Hz.',
  voltage_l1_l2_v: 'Voltage between phases L1 and L2, V.',
  voltage_l2_l3_v: 'Voltage between phases L2 and L3, V.',
  voltage_l3_l1_v: 'Voltage between phases L3 and L1, V.',
  voltage_l1_n_v: 'Voltage of phase L1 to neutral, V.',
  voltage_l2_n_v: 'Voltage of phase L2 to neutral, V.',
  voltage_l3_n_v: 'Voltage of phase L3 to neutral, V.',
  current_l1_a: 'AC current of phase L1, A.',
  current_l2_a: 'AC current of phase L2, A.',
  current_l3_a: 'AC current of phase L3, A.',
  dc_power_kw: 'DC power from the panels, kW.',
  dc_voltage_v: 'DC voltage, V.',
  dc_current_a: 'DC current, A.',
  energy_total_kwh: 'Counter of the energy delivered since the device was made, kWh, as it stands.',
  energy_export_kwh: 'Counter of the energy exported to the grid, kWh, as it stands.',
  energy_import_kwh: 'Counter of the energy imported from the grid, kWh, as it stands.',
  cabinet_temperature_c: 'Temperature in the cabinet, °C.',
  heatsink_temperature_c: 'Temperature of the heat sink, °C.',
  transformer_temperature_c: 'Temperature of the transformer, °C.',
  insulation_resistance_kohm: 'Insulation resistance of the DC side to earth, kΩ.',
  available_power_kw: 'Power that could be delivered now without any limit, kW.',
  power_limit_pct:
    'Limit of the active power that the device obeys, % of its rated power; null where the grid ' +
    'permit is what holds it.',
  limited_by:
    'What holds its limit down: `curtailment`, a row of /curtailment; `permit`, the grid permit; ' +
    '`external`, something that this system did not set; `none`; `unknown`.',
  alarm_1: 'First alarm word as read, 0 to 4294967295; see /inverters/alarms/decode.',
  alarm_2: 'Second alarm word as read, 0 to 4294967295.',
  alarm_3: 'Third alarm word as read, 0 to 4294967295.',
  alarm_4: 'Fourth alarm word as read, 0 to 4294967295.',
  alarm_5: 'Fifth alarm word as read, 0 to 4294967295.',
  mppt_voltage_v: 'DC voltage of each MPPT, V, from MPPT 0 on.',
  mppt_current_a: 'DC current of each MPPT, A, from MPPT 0 on.',
  mppt_power_kw: 'DC power of each MPPT, kW, from MPPT 0 on.',
  mppt_temperature_c: 'Temperature of each MPPT, °C, from MPPT 0 on.',
  mppt_energy_total_kwh: 'Energy counter of each MPPT, kWh, from MPPT 0 on.',
  current_a: 'DC current of the string, A; negative flows into the string.',
  voltage_v: 'DC voltage of the string, V.',
  poa_irradiance_w_m2: 'Irradiance in the plane of the panels, W/m².',
  ghi_w_m2: 'Global horizontal irradiance, W/m².',
  dhi_w_m2: 'Diffuse horizontal irradiance, W/m².',
  module_temperature_c: 'Temperature of the back of the panels, °C.',
  ambient_temperature_c: 'Air temperature, °C.',
  relative_humidity_pct: 'Relative humidity of the air, %.',
  pressure_hpa: 'Air pressure at the station, hPa.',
  wind_speed_m_s: 'Wind speed, m/s.',
  wind_direction_deg: 'Direction from which the wind blows, degrees clockwise from north.',
  rain_mm: 'Rain, mm: of a reading the counter of the gauge as it stands, of a span what fell.',
  instrument_values: 'Value of each instrument, in the order in which the station lists them.',
  channel_values: 'Value of each channel, in the order in which the node lists them.',
  inverters_online: 'Inverters that answered the logger.',
  inverters_total: 'Inverters of the logger.',
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

/** What every reading of a history carries beside what was measured. */
export const readingFrame = {
  measured_at: Type.String({ format: 'date-time', description: 'When the edge measured this.' }),
  quality: Type.Enum([...qualities], {
    description: '`suspect`: measured, but it may not be right; `estimated`: not measured.',
  }),
}

/** What a column of text may say. */
const words: Partial<Record<QuantityName, readonly string[]>> = {
  state: inverterStates,
  limited_by: limiters,
}

/** The schema of one quantity under a name of its own: a number, `null` when not measured. */
export const quantity = (name: QuantityName) =>
  Nullable(Type.Number({ description: quantities[name] }))

/** The schemas of every column of a kind of reading; each is `null` when it was not measured. */
export function measured<Kind extends keyof Kinds>(kind: Kind): Measured<Kind> {
  const columns = Object.entries(readingKinds[kind].columns) as [QuantityName, ColumnType][]
  return Object.fromEntries(
    columns.map(([name, type]) => [name, schemaOf(name, type)]),
  ) as unknown as Measured<Kind>
}

function schemaOf(name: QuantityName, type: ColumnType): TSchema {
  const description = quantities[name]
  if (type.endsWith('[]')) return Nullable(Type.Array(Nullable(Type.Number()), { description }))
  if (type === 'text') return Nullable(Type.Enum([...words[name]!], { description }))
  if (type === 'integer' || type === 'bigint') return Nullable(Type.Integer({ description }))
  return Nullable(Type.Number({ description }))
}
