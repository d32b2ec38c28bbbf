import type { Inverter } from '@heliograph/sdk'
import {
  formatAge,
  formatEnergy,
  formatNumber,
  formatPower,
  formatQuantity,
  none,
} from '../../../ui/format.ts'
import { limitWords } from '../../../ui/plant-words.tsx'

/** Several values with one unit, such as those of the phases. */
function three(values: readonly (number | null)[], unit: string, digits: number): string {
  if (values.every((value) => value === null)) return none
  return `${values.map((value) => formatNumber(value, digits)).join(' / ')}\u00a0${unit}`
}

export const nowOf = (now: Inverter): [string, string][] => [
  ['Power', formatPower(now.ac_power_kw)],
  ['Available', formatPower(now.available_power_kw)],
  ['DC power', formatPower(now.dc_power_kw)],
  ['Efficiency', formatQuantity(now.efficiency_pct, '%')],
  ['Energy today', formatEnergy(now.energy_today_kwh)],
  ['Yield today', formatQuantity(now.specific_yield_today_kwh_kwp, 'kWh/kWp', 2)],
  ['Limited by', limitWords(now.limited_by)],
  ['Device limit', formatQuantity(now.power_limit_pct, '%')],
  ['Reactive power', formatQuantity(now.reactive_power_kvar, 'kvar')],
  ['Power factor', formatNumber(now.power_factor, 3)],
  ['Frequency', formatQuantity(now.frequency_hz, 'Hz', 2)],
  ['DC voltage', formatQuantity(now.dc_voltage_v, 'V', 0)],
  [
    'Voltage L1-L2 / L2-L3 / L3-L1',
    three([now.voltage_l1_l2_v, now.voltage_l2_l3_v, now.voltage_l3_l1_v], 'V', 0),
  ],
  ['Current L1 / L2 / L3', three([now.current_l1_a, now.current_l2_a, now.current_l3_a], 'A', 1)],
  ['Cabinet / heat sink', three([now.cabinet_temperature_c, now.heatsink_temperature_c], '°C', 0)],
  ['Insulation resistance', formatQuantity(now.insulation_resistance_kohm, 'kΩ', 0)],
  ['Energy, total', formatEnergy(now.energy_total_kwh)],
  ['Last data', `${formatAge(now.age_s)}, ${now.quality}`],
]

export const factsOf = (inverter: Inverter): [string, string][] => [
  ['Manufacturer', inverter.manufacturer ?? none],
  ['Model', inverter.model ?? none],
  ['Serial number', inverter.serial_number ?? none],
  ['Firmware', inverter.firmware_version ?? none],
  ['Rated power', formatPower(inverter.rated_ac_power_kw)],
  ['DC capacity', formatQuantity(inverter.dc_capacity_kwp, 'kWp')],
  ['MPPTs and strings', `${inverter.mppt_count} and ${inverter.string_count}`],
  ['Maximum DC voltage', formatQuantity(inverter.max_dc_voltage_v, 'V', 0)],
]
