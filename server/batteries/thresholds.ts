/** Thresholds of alarms: the value set in the device, and the measured value compared with it. */
import type { AlarmRow } from '@heliograph/domain/alarms/table'
import type { Measures, Protection } from './alarm-words.ts'

type Parameter = Protection[number]['parameter']
type Unit = Protection[number]['unit']

interface Subject {
  parameter: Parameter
  unit: Unit
  measure: (measured: Measures) => number | null | undefined
}

const levels = { 1: 'pre_alarm', 2: 'level_1', 3: 'level_2' } as const

const difference = (most?: number | null, least?: number | null) =>
  most == null || least == null ? null : most - least
/** Positive discharges. */
const current = (sign: 1 | -1) => (measured: Measures) =>
  measured.dc_current_a == null ? null : Math.max(0, sign * measured.dc_current_a)

/** Subjects by the codes of SunSpec's battery models; the first that the device has applies. */
const subjects: readonly [code: RegExp, ...Subject[]][] = [
  [
    /^OVER_TEMP_/,
    {
      parameter: 'cell_over_temperature',
      unit: 'C',
      measure: (measured) => measured.cell_temperature_max_c,
    },
  ],
  [
    /^UNDER_TEMP_/,
    {
      parameter: 'cell_under_temperature',
      unit: 'C',
      measure: (measured) => measured.cell_temperature_min_c,
    },
  ],
  [/^OVER_CHARGE_CURRENT_/, { parameter: 'charge_over_current', unit: 'A', measure: current(-1) }],
  [
    /^OVER_DISCHARGE_CURRENT_/,
    { parameter: 'discharge_over_current', unit: 'A', measure: current(1) },
  ],
  [
    /^OVER_VOLT_/,
    {
      parameter: 'cell_over_voltage',
      unit: 'mV',
      measure: (measured) => measured.cell_voltage_max_mv,
    },
    {
      parameter: 'system_over_voltage',
      unit: 'V',
      measure: (measured) => measured.dc_voltage_v,
    },
  ],
  [
    /^UNDER_VOLT_/,
    {
      parameter: 'cell_under_voltage',
      unit: 'mV',
      measure: (measured) => measured.cell_voltage_min_mv,
    },
    {
      parameter: 'system_under_voltage',
      unit: 'V',
      measure: (measured) => measured.dc_voltage_v,
    },
  ],
  [
    /^UNDER_SOC_MIN_/,
    { parameter: 'soc_low', unit: 'pct', measure: (measured) => measured.soc_pct },
  ],
  [
    /^OVER_SOC_MAX_/,
    { parameter: 'soc_high', unit: 'pct', measure: (measured) => measured.soc_pct },
  ],
  [
    /^VOLTAGE_IMBALANCE_/,
    {
      parameter: 'cell_voltage_difference',
      unit: 'mV',
      measure: (measured) => difference(measured.cell_voltage_max_mv, measured.cell_voltage_min_mv),
    },
  ],
  [
    /^TEMPERATURE_IMBALANCE_/,
    {
      parameter: 'temperature_difference',
      unit: 'C',
      measure: (measured) =>
        difference(measured.cell_temperature_max_c, measured.cell_temperature_min_c),
    },
  ],
  [
    /^GROUND_FAULT$/,
    {
      parameter: 'insulation_low',
      unit: 'kohm',
      measure: (measured) => measured.insulation_resistance_kohm,
    },
  ],
]

interface Threshold {
  raw_value: number | null
  threshold_value: number | null
  threshold_unit: Unit | null
}

/** Threshold of an alarm among the protection settings; all null without one. */
export function thresholdOf(
  { code, protection_level }: Pick<AlarmRow, 'code' | 'protection_level'>,
  protection: Protection,
  measured: Measures,
): Threshold {
  const [, ...candidates] = subjects.find(([pattern]) => pattern.test(code)) ?? []
  const level = levels[protection_level ?? 2]
  for (const { parameter, unit, measure } of candidates as Subject[]) {
    const set = protection.find(
      (one) => one.parameter === parameter && one.level === level && one.unit === unit,
    )
    if (!set) continue
    const raw_value = measure(measured) ?? null
    return { raw_value, threshold_value: set.trip_value, threshold_unit: unit }
  }
  return { raw_value: null, threshold_value: null, threshold_unit: null }
}
