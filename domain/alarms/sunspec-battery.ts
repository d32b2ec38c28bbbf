import type { Severity } from '../link.ts'
import { type Alarm, type AlarmRow, alarmTable, graded } from './table.ts'

type Texts = readonly [name: string, description: string, recommended_action?: string]

const event =
  (severity: Severity, level: Pick<AlarmRow, 'protection_level' | 'affects_power'>) =>
  (bit: number, code: string, category: AlarmRow['category'], [name, description, action]: Texts) =>
    graded(severity)(bit, code, category, [
      name,
      description,
      { ...level, recommended_action: action ?? null },
    ])

const warning = event('warning', { protection_level: 1, affects_power: false })
/** The standard has one level above the warning. */
const alarm = event('critical', { protection_level: 2, affects_power: true })
/** Faults of components are no protection and have no level. */
const major = event('major', { affects_power: true })
const critical = event('critical', { affects_power: true })

/** The bits that Evt1 of model 802 and those of its strings have in common. */
const events: readonly Alarm[] = [
  major(0, 'COMMUNICATION_ERROR', 'communication', [
    'Communication error',
    'Parts of the battery do not answer its management system.',
    'Check the communication cables and the supply of the modules.',
  ]),
  alarm(1, 'OVER_TEMP_ALARM', 'temperature', [
    'Overtemperature',
    'A module is hotter than it may be.',
    'Stop the unit and check its cooling before it is used again.',
  ]),
  warning(2, 'OVER_TEMP_WARNING', 'temperature', [
    'Overtemperature, pre-alarm',
    'A module comes near the highest temperature it may have.',
    'Check cooling and filters; lower the power until it has cooled.',
  ]),
  alarm(3, 'UNDER_TEMP_ALARM', 'temperature', [
    'Undertemperature',
    'A module is colder than it may be.',
    'Check the heating; lithium cells are not to be charged when frozen.',
  ]),
  warning(4, 'UNDER_TEMP_WARNING', 'temperature', [
    'Undertemperature, pre-alarm',
    'A module comes near the lowest temperature it may have.',
    'Check the heating.',
  ]),
  alarm(5, 'OVER_CHARGE_CURRENT_ALARM', 'battery', [
    'Charge current too high',
    'The charge current is above what the battery allows at present.',
  ]),
  warning(6, 'OVER_CHARGE_CURRENT_WARNING', 'battery', [
    'Charge current too high, pre-alarm',
    'The charge current comes near what the battery allows at present.',
  ]),
  alarm(7, 'OVER_DISCHARGE_CURRENT_ALARM', 'battery', [
    'Discharge current too high',
    'The discharge current is above what the battery allows at present.',
  ]),
  warning(8, 'OVER_DISCHARGE_CURRENT_WARNING', 'battery', [
    'Discharge current too high, pre-alarm',
    'The discharge current comes near what the battery allows at present.',
  ]),
  alarm(9, 'OVER_VOLT_ALARM', 'battery', [
    'Overvoltage',
    'A voltage of the battery is above its upper limit.',
    'Let it not charge; discharge it and look for the cell that is ahead.',
  ]),
  warning(10, 'OVER_VOLT_WARNING', 'battery', [
    'Overvoltage, pre-alarm',
    'A voltage of the battery comes near its upper limit.',
  ]),
  alarm(11, 'UNDER_VOLT_ALARM', 'battery', [
    'Undervoltage',
    'A voltage of the battery is below its lower limit.',
    'Let it not discharge; charge it gently and look for the cell that is behind.',
  ]),
  warning(12, 'UNDER_VOLT_WARNING', 'battery', [
    'Undervoltage, pre-alarm',
    'A voltage of the battery comes near its lower limit.',
  ]),
  alarm(13, 'UNDER_SOC_MIN_ALARM', 'battery', [
    'State of charge below minimum',
    'The state of charge is below the lowest that the maker allows.',
    'Charge it soon.',
  ]),
  warning(14, 'UNDER_SOC_MIN_WARNING', 'battery', [
    'State of charge near minimum',
    'The state of charge comes near the lowest that the maker allows.',
  ]),
  alarm(15, 'OVER_SOC_MAX_ALARM', 'battery', [
    'State of charge above maximum',
    'The state of charge is above the highest that the maker allows.',
    'Discharge it soon.',
  ]),
  warning(16, 'OVER_SOC_MAX_WARNING', 'battery', [
    'State of charge near maximum',
    'The state of charge comes near the highest that the maker allows.',
  ]),
  warning(17, 'VOLTAGE_IMBALANCE_WARNING', 'battery', [
    'Voltages differ',
    'The voltages of cells or modules differ by more than they should.',
    'Let it balance at a high state of charge; look for a weak cell.',
  ]),
  alarm(18, 'TEMPERATURE_IMBALANCE_ALARM', 'temperature', [
    'Temperatures differ too much',
    'The temperatures of modules differ by more than they may.',
    'Check the cooling of the modules that are hottest.',
  ]),
  warning(19, 'TEMPERATURE_IMBALANCE_WARNING', 'temperature', [
    'Temperatures differ, pre-alarm',
    'The temperatures of modules differ by more than they should.',
    'Check the cooling of the modules that are hottest.',
  ]),
  critical(20, 'CONTACTOR_ERROR', 'internal', [
    'Contactor error',
    'A contactor is not as it was told to be.',
    'Do not open or touch anything: the DC side may be live. Call service.',
  ]),
  major(21, 'FAN_ERROR', 'fan', [
    'Fan error',
    'A fan does not turn as it should.',
    'Check the fan and its filter.',
  ]),
  critical(22, 'GROUND_FAULT', 'insulation', [
    'Ground fault',
    'The battery sees a fault to ground.',
    'Stop the unit and measure its insulation.',
  ]),
  major(23, 'OPEN_DOOR_ERROR', 'other', [
    'Door open',
    'A door that has to be shut is open.',
    'Shut the door.',
  ]),
  alarm(25, 'OTHER_ALARM', 'other', [
    'Other alarm',
    'An alarm of the maker’s own; the vendor words say which.',
  ]),
  warning(26, 'OTHER_WARNING', 'other', [
    'Other warning',
    'A warning of the maker’s own; the vendor words say which.',
  ]),
  alarm(28, 'CONFIGURATION_ALARM', 'internal', [
    'Configuration wrong',
    'The battery cannot work as it is configured.',
    'Compare its configuration with that of its commissioning.',
  ]),
  warning(29, 'CONFIGURATION_WARNING', 'internal', [
    'Configuration doubtful',
    'Something in the configuration of the battery is not as it should be.',
    'Compare its configuration with that of its commissioning.',
  ]),
]

const currentsDiffer = warning(24, 'CURRENT_IMBALANCE_WARNING', 'battery', [
  'Currents differ',
  'The currents of strings differ by more than they should.',
  'Look for a string whose contactor is open or whose cells are weak.',
])

const ofString = events.map((one) => ({
  ...one,
  description: one.description
    .replace('the battery', 'the string')
    .replace('The battery', 'The string'),
}))

const byBit = (one: Alarm, other: Alarm) => one.bit - other.bit

const head = {
  manufacturer: 'SunSpec Alliance',
  table_version: '1',
  word_bits: 32,
  not_available: 'highest_bit',
  severity_by: 'heliograph',
} as const

/**
 * Evt1 is `alarm_1`; Evt2 is `alarm_2` and has no bits in the standard. EvtVnd1 and EvtVnd2 are
 * `alarm_3` and `alarm_4`: their bits are defined by each maker.
 */
export const sunspecBattery = alarmTable(
  {
    ...head,
    table_id: 'sunspec-battery-802',
    model_family: 'Model 802',
    source: 'SunSpec information model 802, point Evt1',
    alarm_source: 'bms',
  },
  [[...events, currentsDiffer].sort(byBit)],
)

/** StrEvt1 of model 803, or Evt1 of 804, is `alarm_1`; the first word of the maker is `alarm_2`. */
export const sunspecString = alarmTable(
  {
    ...head,
    table_id: 'sunspec-string-804',
    model_family: 'Models 803 and 804',
    source: 'SunSpec information models 803, point StrEvt1, and 804, point Evt1',
    alarm_source: 'cluster',
  },
  [ofString],
)
