/** Compares expected and measured values of one string at one instant. */

import type { PlaneLight } from '../../telemetry/weather/plane-light.ts'
import {
  type CellConditions,
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

export type IvPoint = ReturnType<typeof ivPoint>

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

/** Expected values are null without irradiance or cell temperature; deviations are in percent. */
export function ivPoint(string: StringModel, light: PlaneLight, measurement: StringMeasurement) {
  const { measured_at, current_a, voltage_v } = measurement
  const { poa_irradiance_w_m2, effective_irradiance_w_m2, cell_temperature_c } = light
  const is_missing = current_a === null || voltage_v === null
  const measured_power_kw = is_missing ? null : (current_a * voltage_v) / 1000
  const conditions =
    effective_irradiance_w_m2 === null || cell_temperature_c === null
      ? null
      : { effective_irradiance_w_m2, cell_temperature_c }
  const expected = expectedIn(string, conditions, light.is_night)
  const is_comparable =
    !light.is_night &&
    !measurement.is_stale &&
    (expected.expected_p_mp_kw ?? 0) >= compared_ratio_min * ratedPowerKw(string)
  /** Whether a limit or the rating kept the inverter off the maximum power point. */
  const curtailed = measurement.is_curtailed || measurement.is_clipped
  const deviation = (measured: number | null, expected: number | null) =>
    !is_comparable || measured === null || expected === null || !(expected > 0)
      ? null
      : 100 * (measured / expected - 1)
  /** Null while limited. */
  const fromMaximum: typeof deviation = (measured, expected) =>
    curtailed ? null : deviation(measured, expected)
  const expected_current_at_voltage_a =
    conditions === null || voltage_v === null
      ? null
      : expectedCurrentAtVoltage(string, conditions, voltage_v)
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
    current_deviation_pct: fromMaximum(current_a, expected.expected_i_mp_a),
    voltage_deviation_pct: fromMaximum(voltage_v, expected.expected_v_mp_v),
    power_deviation_pct: fromMaximum(measured_power_kw, expected.expected_p_mp_kw),
    current_deviation_at_voltage_pct: deviation(current_a, expected_current_at_voltage_a),
    curtailed,
    flags: flagsOf(light, measurement, is_missing),
  }
}

/** The expectation is 0 at night, with or without measurements. */
function expectedIn(
  string: StringModel,
  conditions: CellConditions | null,
  is_night: boolean,
): Record<keyof ExpectedString, number | null> {
  if (conditions !== null && !is_night) return expectedString(string, conditions)
  const value = is_night ? 0 : null
  return {
    expected_i_mp_a: value,
    expected_v_mp_v: value,
    expected_p_mp_kw: value,
    expected_i_sc_a: value,
    expected_v_oc_v: value,
  }
}

function flagsOf(light: PlaneLight, measurement: StringMeasurement, is_missing: boolean): IvFlag[] {
  const { is_night, poa_irradiance_w_m2, cell_temperature_c } = light
  const is_unknown = poa_irradiance_w_m2 === null || cell_temperature_c === null
  const is_low = poa_irradiance_w_m2 !== null && poa_irradiance_w_m2 < low_irradiance_w_m2
  const raised: Record<IvFlag, boolean> = {
    night: is_night,
    no_irradiance: !is_night && is_unknown,
    low_irradiance: !is_night && is_low,
    curtailed: measurement.is_curtailed,
    clipped: measurement.is_clipped,
    stale: measurement.is_stale,
    missing: is_missing,
  }
  return ivFlags.filter((flag) => raised[flag])
}
