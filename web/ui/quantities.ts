/** Quantities that charts of a device offer, by the field of the reading. */
import type { SensorNode } from '@heliograph/sdk'

export interface Quantity {
  name: string
  label: string
  unit: string
  digits?: number
}

export const quantityChoices = (quantities: readonly Quantity[]) =>
  quantities.map(({ name, label, unit }) => ({ value: name, label: `${label} (${unit})` }))

const mppt = (name: string, label: string, unit: string, digits: number, count: number) =>
  Array.from({ length: count }, (_, nth) => ({
    name: `${name}:${nth}`,
    label: `${label}, MPPT ${nth}`,
    unit,
    digits,
  }))

const power: readonly Quantity[] = [
  { name: 'ac_power_kw', label: 'Power', unit: 'kW' },
  { name: 'available_power_kw', label: 'Available power', unit: 'kW' },
  { name: 'dc_power_kw', label: 'DC power', unit: 'kW' },
  { name: 'reactive_power_kvar', label: 'Reactive power', unit: 'kvar' },
  { name: 'power_factor', label: 'Power factor', unit: 'cos φ', digits: 3 },
  { name: 'frequency_hz', label: 'Frequency', unit: 'Hz', digits: 2 },
]

export const plantQuantities: readonly Quantity[] = [
  ...power,
  { name: 'poa_irradiance_w_m2', label: 'Irradiance', unit: 'W/m²', digits: 0 },
  { name: 'module_temperature_c', label: 'Panel temperature', unit: '°C' },
  { name: 'ambient_temperature_c', label: 'Air temperature', unit: '°C' },
]

/** From measured irradiance and temperature, by the hour; not a field of readings. */
export const expectedPower: Quantity = {
  name: 'expected_power_kw',
  label: 'Expected power',
  unit: 'kW',
}

export const inverterQuantities: readonly Quantity[] = [
  ...power,
  { name: 'power_limit_pct', label: 'Device limit', unit: '%' },
  { name: 'dc_voltage_v', label: 'DC voltage', unit: 'V' },
  { name: 'dc_current_a', label: 'DC current', unit: 'A', digits: 2 },
  { name: 'voltage_l1_l2_v', label: 'Voltage L1-L2', unit: 'V' },
  { name: 'voltage_l2_l3_v', label: 'Voltage L2-L3', unit: 'V' },
  { name: 'voltage_l3_l1_v', label: 'Voltage L3-L1', unit: 'V' },
  { name: 'current_l1_a', label: 'Current L1', unit: 'A', digits: 2 },
  { name: 'current_l2_a', label: 'Current L2', unit: 'A', digits: 2 },
  { name: 'current_l3_a', label: 'Current L3', unit: 'A', digits: 2 },
  { name: 'cabinet_temperature_c', label: 'Cabinet temperature', unit: '°C' },
  { name: 'heatsink_temperature_c', label: 'Heat sink temperature', unit: '°C' },
  { name: 'insulation_resistance_kohm', label: 'Insulation resistance', unit: 'kΩ', digits: 0 },
]

export const batteryQuantities: readonly Quantity[] = [
  { name: 'power_kw', label: 'Power', unit: 'kW' },
  { name: 'setpoint_kw', label: 'Setpoint', unit: 'kW' },
  { name: 'max_discharge_power_kw', label: 'Maximum discharge', unit: 'kW' },
  { name: 'max_charge_power_kw', label: 'Maximum charge', unit: 'kW' },
  { name: 'soc_pct', label: 'State of charge', unit: '%' },
  { name: 'soh_pct', label: 'State of health', unit: '%' },
  { name: 'dc_voltage_v', label: 'DC voltage', unit: 'V' },
  { name: 'dc_current_a', label: 'DC current', unit: 'A' },
  { name: 'cell_voltage_max_mv', label: 'Highest cell', unit: 'mV', digits: 0 },
  { name: 'cell_voltage_min_mv', label: 'Lowest cell', unit: 'mV', digits: 0 },
  { name: 'cell_temperature_max_c', label: 'Hottest cell', unit: '°C' },
  { name: 'cell_temperature_min_c', label: 'Coldest cell', unit: '°C' },
  { name: 'ambient_temperature_c', label: 'Air temperature', unit: '°C' },
  { name: 'coolant_temperature_c', label: 'Coolant', unit: '°C' },
  { name: 'insulation_resistance_kohm', label: 'Insulation resistance', unit: 'kΩ', digits: 0 },
]

export const mpptQuantities = (count: number): readonly Quantity[] => [
  ...mppt('mppt_power_kw', 'DC power', 'kW', 2, count),
  ...mppt('mppt_voltage_v', 'Voltage', 'V', 1, count),
  ...mppt('mppt_current_a', 'Current', 'A', 2, count),
]

export const stringQuantities: readonly Quantity[] = [
  { name: 'current_a', label: 'Current', unit: 'A', digits: 2 },
  { name: 'voltage_v', label: 'Voltage', unit: 'V', digits: 0 },
]

const switched: Partial<Record<string, string>> = { door: '1 = open', relay: '1 = on' }

export const nodeQuantities = ({ channels }: Pick<SensorNode, 'channels'>): readonly Quantity[] =>
  channels.map(({ label, unit, kind }, nth) => ({
    name: `channel_values:${nth}`,
    label,
    unit: unit ?? switched[kind] ?? '',
    digits: unit === null ? 0 : 1,
  }))
