/** Compares expected and measured values of one string at one instant. */

import type { PlaneLight } from '../../telemetry/weather/plane-light.ts'
import {
  type ExpectedString,
  expectedCurrentAtVoltage,
  expectedString,
  ratedPowerKw,
  type StringModel,
} from './expected-string.ts'

export const ivFlags = [
  'night',
  'no_irradiance',
  'low_irradiance',
  'curtailed',
  'clipped',
  'stale',
  'missing',
] as const
export type IvFlag = (typeof ivFlags)[number]

type Nullable<T> = { [Key in keyof T]: T[Key] | null }

/** Expected values are null without irradiance or cell temperature; deviations are in percent. */
export interface IvPoint extends Nullable<ExpectedString> {
  measured_at: string
  poa_irradiance_w_m2: number | null
  effective_irradiance_w_m2: number | null
  cell_temperature_c: number | null
  /** Current of a healthy string at the measured voltage; null where not significant. */
  expected_current_at_voltage_a: number | null
  measured_current_a: number | null
  measured_voltage_v: number | null
  measured_power_kw: number | null
  /** The next three deviations refer to the maximum power point and are null while limited. */
  current_deviation_pct: number | null
  voltage_deviation_pct: number | null
  power_deviation_pct: number | null
  /** Valid while limited, too. */
  current_deviation_at_voltage_pct: number | null
  /** Whether a limit or the rating kept the inverter off the maximum power point. */
  curtailed: boolean
  flags: IvFlag[]
}

export interface StringMeasurement {
  /** RFC 3339. */
  measured_at: string
  current_a: number | null
  /** Voltage of the MPPT of the string. */
  voltage_v: number | null
  is_curtailed: boolean
  is_clipped: boolean
  /** Stale values are returned but not compared. */
  is_stale: boolean
}

/** Below it, instrument errors dominate the ratios of single instants. */
const low_irradiance_w_m2 = 200
/** Deviations are null below this share of the rated power (and current). */
const compared_ratio_min = 0.05

export function ivPoint(
  string: StringModel,
  light: PlaneLight,
  measurement: StringMeasurement,
): IvPoint {
  const { measured_at, current_a, voltage_v } = measurement
  const { poa_irradiance_w_m2, effective_irradiance_w_m2, cell_temperature_c } = light
  const is_missing = current_a === null || voltage_v === null
  const measured_power_kw = is_missing ? null : (current_a * voltage_v) / 1000
  const expected = expectedIn(string, light)
  const isComparable =
    !light.is_night &&
    !measurement.is_stale &&
    (expected.expected_p_mp_kw ?? 0) >= compared_ratio_min * ratedPowerKw(string)
  const isLimited = measurement.is_curtailed || measurement.is_clipped
  const isAtMaximum = isComparable && !isLimited
  const expected_current_at_voltage_a =
    effective_irradiance_w_m2 === null || cell_temperature_c === null || voltage_v === null
      ? null
      : expectedCurrentAtVoltage(
          string,
          { effective_irradiance_w_m2, cell_temperature_c },
          voltage_v,
        )
  return {
    measured_at,
    poa_irradiance_w_m2,
    effective_irradiance_w_m2,
    cell_temperature_c,
    ...expected,
    expected_current_at_voltage_a,
    measured_current_a: current_a,
    measured_voltage_v: voltage_v,
    measured_power_kw,
    current_deviation_pct: isAtMaximum ? deviation(current_a, expected.expected_i_mp_a) : null,
    voltage_deviation_pct: isAtMaximum ? deviation(voltage_v, expected.expected_v_mp_v) : null,
    power_deviation_pct: isAtMaximum
      ? deviation(measured_power_kw, expected.expected_p_mp_kw)
      : null,
    current_deviation_at_voltage_pct: isComparable
      ? deviation(current_a, expected_current_at_voltage_a)
      : null,
    curtailed: isLimited,
    flags: flagsOf(light, measurement, is_missing),
  }
}

const no_expectation: Nullable<ExpectedString> = {
  expected_i_mp_a: null,
  expected_v_mp_v: null,
  expected_p_mp_kw: null,
  expected_i_sc_a: null,
  expected_v_oc_v: null,
}

const nothing: ExpectedString = {
  expected_i_mp_a: 0,
  expected_v_mp_v: 0,
  expected_p_mp_kw: 0,
  expected_i_sc_a: 0,
  expected_v_oc_v: 0,
}

/** The expectation is 0 at night, with or without measurements. */
function expectedIn(string: StringModel, light: PlaneLight): Nullable<ExpectedString> {
  const { effective_irradiance_w_m2, cell_temperature_c, is_night } = light
  if (is_night) return nothing
  if (effective_irradiance_w_m2 === null || cell_temperature_c === null) return no_expectation
  return expectedString(string, { effective_irradiance_w_m2, cell_temperature_c })
}

function deviation(measured: number | null, expected: number | null): number | null {
  if (measured === null || expected === null || !(expected > 0)) return null
  return 100 * (measured / expected - 1)
}

function flagsOf(light: PlaneLight, measurement: StringMeasurement, is_missing: boolean): IvFlag[] {
  const { is_night, poa_irradiance_w_m2, cell_temperature_c } = light
  const isDark = !is_night && (poa_irradiance_w_m2 === null || cell_temperature_c === null)
  const isLow =
    !is_night && poa_irradiance_w_m2 !== null && poa_irradiance_w_m2 < low_irradiance_w_m2
  const raised: Record<IvFlag, boolean> = {
    night: is_night,
    no_irradiance: isDark,
    low_irradiance: isLow,
    curtailed: measurement.is_curtailed,
    clipped: measurement.is_clipped,
    stale: measurement.is_stale,
    missing: is_missing,
  }
  return ivFlags.filter((flag) => raised[flag])
}
