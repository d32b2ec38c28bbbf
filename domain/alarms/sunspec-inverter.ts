import { type Alarm, alarmTable } from './table.ts'

type Head = Alarm[0]

function event(alarm: Head, name: string, description: string): Alarm {
  return [alarm, name, description, { sunspec_event: alarm.code }]
}

/** The bits that Evt1 of models 101 to 113 and Alrm of model 701 have in common. */
export const sunspecEvents: readonly Alarm[] = [
  event(
    { bit: 0, code: 'GROUND_FAULT', severity: 'critical', category: 'insulation' },
    'Ground fault',
    'The inverter sees a fault to ground.',
  ),
  event(
    { bit: 1, code: 'DC_OVER_VOLT', severity: 'major', category: 'dc' },
    'DC overvoltage',
    'The DC voltage is above the limit of the inverter.',
  ),
  event(
    { bit: 2, code: 'AC_DISCONNECT', severity: 'major', category: 'ac_grid' },
    'AC disconnect open',
    'The AC disconnect is open.',
  ),
  event(
    { bit: 3, code: 'DC_DISCONNECT', severity: 'major', category: 'dc' },
    'DC disconnect open',
    'The DC disconnect is open.',
  ),
  event(
    { bit: 4, code: 'GRID_DISCONNECT', severity: 'major', category: 'ac_grid' },
    'Grid disconnected',
    'The inverter is disconnected from the grid.',
  ),
  event(
    { bit: 5, code: 'CABINET_OPEN', severity: 'major', category: 'other' },
    'Cabinet open',
    'The cabinet of the inverter is open.',
  ),
  event(
    { bit: 6, code: 'MANUAL_SHUTDOWN', severity: 'major', category: 'other' },
    'Manual shutdown',
    'The inverter was shut down by hand.',
  ),
  event(
    { bit: 7, code: 'OVER_TEMP', severity: 'major', category: 'temperature' },
    'Overtemperature',
    'The inverter is too hot.',
  ),
  event(
    { bit: 8, code: 'OVER_FREQUENCY', severity: 'major', category: 'ac_grid' },
    'Grid overfrequency',
    'The frequency is above the upper limit.',
  ),
  event(
    { bit: 9, code: 'UNDER_FREQUENCY', severity: 'major', category: 'ac_grid' },
    'Grid underfrequency',
    'The frequency is below the lower limit.',
  ),
  event(
    { bit: 10, code: 'AC_OVER_VOLT', severity: 'major', category: 'ac_grid' },
    'AC overvoltage',
    'The AC voltage is above the upper limit.',
  ),
  event(
    { bit: 11, code: 'AC_UNDER_VOLT', severity: 'major', category: 'ac_grid' },
    'AC undervoltage',
    'The AC voltage is below the lower limit.',
  ),
  event(
    { bit: 12, code: 'BLOWN_STRING_FUSE', severity: 'major', category: 'dc' },
    'String fuse blown',
    'The fuse of a string on the DC input has blown.',
  ),
  event(
    { bit: 13, code: 'UNDER_TEMP', severity: 'major', category: 'temperature' },
    'Undertemperature',
    'The inverter is too cold.',
  ),
  event(
    { bit: 14, code: 'MEMORY_LOSS', severity: 'major', category: 'internal' },
    'Memory or internal link error',
    'Memory was lost or, as model 701 words it, internal communication failed.',
  ),
  event(
    { bit: 15, code: 'HW_TEST_FAILURE', severity: 'critical', category: 'internal' },
    'Hardware test failed',
    'The inverter failed the test of its own hardware.',
  ),
]

/**
 * Evt1 is `alarm_1`; EvtVnd1 to EvtVnd4 are `alarm_2` to `alarm_5`, whose bits each maker defines
 * for itself, so that this table explains none of them. (Evt2 has no bits in the standard.)
 */
export const sunspecInverter = alarmTable(
  {
    table_id: 'sunspec-inverter',
    manufacturer: 'SunSpec Alliance',
    model_family: 'Models 101 to 103 and 111 to 113',
    table_version: '1',
    word_bits: 32,
    not_available: 'highest_bit',
    severity_by: 'heliograph',
    source: 'SunSpec information model 103, point Evt1',
  },
  [sunspecEvents],
)
