/** Quantities that charts of a device offer, by the field of the reading. */
import type { SensorNode } from '@heliograph/sdk'

export interface Quantity {
  name: string
  label: string
  unit: string
  digits: number
}

export const quantityChoices = (quantities: readonly Quantity[]) =>
  quantities.map(({ name, label, unit }) => ({ value: name, label: `${label} (${unit})` }))

/** By the ending of a field; the first that fits. */
const units: readonly (readonly [ending: string, unit: string])[] = [
  ['_w_m2', 'W/m²'],
  ['_m_s', 'm/s'],
  ['_kwh', 'kWh'],
  ['_kvar', 'kvar'],
  ['_kw', 'kW'],
  ['_hz', 'Hz'],
  ['_pct', '%'],
  ['_hpa', 'hPa'],
  ['_kohm', 'kΩ'],
  ['_deg', '°'],
  ['_mm', 'mm'],
  ['_mv', 'mV'],
  ['_v', 'V'],
  ['_a', 'A'],
  ['_c', '°C'],
  ['power_factor', 'cos φ'],
]

export const unitOf = (field: string | null) =>
  units.find(([ending]) => field?.endsWith(ending))?.[1] ?? ''

const quantity = (name: string, label: string, digits = 1): Quantity => ({
  name,
  label,
  unit: unitOf(name),
  digits,
})

const mppt = (name: string, label: string, digits: number, count: number): Quantity[] =>
  Array.from({ length: count }, (_, nth) => ({
    ...quantity(name, `${label}, MPPT ${nth}`, digits),
    name: `${name}:${nth}`,
  }))

const power: readonly Quantity[] = [
  quantity('ac_power_kw', 'Power'),
  quantity('available_power_kw', 'Available power'),
  quantity('dc_power_kw', 'DC power'),
  quantity('reactive_power_kvar', 'Reactive power'),
  quantity('power_factor', 'Power factor', 3),
  quantity('frequency_hz', 'Frequency', 2),
]

export const plantQuantities: readonly Quantity[] = [
  ...power,
  quantity('poa_irradiance_w_m2', 'Irradiance', 0),
  quantity('module_temperature_c', 'Panel temperature'),
  quantity('ambient_temperature_c', 'Air temperature'),
]

/** From measured irradiance and temperature, by the hour; not a field of readings. */
export const expectedPower = quantity('expected_power_kw', 'Expected power')

export const inverterQuantities: readonly Quantity[] = [
  ...power,
  quantity('power_limit_pct', 'Device limit'),
  quantity('dc_voltage_v', 'DC voltage'),
  quantity('dc_current_a', 'DC current', 2),
  quantity('voltage_l1_l2_v', 'Voltage L1-L2'),
  quantity('voltage_l2_l3_v', 'Voltage L2-L3'),
  quantity('voltage_l3_l1_v', 'Voltage L3-L1'),
  quantity('current_l1_a', 'Current L1', 2),
  quantity('current_l2_a', 'Current L2', 2),
  quantity('current_l3_a', 'Current L3', 2),
  quantity('cabinet_temperature_c', 'Cabinet temperature'),
  quantity('heatsink_temperature_c', 'Heat sink temperature'),
  quantity('insulation_resistance_kohm', 'Insulation resistance', 0),
]

export const batteryQuantities: readonly Quantity[] = [
  quantity('power_kw', 'Power'),
  quantity('setpoint_kw', 'Setpoint'),
  quantity('max_discharge_power_kw', 'Maximum discharge'),
  quantity('max_charge_power_kw', 'Maximum charge'),
  quantity('soc_pct', 'State of charge'),
  quantity('soh_pct', 'State of health'),
  quantity('dc_voltage_v', 'DC voltage'),
  quantity('dc_current_a', 'DC current'),
  quantity('cell_voltage_max_mv', 'Highest cell', 0),
  quantity('cell_voltage_min_mv', 'Lowest cell', 0),
  quantity('cell_temperature_max_c', 'Hottest cell'),
  quantity('cell_temperature_min_c', 'Coldest cell'),
  quantity('ambient_temperature_c', 'Air temperature'),
  quantity('coolant_temperature_c', 'Coolant'),
  quantity('insulation_resistance_kohm', 'Insulation resistance', 0),
]

export const mpptQuantities = (count: number): readonly Quantity[] => [
  ...mppt('mppt_power_kw', 'DC power', 2, count),
  ...mppt('mppt_voltage_v', 'Voltage', 1, count),
  ...mppt('mppt_current_a', 'Current', 2, count),
]

export const stringQuantities: readonly Quantity[] = [
  quantity('current_a', 'Current', 2),
  quantity('voltage_v', 'Voltage', 0),
]

const switched: Partial<Record<string, string>> = { door: '1 = open', relay: '1 = on' }

export const nodeQuantities = ({ channels }: Pick<SensorNode, 'channels'>): readonly Quantity[] =>
  channels.map(({ label, unit, kind }, nth) => ({
    name: `channel_values:${nth}`,
    label,
    unit: unit ?? switched[kind] ?? '',
    digits: unit === null ? 0 : 1,
  }))
