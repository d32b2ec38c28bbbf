import type { Severity } from '../link.ts'
import { type AlarmRow, alarmTable, graded } from './table.ts'

/** The maker's public documents name the bits without explaining them. */
const fault =
  (severity: Severity) =>
  (
    bit: number,
    code: string,
    category: AlarmRow['category'],
    name: string,
    sunspec_event: string | null = null,
  ) =>
    graded(severity)(bit, code, category, [
      name,
      `The maker calls it ${code}.`,
      { affects_power: severity !== 'warning', sunspec_event },
    ])

const warning = fault('warning')
const major = fault('major')
const critical = fault('critical')

/**
 * Fault words of PWS battery inverters. Registers 36, 37 and 38 are `alarm_1` to `alarm_3`; 39 and,
 * in the upper half, 44 are `alarm_4`; 45 and, in the upper half, 47 are `alarm_5`. Registers 32,
 * 33 and 40 and bits 10 and 11 of register 38 are states, not alarms.
 */
export const sinexcelPws = alarmTable(
  {
    table_id: 'sinexcel-pws',
    manufacturer: 'Sinexcel',
    model_family: 'PWS',
    table_version: '1',
    word_bits: 32,
    not_available: 'all_bits',
    severity_by: 'heliograph',
    source: 'Names and places of the bits as github.com/OpenEMS/openems reads them',
    alarm_source: 'pcs',
  },
  [
    [
      major(0, 'AC_OVER_VOLTAGE_PROTECTION', 'ac_grid', 'AC overvoltage', 'AC_OVER_VOLT'),
      major(1, 'AC_UNDER_VOLTAGE_PROTECTION', 'ac_grid', 'AC undervoltage', 'AC_UNDER_VOLT'),
      major(2, 'AC_OVER_FREQUENCY_PROTECTION', 'ac_grid', 'Grid overfrequency', 'OVER_FREQUENCY'),
      major(
        3,
        'AC_UNDER_FREQUENCY_PROTECTION',
        'ac_grid',
        'Grid underfrequency',
        'UNDER_FREQUENCY',
      ),
      major(4, 'GRID_VOLTAGE_UNBALANCE', 'ac_grid', 'Grid voltages unbalanced'),
      major(5, 'GRID_PHASE_REVERSE', 'ac_grid', 'Grid phases reversed'),
      critical(6, 'INVERTER_ISLAND', 'ac_grid', 'Island detected', 'GRID_DISCONNECT'),
      major(
        7,
        'ON_GRID_OFF_GRID_SWITCH_OVER_FAILURE',
        'ac_grid',
        'Switch between grid and island failed',
      ),
      critical(
        8,
        'OUTPUT_GROUND_FAULT',
        'insulation',
        'Ground fault of the output',
        'GROUND_FAULT',
      ),
      major(9, 'GRID_PHASE_LOCK_FAILED', 'ac_grid', 'Not locked to the phase of the grid'),
      major(10, 'INTERNAL_AIR_OVER_TEMPERATURE', 'temperature', 'Air inside too hot', 'OVER_TEMP'),
      major(
        11,
        'GRID_CONNECTED_CONDITION_TIME_OUT',
        'ac_grid',
        'Conditions for the grid took too long',
      ),
      major(12, 'MODULE_RENUMBER_FAILURE', 'internal', 'Numbering of modules failed'),
      major(13, 'CANB_COMMUNICATION_FAILURE', 'communication', 'Bus CAN B failed'),
      major(
        14,
        'POWER_FREQUENCY_SYNCHRONIZATION_FAILURE',
        'internal',
        'Synchronization of frequency failed',
      ),
      major(15, 'CARRIER_SYNCHRONIZATION_FALURE', 'internal', 'Synchronization of carrier failed'),
    ],
    [
      critical(0, 'EPO_ERROR', 'other', 'Emergency power off', 'MANUAL_SHUTDOWN'),
      major(1, 'MONITOR_PARAMETER_MISMATCH', 'internal', 'Parameters of the monitor do not match'),
      warning(2, 'DSP_VERSION_ABNORMAL', 'internal', 'Version of the processor abnormal'),
      major(3, 'CPLD_VERSION_ERROR', 'internal', 'Version of the logic wrong'),
      major(4, 'HARDWARE_VERSION_ERROR', 'internal', 'Version of the hardware wrong'),
      major(5, 'CANA_COMMUNICATION_FAILURE', 'communication', 'Bus CAN A failed'),
      major(6, 'AUXILARY_POWER_FAULT', 'internal', 'Auxiliary power failed'),
      major(7, 'FAN_FAILURE', 'fan', 'Fan failed'),
      major(8, 'DC_OVER_VOLTAGE', 'dc', 'DC overvoltage', 'DC_OVER_VOLT'),
      major(9, 'DC_LOW_VOLTAGE', 'dc', 'DC voltage low'),
      major(10, 'DC_VOLTAGE_UNBALANCED', 'dc', 'DC voltages unbalanced'),
      critical(12, 'AC_RELAY_SHORT_CIRCUIT', 'internal', 'AC relay short-circuited'),
      warning(13, 'OUTPUT_VOLTAGE_ABNORMAL', 'ac_grid', 'Output voltage abnormal'),
      major(14, 'OUTPUT_CURRENT_UNBALANCED', 'ac_grid', 'Output currents unbalanced'),
      major(15, 'OVER_TEMPERATURE_OF_HEAT_SINK', 'temperature', 'Heat sink too hot', 'OVER_TEMP'),
    ],
    [
      major(0, 'OUTPUT_OVER_LOAD_TOT', 'ac_grid', 'Output overloaded for too long'),
      major(
        1,
        'GRID_CONTINUE_OVER_VOLTAGE',
        'ac_grid',
        'Grid voltage too high for too long',
        'AC_OVER_VOLT',
      ),
      major(2, 'AC_SOFT_START_FAILURE', 'internal', 'Soft start of the AC side failed'),
      major(3, 'INVERTER_START_FAILURE', 'internal', 'Start of the inverter failed'),
      major(4, 'AC_RELAY_IS_OPEN', 'internal', 'AC relay open', 'AC_DISCONNECT'),
      warning(
        5,
        'U2_BOARD_COMMUNICATION_IS_ABNORMAL',
        'communication',
        'Link to board U2 abnormal',
      ),
      major(6, 'AC_DC_COMPONENT_EXCESS', 'internal', 'Too much DC in the output'),
      warning(
        7,
        'MASTER_SLAVE_SAMPLING_ABNORMALITY',
        'internal',
        'Master and slave measure differently',
      ),
      major(8, 'PARAMETER_SETTING_ERROR', 'internal', 'Setting of a parameter wrong'),
      major(9, 'LOW_OFF_GRID_ENERGY', 'battery', 'Little energy for island operation'),
      major(12, 'SINGLE_PHASE_WIRING_ERROR', 'internal', 'Wiring of a single phase wrong'),
      major(13, 'EXCESSIVE_GRID_FREQUENCY_CHANGE', 'ac_grid', 'Grid frequency changes too fast'),
      major(
        14,
        'ABRUPT_PHASE_ANGLE_FAULT_OF_POWER_GRID',
        'ac_grid',
        'Phase angle of the grid jumped',
      ),
      major(
        15,
        'GRID_CONNECTION_PARAMETER_CONFLICT',
        'internal',
        'Settings of the grid connection contradict',
      ),
    ],
    [
      major(0, 'EE_READING_ERROR_1', 'internal', 'First memory cannot be read', 'MEMORY_LOSS'),
      major(1, 'EE_READING_ERROR_2', 'internal', 'Second memory cannot be read', 'MEMORY_LOSS'),
      major(2, 'FLASH_READING_ERROR', 'internal', 'Flash cannot be read', 'MEMORY_LOSS'),
      major(3, 'INVERTER_OVER_LOAD', 'ac_grid', 'Inverter overloaded'),
      major(4, 'BATTERY_PARAMETER_SETTING_ERROR', 'battery', 'Setting of the battery wrong'),
      major(5, 'SLAVE_LOST_ALARM', 'communication', 'A slave was lost'),
      major(16, 'DC_INPUT_OVER_VOLTAGE_PROTECTION', 'dc', 'DC input overvoltage', 'DC_OVER_VOLT'),
      major(17, 'DC_INPUT_UNDER_VOLTAGE_PROTECTION', 'dc', 'DC input undervoltage'),
      major(19, 'BMS_ALERT', 'battery', 'Alert of the battery management'),
      major(20, 'BMS_COMMUNICATION_TIMEOUT', 'communication', 'Battery management silent'),
      major(21, 'EMS_COMMUNICATION_TIMEOUT', 'communication', 'Energy management silent'),
    ],
    [
      major(0, 'DC_SOFT_START_FAILED', 'internal', 'Soft start of the DC side failed'),
      critical(1, 'DC_RELAY_SHORT_CIRCUIT', 'internal', 'DC relay short-circuited'),
      critical(2, 'DC_RELAY_SHORT_OPEN', 'internal', 'DC relay open', 'DC_DISCONNECT'),
      major(3, 'BATTERY_POWER_OVER_LOAD', 'battery', 'Battery overloaded'),
      major(4, 'DC_BUS_STARTING_FAILED', 'internal', 'Start of the DC bus failed'),
      major(5, 'DC_QUICK_CHECK_OVER_CURRENT', 'dc', 'DC overcurrent, quick check'),
      major(16, 'DC_OC', 'dc', 'DC overcurrent'),
    ],
  ],
)
