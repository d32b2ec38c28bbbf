import { type Alarm, alarmTable } from './table.ts'

type Head = Alarm[0]
type Known = NonNullable<Alarm[3]>

/** The maker's documents that are public name the bits and say nothing of them. */
function fault(alarm: Head, name: string, known: Known = {}): Alarm {
  return [
    alarm,
    name,
    `The maker calls it ${alarm.code}.`,
    { affects_power: alarm.severity !== 'warning', ...known },
  ]
}

/**
 * Fault words of PWS battery inverters. Registers 36, 37 and 38 are `alarm_1` to `alarm_3`; 39 and,
 * in its upper half, 44 are `alarm_4`; 45 and, so too, 47 are `alarm_5`. Registers 32, 33 and 40
 * tell of states and are no alarms; neither are bits 10 and 11 of register 38.
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
      fault(
        { bit: 0, code: 'AC_OVER_VOLTAGE_PROTECTION', severity: 'major', category: 'ac_grid' },
        'AC overvoltage',
        { sunspec_event: 'AC_OVER_VOLT' },
      ),
      fault(
        { bit: 1, code: 'AC_UNDER_VOLTAGE_PROTECTION', severity: 'major', category: 'ac_grid' },
        'AC undervoltage',
        { sunspec_event: 'AC_UNDER_VOLT' },
      ),
      fault(
        { bit: 2, code: 'AC_OVER_FREQUENCY_PROTECTION', severity: 'major', category: 'ac_grid' },
        'Grid overfrequency',
        { sunspec_event: 'OVER_FREQUENCY' },
      ),
      fault(
        { bit: 3, code: 'AC_UNDER_FREQUENCY_PROTECTION', severity: 'major', category: 'ac_grid' },
        'Grid underfrequency',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ),
      fault(
        { bit: 4, code: 'GRID_VOLTAGE_UNBALANCE', severity: 'major', category: 'ac_grid' },
        'Grid voltages unbalanced',
      ),
      fault(
        { bit: 5, code: 'GRID_PHASE_REVERSE', severity: 'major', category: 'ac_grid' },
        'Grid phases reversed',
      ),
      fault(
        { bit: 6, code: 'INVERTER_ISLAND', severity: 'critical', category: 'ac_grid' },
        'Island detected',
        { sunspec_event: 'GRID_DISCONNECT' },
      ),
      fault(
        {
          bit: 7,
          code: 'ON_GRID_OFF_GRID_SWITCH_OVER_FAILURE',
          severity: 'major',
          category: 'ac_grid',
        },
        'Switch between grid and island failed',
      ),
      fault(
        { bit: 8, code: 'OUTPUT_GROUND_FAULT', severity: 'critical', category: 'insulation' },
        'Ground fault of the output',
        { sunspec_event: 'GROUND_FAULT' },
      ),
      fault(
        { bit: 9, code: 'GRID_PHASE_LOCK_FAILED', severity: 'major', category: 'ac_grid' },
        'Not locked to the phase of the grid',
      ),
      fault(
        {
          bit: 10,
          code: 'INTERNAL_AIR_OVER_TEMPERATURE',
          severity: 'major',
          category: 'temperature',
        },
        'Air inside too hot',
        { sunspec_event: 'OVER_TEMP' },
      ),
      fault(
        {
          bit: 11,
          code: 'GRID_CONNECTED_CONDITION_TIME_OUT',
          severity: 'major',
          category: 'ac_grid',
        },
        'Conditions for the grid took too long',
      ),
      fault(
        { bit: 12, code: 'MODULE_RENUMBER_FAILURE', severity: 'major', category: 'internal' },
        'Numbering of modules failed',
      ),
      fault(
        {
          bit: 13,
          code: 'CANB_COMMUNICATION_FAILURE',
          severity: 'major',
          category: 'communication',
        },
        'Bus CAN B failed',
      ),
      fault(
        {
          bit: 14,
          code: 'POWER_FREQUENCY_SYNCHRONIZATION_FAILURE',
          severity: 'major',
          category: 'internal',
        },
        'Synchronization of frequency failed',
      ),
      fault(
        {
          bit: 15,
          code: 'CARRIER_SYNCHRONIZATION_FALURE',
          severity: 'major',
          category: 'internal',
        },
        'Synchronization of carrier failed',
      ),
    ],
    [
      fault(
        { bit: 0, code: 'EPO_ERROR', severity: 'critical', category: 'other' },
        'Emergency power off',
        { sunspec_event: 'MANUAL_SHUTDOWN' },
      ),
      fault(
        { bit: 1, code: 'MONITOR_PARAMETER_MISMATCH', severity: 'major', category: 'internal' },
        'Parameters of the monitor do not match',
      ),
      fault(
        { bit: 2, code: 'DSP_VERSION_ABNORMAL', severity: 'warning', category: 'internal' },
        'Version of the processor abnormal',
      ),
      fault(
        { bit: 3, code: 'CPLD_VERSION_ERROR', severity: 'major', category: 'internal' },
        'Version of the logic wrong',
      ),
      fault(
        { bit: 4, code: 'HARDWARE_VERSION_ERROR', severity: 'major', category: 'internal' },
        'Version of the hardware wrong',
      ),
      fault(
        {
          bit: 5,
          code: 'CANA_COMMUNICATION_FAILURE',
          severity: 'major',
          category: 'communication',
        },
        'Bus CAN A failed',
      ),
      fault(
        { bit: 6, code: 'AUXILARY_POWER_FAULT', severity: 'major', category: 'internal' },
        'Auxiliary power failed',
      ),
      fault({ bit: 7, code: 'FAN_FAILURE', severity: 'major', category: 'fan' }, 'Fan failed'),
      fault(
        { bit: 8, code: 'DC_OVER_VOLTAGE', severity: 'major', category: 'dc' },
        'DC overvoltage',
        { sunspec_event: 'DC_OVER_VOLT' },
      ),
      fault(
        { bit: 9, code: 'DC_LOW_VOLTAGE', severity: 'major', category: 'dc' },
        'DC voltage low',
      ),
      fault(
        { bit: 10, code: 'DC_VOLTAGE_UNBALANCED', severity: 'major', category: 'dc' },
        'DC voltages unbalanced',
      ),
      fault(
        { bit: 12, code: 'AC_RELAY_SHORT_CIRCUIT', severity: 'critical', category: 'internal' },
        'AC relay short-circuited',
      ),
      fault(
        { bit: 13, code: 'OUTPUT_VOLTAGE_ABNORMAL', severity: 'warning', category: 'ac_grid' },
        'Output voltage abnormal',
      ),
      fault(
        { bit: 14, code: 'OUTPUT_CURRENT_UNBALANCED', severity: 'major', category: 'ac_grid' },
        'Output currents unbalanced',
      ),
      fault(
        {
          bit: 15,
          code: 'OVER_TEMPERATURE_OF_HEAT_SINK',
          severity: 'major',
          category: 'temperature',
        },
        'Heat sink too hot',
        { sunspec_event: 'OVER_TEMP' },
      ),
    ],
    [
      fault(
        { bit: 0, code: 'OUTPUT_OVER_LOAD_TOT', severity: 'major', category: 'ac_grid' },
        'Output overloaded for too long',
      ),
      fault(
        { bit: 1, code: 'GRID_CONTINUE_OVER_VOLTAGE', severity: 'major', category: 'ac_grid' },
        'Grid voltage too high for too long',
        { sunspec_event: 'AC_OVER_VOLT' },
      ),
      fault(
        { bit: 2, code: 'AC_SOFT_START_FAILURE', severity: 'major', category: 'internal' },
        'Soft start of the AC side failed',
      ),
      fault(
        { bit: 3, code: 'INVERTER_START_FAILURE', severity: 'major', category: 'internal' },
        'Start of the inverter failed',
      ),
      fault(
        { bit: 4, code: 'AC_RELAY_IS_OPEN', severity: 'major', category: 'internal' },
        'AC relay open',
        { sunspec_event: 'AC_DISCONNECT' },
      ),
      fault(
        {
          bit: 5,
          code: 'U2_BOARD_COMMUNICATION_IS_ABNORMAL',
          severity: 'warning',
          category: 'communication',
        },
        'Link to board U2 abnormal',
      ),
      fault(
        { bit: 6, code: 'AC_DC_COMPONENT_EXCESS', severity: 'major', category: 'internal' },
        'Too much DC in the output',
      ),
      fault(
        {
          bit: 7,
          code: 'MASTER_SLAVE_SAMPLING_ABNORMALITY',
          severity: 'warning',
          category: 'internal',
        },
        'Master and slave measure differently',
      ),
      fault(
        { bit: 8, code: 'PARAMETER_SETTING_ERROR', severity: 'major', category: 'internal' },
        'Setting of a parameter wrong',
      ),
      fault(
        { bit: 9, code: 'LOW_OFF_GRID_ENERGY', severity: 'major', category: 'battery' },
        'Little energy for island operation',
      ),
      fault(
        { bit: 12, code: 'SINGLE_PHASE_WIRING_ERROR', severity: 'major', category: 'internal' },
        'Wiring of a single phase wrong',
      ),
      fault(
        {
          bit: 13,
          code: 'EXCESSIVE_GRID_FREQUENCY_CHANGE',
          severity: 'major',
          category: 'ac_grid',
        },
        'Grid frequency changes too fast',
      ),
      fault(
        {
          bit: 14,
          code: 'ABRUPT_PHASE_ANGLE_FAULT_OF_POWER_GRID',
          severity: 'major',
          category: 'ac_grid',
        },
        'Phase angle of the grid jumped',
      ),
      fault(
        {
          bit: 15,
          code: 'GRID_CONNECTION_PARAMETER_CONFLICT',
          severity: 'major',
          category: 'internal',
        },
        'Settings of the grid connection contradict',
      ),
    ],
    [
      fault(
        { bit: 0, code: 'EE_READING_ERROR_1', severity: 'major', category: 'internal' },
        'First memory cannot be read',
        { sunspec_event: 'MEMORY_LOSS' },
      ),
      fault(
        { bit: 1, code: 'EE_READING_ERROR_2', severity: 'major', category: 'internal' },
        'Second memory cannot be read',
        { sunspec_event: 'MEMORY_LOSS' },
      ),
      fault(
        { bit: 2, code: 'FLASH_READING_ERROR', severity: 'major', category: 'internal' },
        'Flash cannot be read',
        { sunspec_event: 'MEMORY_LOSS' },
      ),
      fault(
        { bit: 3, code: 'INVERTER_OVER_LOAD', severity: 'major', category: 'ac_grid' },
        'Inverter overloaded',
      ),
      fault(
        { bit: 4, code: 'BATTERY_PARAMETER_SETTING_ERROR', severity: 'major', category: 'battery' },
        'Setting of the battery wrong',
      ),
      fault(
        { bit: 5, code: 'SLAVE_LOST_ALARM', severity: 'major', category: 'communication' },
        'A slave was lost',
      ),
      fault(
        { bit: 16, code: 'DC_INPUT_OVER_VOLTAGE_PROTECTION', severity: 'major', category: 'dc' },
        'DC input overvoltage',
        { sunspec_event: 'DC_OVER_VOLT' },
      ),
      fault(
        { bit: 17, code: 'DC_INPUT_UNDER_VOLTAGE_PROTECTION', severity: 'major', category: 'dc' },
        'DC input undervoltage',
      ),
      fault(
        { bit: 19, code: 'BMS_ALERT', severity: 'major', category: 'battery' },
        'Alert of the battery management',
      ),
      fault(
        {
          bit: 20,
          code: 'BMS_COMMUNICATION_TIMEOUT',
          severity: 'major',
          category: 'communication',
        },
        'Battery management silent',
      ),
      fault(
        {
          bit: 21,
          code: 'EMS_COMMUNICATION_TIMEOUT',
          severity: 'major',
          category: 'communication',
        },
        'Energy management silent',
      ),
    ],
    [
      fault(
        { bit: 0, code: 'DC_SOFT_START_FAILED', severity: 'major', category: 'internal' },
        'Soft start of the DC side failed',
      ),
      fault(
        { bit: 1, code: 'DC_RELAY_SHORT_CIRCUIT', severity: 'critical', category: 'internal' },
        'DC relay short-circuited',
      ),
      fault(
        { bit: 2, code: 'DC_RELAY_SHORT_OPEN', severity: 'critical', category: 'internal' },
        'DC relay open',
        { sunspec_event: 'DC_DISCONNECT' },
      ),
      fault(
        { bit: 3, code: 'BATTERY_POWER_OVER_LOAD', severity: 'major', category: 'battery' },
        'Battery overloaded',
      ),
      fault(
        { bit: 4, code: 'DC_BUS_STARTING_FAILED', severity: 'major', category: 'internal' },
        'Start of the DC bus failed',
      ),
      fault(
        { bit: 5, code: 'DC_QUICK_CHECK_OVER_CURRENT', severity: 'major', category: 'dc' },
        'DC overcurrent, quick check',
      ),
      fault({ bit: 16, code: 'DC_OC', severity: 'major', category: 'dc' }, 'DC overcurrent'),
    ],
  ],
)
