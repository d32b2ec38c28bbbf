import { type Alarm, alarmTable } from './table.ts'

type Head = Alarm[0]
type Known = NonNullable<Alarm[3]>

/** A pre-alarm: nothing is held back yet. */
function warning(alarm: Omit<Head, 'severity'>, said: Said): Alarm {
  return event({ ...alarm, severity: 'warning' }, said, {
    protection_level: 1,
    affects_power: false,
  })
}

/** The standard knows one level above the warning. */
function alarm(alarm: Omit<Head, 'severity'>, said: Said): Alarm {
  return event({ ...alarm, severity: 'critical' }, said, {
    protection_level: 2,
    affects_power: true,
  })
}

/** Something is broken, which is no protection. */
function fault(alarm: Head, said: Said): Alarm {
  return event(alarm, said, { affects_power: true })
}

type Said = readonly [name: string, description: string, recommended_action?: string]

function event(alarm: Head, [name, description, action]: Said, known: Known): Alarm {
  return [alarm, name, description, action ? { ...known, recommended_action: action } : known]
}

/** The bits that Evt1 of model 802 and those of its strings have in common. */
const events: readonly Alarm[] = [
  fault({ bit: 0, code: 'COMMUNICATION_ERROR', severity: 'major', category: 'communication' }, [
    'Communication error',
    'Parts of the battery do not answer its management system.',
    'Check the communication cables and the supply of the modules.',
  ]),
  alarm({ bit: 1, code: 'OVER_TEMP_ALARM', category: 'temperature' }, [
    'Overtemperature',
    'A module is hotter than it may be.',
    'Stop the unit and check its cooling before it is used again.',
  ]),
  warning({ bit: 2, code: 'OVER_TEMP_WARNING', category: 'temperature' }, [
    'Overtemperature, pre-alarm',
    'A module comes near the highest temperature it may have.',
    'Check cooling and filters; lower the power until it has cooled.',
  ]),
  alarm({ bit: 3, code: 'UNDER_TEMP_ALARM', category: 'temperature' }, [
    'Undertemperature',
    'A module is colder than it may be.',
    'Check the heating; lithium cells are not to be charged when frozen.',
  ]),
  warning({ bit: 4, code: 'UNDER_TEMP_WARNING', category: 'temperature' }, [
    'Undertemperature, pre-alarm',
    'A module comes near the lowest temperature it may have.',
    'Check the heating.',
  ]),
  alarm({ bit: 5, code: 'OVER_CHARGE_CURRENT_ALARM', category: 'battery' }, [
    'Charge current too high',
    'The charge current is above what the battery allows at present.',
  ]),
  warning({ bit: 6, code: 'OVER_CHARGE_CURRENT_WARNING', category: 'battery' }, [
    'Charge current too high, pre-alarm',
    'The charge current comes near what the battery allows at present.',
  ]),
  alarm({ bit: 7, code: 'OVER_DISCHARGE_CURRENT_ALARM', category: 'battery' }, [
    'Discharge current too high',
    'The discharge current is above what the battery allows at present.',
  ]),
  warning({ bit: 8, code: 'OVER_DISCHARGE_CURRENT_WARNING', category: 'battery' }, [
    'Discharge current too high, pre-alarm',
    'The discharge current comes near what the battery allows at present.',
  ]),
  alarm({ bit: 9, code: 'OVER_VOLT_ALARM', category: 'battery' }, [
    'Overvoltage',
    'A voltage of the battery is above its upper limit.',
    'Let it not charge; discharge it and look for the cell that is ahead.',
  ]),
  warning({ bit: 10, code: 'OVER_VOLT_WARNING', category: 'battery' }, [
    'Overvoltage, pre-alarm',
    'A voltage of the battery comes near its upper limit.',
  ]),
  alarm({ bit: 11, code: 'UNDER_VOLT_ALARM', category: 'battery' }, [
    'Undervoltage',
    'A voltage of the battery is below its lower limit.',
    'Let it not discharge; charge it gently and look for the cell that is behind.',
  ]),
  warning({ bit: 12, code: 'UNDER_VOLT_WARNING', category: 'battery' }, [
    'Undervoltage, pre-alarm',
    'A voltage of the battery comes near its lower limit.',
  ]),
  alarm({ bit: 13, code: 'UNDER_SOC_MIN_ALARM', category: 'battery' }, [
    'State of charge below minimum',
    'The state of charge is below the lowest that the maker allows.',
    'Charge it soon.',
  ]),
  warning({ bit: 14, code: 'UNDER_SOC_MIN_WARNING', category: 'battery' }, [
    'State of charge near minimum',
    'The state of charge comes near the lowest that the maker allows.',
  ]),
  alarm({ bit: 15, code: 'OVER_SOC_MAX_ALARM', category: 'battery' }, [
    'State of charge above maximum',
    'The state of charge is above the highest that the maker allows.',
    'Discharge it soon.',
  ]),
  warning({ bit: 16, code: 'OVER_SOC_MAX_WARNING', category: 'battery' }, [
    'State of charge near maximum',
    'The state of charge comes near the highest that the maker allows.',
  ]),
  warning({ bit: 17, code: 'VOLTAGE_IMBALANCE_WARNING', category: 'battery' }, [
    'Voltages differ',
    'The voltages of cells or modules differ by more than they should.',
    'Let it balance at a high state of charge; look for a weak cell.',
  ]),
  alarm({ bit: 18, code: 'TEMPERATURE_IMBALANCE_ALARM', category: 'temperature' }, [
    'Temperatures differ too much',
    'The temperatures of modules differ by more than they may.',
    'Check the cooling of the modules that are hottest.',
  ]),
  warning({ bit: 19, code: 'TEMPERATURE_IMBALANCE_WARNING', category: 'temperature' }, [
    'Temperatures differ, pre-alarm',
    'The temperatures of modules differ by more than they should.',
    'Check the cooling of the modules that are hottest.',
  ]),
  fault({ bit: 20, code: 'CONTACTOR_ERROR', severity: 'critical', category: 'internal' }, [
    'Contactor error',
    'A contactor is not as it was told to be.',
    'Do not open or touch anything: the DC side may be live. Call service.',
  ]),
  fault({ bit: 21, code: 'FAN_ERROR', severity: 'major', category: 'fan' }, [
    'Fan error',
    'A fan does not turn as it should.',
    'Check the fan and its filter.',
  ]),
  fault({ bit: 22, code: 'GROUND_FAULT', severity: 'critical', category: 'insulation' }, [
    'Ground fault',
    'The battery sees a fault to ground.',
    'Stop the unit and measure its insulation.',
  ]),
  fault({ bit: 23, code: 'OPEN_DOOR_ERROR', severity: 'major', category: 'other' }, [
    'Door open',
    'A door that has to be shut is open.',
    'Shut the door.',
  ]),
  alarm({ bit: 25, code: 'OTHER_ALARM', category: 'other' }, [
    'Other alarm',
    'An alarm of the maker’s own; the vendor words say which.',
  ]),
  warning({ bit: 26, code: 'OTHER_WARNING', category: 'other' }, [
    'Other warning',
    'A warning of the maker’s own; the vendor words say which.',
  ]),
  alarm({ bit: 28, code: 'CONFIGURATION_ALARM', category: 'internal' }, [
    'Configuration wrong',
    'The battery cannot work as it is configured.',
    'Compare its configuration with that of its commissioning.',
  ]),
  warning({ bit: 29, code: 'CONFIGURATION_WARNING', category: 'internal' }, [
    'Configuration doubtful',
    'Something in the configuration of the battery is not as it should be.',
    'Compare its configuration with that of its commissioning.',
  ]),
]

const currentsDiffer = warning(
  { bit: 24, code: 'CURRENT_IMBALANCE_WARNING', category: 'battery' },
  [
    'Currents differ',
    'The currents of strings differ by more than they should.',
    'Look for a string whose contactor is open or whose cells are weak.',
  ],
)

const ofString = events.map(
  ([alarm, name, description, known]): Alarm => [
    alarm,
    name,
    description.replace('the battery', 'the string').replace('The battery', 'The string'),
    known!,
  ],
)

const byBit = (one: Alarm, other: Alarm) => one[0].bit - other[0].bit

const head = {
  manufacturer: 'SunSpec Alliance',
  table_version: '1',
  word_bits: 32,
  not_available: 'highest_bit',
  severity_by: 'heliograph',
} as const

/**
 * Evt1 is `alarm_1`, Evt2 `alarm_2`, in which the standard has no bits; EvtVnd1 and EvtVnd2 are
 * `alarm_3` and `alarm_4`, whose bits each maker defines for itself.
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

/** StrEvt1 of model 803, or Evt1 of 804, is `alarm_1`; the first word of the maker `alarm_2`. */
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
