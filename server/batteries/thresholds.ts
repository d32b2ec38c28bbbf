/** Thresholds of alarms: the value set in the device, and the measured value compared with it. */
import type { AlarmRow } from '@heliograph/domain/alarms/table'
import type { Measures, Protection } from './alarm-words.ts'

type Setting = Protection[number]
type Measure = (measured: Measures) => number | null | undefined

const levels = { 1: 'pre_alarm', 2: 'level_1', 3: 'level_2' } as const

const difference = (most?: number | null, least?: number | null) =>
  most == null || least == null ? null : most - least

/** Positive discharges. */
const current = (sign: 1 | -1) => (measured: Measures) =>
  measured.dc_current_a == null ? null : Math.max(0, sign * measured.dc_current_a)

/** By the codes of SunSpec's battery models; the first parameter that the device has applies. */
const subjects: readonly [RegExp, Setting['parameter'], Setting['unit'], Measure][] = [
  [/^OVER_TEMP_/, 'cell_over_temperature', 'C', (of) => of.cell_temperature_max_c],
  [/^UNDER_TEMP_/, 'cell_under_temperature', 'C', (of) => of.cell_temperature_min_c],
  [/^OVER_CHARGE_CURRENT_/, 'charge_over_current', 'A', current(-1)],
  [/^OVER_DISCHARGE_CURRENT_/, 'discharge_over_current', 'A', current(1)],
  [/^OVER_VOLT_/, 'cell_over_voltage', 'mV', (of) => of.cell_voltage_max_mv],
  [/^OVER_VOLT_/, 'system_over_voltage', 'V', (of) => of.dc_voltage_v],
  [/^UNDER_VOLT_/, 'cell_under_voltage', 'mV', (of) => of.cell_voltage_min_mv],
  [/^UNDER_VOLT_/, 'system_under_voltage', 'V', (of) => of.dc_voltage_v],
  [/^UNDER_SOC_MIN_/, 'soc_low', 'pct', (of) => of.soc_pct],
  [/^OVER_SOC_MAX_/, 'soc_high', 'pct', (of) => of.soc_pct],
  [
    /^VOLTAGE_IMBALANCE_/,
    'cell_voltage_difference',
    'mV',
    (of) => difference(of.cell_voltage_max_mv, of.cell_voltage_min_mv),
  ],
  [
    /^TEMPERATURE_IMBALANCE_/,
    'temperature_difference',
    'C',
    (of) => difference(of.cell_temperature_max_c, of.cell_temperature_min_c),
  ],
  [/^GROUND_FAULT$/, 'insulation_low', 'kohm', (of) => of.insulation_resistance_kohm],
]

interface Threshold {
  raw_value: number | null
  threshold_value: number | null
  threshold_unit: Setting['unit'] | null
}

export const noThreshold: Threshold = {
  raw_value: null,
  threshold_value: null,
  threshold_unit: null,
}

/** Threshold of an alarm among the protection settings; all null without one. */
export function thresholdOf(
  { code, protection_level }: Pick<AlarmRow, 'code' | 'protection_level'>,
  protection: Protection,
  measured: Measures,
): Threshold {
  const level = levels[protection_level ?? 2]
  for (const [pattern, parameter, unit, measure] of subjects) {
    const set = protection.find(
      (one) => one.parameter === parameter && one.level === level && one.unit === unit,
    )
    if (!set || !pattern.test(code)) continue
    const raw_value = measure(measured) ?? null
    return { raw_value, threshold_value: set.trip_value, threshold_unit: unit }
  }
  return noThreshold
}
