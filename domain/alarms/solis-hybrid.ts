import type { Severity } from '../link.ts'
import { type AlarmRow, alarmTable, graded } from './table.ts'

/** The public sources name the bits without explaining them. */
const alarm =
  (severity: Severity) =>
  (
    bit: number,
    code: string,
    category: AlarmRow['category'],
    name: string,
    sunspec_event: string | null = null,
  ) =>
    graded(severity)(bit, code, category, [name, `Register and bit ${code}.`, { sunspec_event }])

const major = alarm('major')
const critical = alarm('critical')
const warning = alarm('warning')
/** A hybrid inverter may have no battery. */
const info = alarm('info')

/** Registers 33116 to 33120 are `alarm_1` to `alarm_5`; a code is the register and the bit. */
export const solisHybrid = alarmTable(
  {
    table_id: 'solis-hybrid',
    manufacturer: 'Solis',
    model_family: 'hybrid inverters',
    table_version: '1',
    word_bits: 16,
    not_available: 'all_bits',
    severity_by: 'heliograph',
    source: 'Names and places of the bits as two public readers of the inverters have them',
  },
  [
    [
      major(0, '33116.0', 'ac_grid', 'No grid voltage', 'GRID_DISCONNECT'),
      major(1, '33116.1', 'ac_grid', 'Grid overvoltage', 'AC_OVER_VOLT'),
      major(2, '33116.2', 'ac_grid', 'Grid undervoltage', 'AC_UNDER_VOLT'),
      major(3, '33116.3', 'ac_grid', 'Grid overfrequency', 'OVER_FREQUENCY'),
      major(4, '33116.4', 'ac_grid', 'Grid underfrequency', 'UNDER_FREQUENCY'),
      major(5, '33116.5', 'ac_grid', 'Grid voltages unbalanced'),
      major(6, '33116.6', 'ac_grid', 'Grid frequency unsteady'),
      major(7, '33116.7', 'ac_grid', 'Grid impedance too high'),
      major(8, '33116.8', 'ac_grid', 'Grid not tracked'),
      warning(9, '33116.9', 'communication', 'Meter lost'),
    ],
    [
      major(0, '33117.0', 'ac_grid', 'Bypass voltage abnormal'),
      major(1, '33117.1', 'ac_grid', 'Bypass overload'),
    ],
    [
      info(0, '33118.0', 'battery', 'Battery not connected'),
      major(1, '33118.1', 'battery', 'Battery overvoltage'),
      major(2, '33118.2', 'battery', 'Battery undervoltage'),
    ],
    [
      major(0, '33119.0', 'dc', 'DC overvoltage', 'DC_OVER_VOLT'),
      major(1, '33119.1', 'internal', 'DC bus overvoltage'),
      major(2, '33119.2', 'internal', 'DC bus unbalanced'),
      major(3, '33119.3', 'internal', 'DC bus undervoltage'),
      major(4, '33119.4', 'internal', 'Second DC bus unbalanced'),
      major(5, '33119.5', 'dc', 'Overcurrent of DC input A'),
      major(6, '33119.6', 'dc', 'Overcurrent of DC input B'),
      major(7, '33119.7', 'dc', 'DC input disturbed'),
    ],
    [
      major(0, '33120.0', 'ac_grid', 'Grid disturbed'),
      major(1, '33120.1', 'ac_grid', 'DC component of the output too high'),
      major(2, '33120.2', 'temperature', 'Overtemperature', 'OVER_TEMP'),
      major(3, '33120.3', 'internal', 'Relay check failed'),
      major(4, '33120.4', 'temperature', 'Undertemperature', 'UNDER_TEMP'),
      critical(5, '33120.5', 'insulation', 'Insulation resistance too low', 'GROUND_FAULT'),
      major(6, '33120.6', 'internal', '12 V supply fault'),
      critical(7, '33120.7', 'insulation', 'Leakage current too high', 'GROUND_FAULT'),
    ],
  ],
)
