/** What a device can have measured: a value outside its range becomes `null`, with a reason. */
import type { Complaint } from './driver.ts'

export type Range = readonly [min: number, max: number]

const alternating_voltage: Range = [0, 50_000]
const direct_voltage: Range = [-100, 3000]
const current: Range = [-50_000, 50_000]
const temperature: Range = [-60, 250]
const outdoor_temperature: Range = [-70, 120]
const irradiance: Range = [-50, 2500]
const energy: Range = [0, 1e10]
const percent: Range = [0, 110]

/** Ranges by the names of reading columns, in their units; wide enough for every true value. */
const ranges: Readonly<Record<string, Range>> = {
  power_factor: [-1.01, 1.01],
  frequency_hz: [0, 100],
  voltage_l1_l2_v: alternating_voltage,
  voltage_l2_l3_v: alternating_voltage,
  voltage_l3_l1_v: alternating_voltage,
  voltage_l1_n_v: alternating_voltage,
  voltage_l2_n_v: alternating_voltage,
  voltage_l3_n_v: alternating_voltage,
  current_l1_a: current,
  current_l2_a: current,
  current_l3_a: current,
  dc_voltage_v: direct_voltage,
  dc_current_a: current,
  energy_total_kwh: energy,
  energy_export_kwh: energy,
  energy_import_kwh: energy,
  cabinet_temperature_c: temperature,
  heatsink_temperature_c: temperature,
  transformer_temperature_c: temperature,
  power_limit_pct: percent,
  mppt_voltage_v: direct_voltage,
  mppt_current_a: current,
  mppt_temperature_c: temperature,
  mppt_energy_total_kwh: energy,
  current_a: [-1000, 1000],
  voltage_v: direct_voltage,
  poa_irradiance_w_m2: irradiance,
  ghi_w_m2: irradiance,
  dhi_w_m2: irradiance,
  module_temperature_c: [-70, 150],
  ambient_temperature_c: outdoor_temperature,
  relative_humidity_pct: percent,
  pressure_hpa: [300, 1200],
  wind_speed_m_s: [0, 120],
  wind_direction_deg: [0, 360],
  rain_mm: [0, 100_000],
}

type Measured = Readonly<Record<string, unknown>>

/**
 * The same values, those outside their range (in `extra` for columns whose range depends on the
 * device) as `null`. Each is complained of once, arrays by the index of the element.
 */
export function plausible<Values extends object>(
  values: Values,
  complaints: Complaint[],
  extra: Readonly<Record<string, Range>> = {},
): Values {
  const check = (name: string, value: unknown, point: string): unknown => {
    const range = extra[name] ?? ranges[name]
    if (typeof value !== 'number' || !range) return value
    if (value >= range[0] && value <= range[1]) return value
    complaints.push({ point, reason: `${value} is outside ${range[0]} to ${range[1]}` })
    return null
  }
  const entries = Object.entries(values as Measured).map(([name, value]) => [
    name,
    Array.isArray(value)
      ? value.map((element, index) => check(name, element, `${name}[${index}]`))
      : check(name, value, name),
  ])
  return Object.fromEntries(entries) as Values
}
