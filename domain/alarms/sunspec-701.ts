import { sunspecEvents } from './sunspec-inverter.ts'
import { alarmTable, graded } from './table.ts'

/** Alrm of model 701 is `alarm_1`: the events of models 101 to 113 and the maker's own alarm. */
export const sunspec701 = alarmTable(
  {
    table_id: 'sunspec-701',
    manufacturer: 'SunSpec Alliance',
    model_family: 'Model 701',
    table_version: '1',
    word_bits: 32,
    not_available: 'highest_bit',
    severity_by: 'heliograph',
    source: 'SunSpec information model 701, point Alrm',
  },
  [
    [
      ...sunspecEvents,
      graded('major')(16, 'MANUFACTURER_ALRM', 'other', [
        'Alarm of the manufacturer',
        'An alarm of the maker’s own; the text of point MnAlrmInfo says which.',
      ]),
    ],
  ],
)
