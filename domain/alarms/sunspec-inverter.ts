import { type Alarm, alarmTable, graded } from './table.ts'

const major = graded('major')
const critical = graded('critical')

/** The bits that Evt1 of models 101 to 113 and Alrm of model 701 have in common. */
export const sunspecEvents: readonly Alarm[] = [
  critical(0, 'GROUND_FAULT', 'insulation', [
    'Ground fault',
    'The inverter sees a fault to ground.',
  ]),
  major(1, 'DC_OVER_VOLT', 'dc', [
    'DC overvoltage',
    'The DC voltage is above the limit of the inverter.',
  ]),
  major(2, 'AC_DISCONNECT', 'ac_grid', ['AC disconnect open', 'The AC disconnect is open.']),
  major(3, 'DC_DISCONNECT', 'dc', ['DC disconnect open', 'The DC disconnect is open.']),
  major(4, 'GRID_DISCONNECT', 'ac_grid', [
    'Grid disconnected',
    'The inverter is disconnected from the grid.',
  ]),
  major(5, 'CABINET_OPEN', 'other', ['Cabinet open', 'The cabinet of the inverter is open.']),
  major(6, 'MANUAL_SHUTDOWN', 'other', ['Manual shutdown', 'The inverter was shut down by hand.']),
  major(7, 'OVER_TEMP', 'temperature', ['Overtemperature', 'The inverter is too hot.']),
  major(8, 'OVER_FREQUENCY', 'ac_grid', [
    'Grid overfrequency',
    'The frequency is above the upper limit.',
  ]),
  major(9, 'UNDER_FREQUENCY', 'ac_grid', [
    'Grid underfrequency',
    'The frequency is below the lower limit.',
  ]),
  major(10, 'AC_OVER_VOLT', 'ac_grid', [
    'AC overvoltage',
    'The AC voltage is above the upper limit.',
  ]),
  major(11, 'AC_UNDER_VOLT', 'ac_grid', [
    'AC undervoltage',
    'The AC voltage is below the lower limit.',
  ]),
  major(12, 'BLOWN_STRING_FUSE', 'dc', [
    'String fuse blown',
    'The fuse of a string on the DC input has blown.',
  ]),
  major(13, 'UNDER_TEMP', 'temperature', ['Undertemperature', 'The inverter is too cold.']),
  major(14, 'MEMORY_LOSS', 'internal', [
    'Memory or internal link error',
    'Memory was lost or, as model 701 words it, internal communication failed.',
  ]),
  critical(15, 'HW_TEST_FAILURE', 'internal', [
    'Hardware test failed',
    'The inverter failed the test of its own hardware.',
  ]),
].map((alarm) => ({ ...alarm, known: { sunspec_event: alarm.code } }))

/**
 * Evt1 is `alarm_1`. EvtVnd1 to EvtVnd4 are `alarm_2` to `alarm_5`: their bits are defined by each
 * maker and not in this table. (Evt2 has no bits in the standard.)
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
