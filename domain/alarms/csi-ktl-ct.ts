import { alarmTable, graded } from './table.ts'

const major = graded('major')
const warning = graded('warning')

/**
 * Input registers 0x34 to 0x38 (permanent faults, warnings, three words of faults) are `alarm_1` to
 * `alarm_5`. The code is the maker's label. Reserved bits are left out and decode as unknown.
 */
export const csiKtlCt = alarmTable(
  {
    table_id: 'csi-ktl-ct',
    manufacturer: 'Canadian Solar',
    model_family: 'KTL-CT',
    table_version: '1',
    word_bits: 16,
    not_available: 'all_bits',
    severity_by: 'heliograph',
    source: 'Names in public driver code for KTL-CT inverters, input registers 0x34 to 0x38',
  },
  [
    [
      major(0, 'Fault0130', 'dc', [
        'DC bus voltage high, permanent',
        'The sum of the DC bus voltages is too high.',
      ]),
      major(1, 'Fault0120', 'internal', [
        '3.3 V supply low',
        'The internal 3.3 V supply is too low.',
      ]),
      major(2, 'Fault0110', 'dc', [
        'DC bus differential high, permanent',
        'The differential voltage of the DC bus is too high.',
      ]),
      major(3, 'Fault0100', 'internal', ['Relay fault, permanent', 'A relay is faulty.']),
      major(4, 'Fault0090', 'insulation', [
        'Ground fault monitor, permanent',
        'The ground fault monitor reports a fault in steady state.',
      ]),
      major(5, 'Fault0080', 'dc', [
        'Boost overcurrent, permanent',
        'The hardware protection of the boost stage saw too much current.',
      ]),
      major(6, 'Fault0070', 'ac_grid', [
        'DC in the output too high, permanent',
        'The DC component of the output current is too high.',
      ]),
      major(7, 'Fault0060', 'dc', [
        'DC bus overvoltage, permanent',
        'The hardware protection of the DC bus saw too much voltage.',
      ]),
      major(8, 'Fault0050', 'ac_grid', [
        'Inverter overcurrent, permanent',
        'The hardware protection of the inverter stage saw too much current.',
      ]),
      major(9, 'Fault0040', 'internal', [
        'Driver supply fault, permanent',
        'The supply of the drivers has failed.',
      ]),
      major(12, 'Fault0010', 'internal', [
        'Power module fault, permanent',
        'A power module has failed.',
      ]),
      major(13, 'Fault0140', 'internal', [
        'Internal hardware fault',
        'Hardware inside the inverter has failed.',
      ]),
      major(14, 'Fault0150', 'internal', [
        'Open-loop self-test failed',
        'The inverter failed its open-loop test of itself.',
      ]),
      major(15, 'Fault0160', 'internal', [
        'Control board or driver supply fault',
        'A voltage of the control board, or the supply of the drivers, is wrong.',
      ]),
    ],
    [
      warning(0, 'Warn0010', 'fan', [
        'External fan abnormal',
        'An external fan does not run as it should.',
      ]),
      warning(1, 'Warn0020', 'fan', [
        'Internal fan abnormal',
        'An internal fan does not run as it should.',
      ]),
      warning(2, 'Comm err', 'communication', [
        'Communication error',
        'Communication is disturbed.',
      ]),
      warning(3, 'Warn0030', 'internal', ['EEPROM fault', 'The EEPROM has a fault.']),
      warning(4, 'Warn0040', 'dc', [
        'DC surge protection abnormal',
        'The lightning protection of the DC side is not as it should be.',
      ]),
      warning(5, 'Warn0050', 'temperature', [
        'Temperature sensor abnormal',
        'A temperature sensor is not as it should be.',
      ]),
      warning(7, 'Warn0070', 'ac_grid', [
        'AC surge protection abnormal',
        'The varistor of the AC side is not as it should be.',
      ]),
    ],
    [
      major(0, 'Protect0090', 'dc', [
        'DC bus voltage high',
        'The sum of the DC bus voltages is too high.',
      ]),
      major(2, 'Protect0070', 'dc', [
        'DC bus differential high',
        'The differential voltage of the DC bus is too high.',
      ]),
      major(3, 'Protect0060', 'dc', [
        'DC bus soft start timed out',
        'The soft start of the DC bus took too long.',
      ]),
      major(4, 'Protect0050', 'internal', [
        'Inverter soft start timed out',
        'The soft start of the inverter stage took too long.',
      ]),
      major(5, 'Pvvoltage over', 'dc', [
        'PV overvoltage',
        'The PV voltage is above its limit.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ]),
      major(6, 'Protect0040', 'dc', ['PV1 overcurrent', 'The current of input PV1 is too high.']),
      major(7, 'Grid voltage outside limit07', 'ac_grid', [
        'Grid line voltage beyond limit',
        'The line voltage of the grid is beyond its limit.',
      ]),
      major(8, 'Grid voltage outside limit08', 'ac_grid', [
        'Grid phase voltage beyond limit',
        'The phase voltage of the grid is beyond its limit.',
      ]),
      major(9, 'Protect0030', 'ac_grid', [
        'Inverter overcurrent',
        'The current of the inverter stage is too high.',
      ]),
      major(10, 'Grid frequency outside limit', 'ac_grid', [
        'Grid overfrequency',
        'The grid frequency is too high.',
        { sunspec_event: 'OVER_FREQUENCY' },
      ]),
      major(11, 'Grid voltage outside limit11', 'ac_grid', [
        'Grid underfrequency',
        'The grid frequency is too low.',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ]),
      major(12, 'Grid voltage outside limit12', 'ac_grid', [
        'Out of phase',
        'The inverter reports that it and the grid are out of phase.',
      ]),
      major(13, 'Protect0020', 'ac_grid', [
        'Grid relay protection',
        'The relay that connects to the grid protected the inverter.',
      ]),
      major(14, 'Temp over', 'temperature', [
        'Overtemperature',
        'The inverter is too hot.',
        { sunspec_event: 'OVER_TEMP' },
      ]),
      major(15, 'Protect0010', 'internal', [
        'Inverter current offset',
        'The current of the inverter stage is measured with an offset.',
      ]),
    ],
    [
      major(1, 'Protect0180', 'internal', [
        'DC component offset',
        'The DC component of the output is measured with an offset.',
      ]),
      major(2, 'Protect0170', 'ac_grid', [
        'DC in the output too high',
        'The DC component of the output current is too high.',
      ]),
      major(3, 'Isolation err', 'insulation', [
        'Insulation resistance low',
        'The array is badly insulated against earth.',
      ]),
      major(4, 'GFCIErr', 'insulation', [
        'Leakage current high',
        'The leakage current is too high.',
      ]),
      major(5, 'Protect0160', 'ac_grid', [
        'Frequency selection anomaly',
        'The inverter reports a frequency selection anomaly, not explained by its maker.',
      ]),
      major(6, 'PVReverse', 'dc', [
        'PV polarity reversed',
        'The PV input is connected with plus and minus exchanged.',
      ]),
      major(7, 'Protect0150', 'internal', [
        'Controller protection',
        'The microcontroller protected the inverter.',
      ]),
      major(8, 'Protect0140', 'ac_grid', [
        'Inverter overcurrent, by hardware',
        'The hardware protection of the inverter stage saw too much current.',
      ]),
      major(9, 'Grid voltage outside limit09', 'ac_grid', [
        'Grid voltages unbalanced',
        'The voltages of the grid are unbalanced.',
      ]),
      major(11, 'Protect0130', 'ac_grid', [
        'Inverter currents unbalanced',
        'The currents of the inverter stage are unbalanced.',
      ]),
      major(12, 'Protect0120', 'internal', [
        'Power module protection',
        'The power module protected itself.',
      ]),
      major(13, 'Accont err', 'ac_grid', [
        'AC cont error',
        'The inverter reports an error of its “AC cont”, not explained by its maker.',
      ]),
      major(14, 'Protect0110', 'dc', [
        'DC bus overvoltage, by hardware',
        'The hardware protection of the DC bus saw too much voltage.',
      ]),
      major(15, 'Protect0100', 'internal', [
        'Leakage current sensor fault',
        'The sensor of leakage current is faulty.',
      ]),
    ],
    [
      major(1, 'Protect0210', 'internal', [
        'Internal hardware abnormal',
        'Hardware inside the inverter is not as it should be.',
      ]),
      major(2, 'Protect0220', 'internal', [
        'Input and output power differ',
        'Power in and power out do not match.',
      ]),
      major(3, 'Pv2 reverse', 'dc', [
        'PV2 polarity reversed',
        'Input PV2 is connected with plus and minus exchanged.',
      ]),
      major(4, 'Protect0240', 'dc', ['PV2 overcurrent', 'The current of input PV2 is too high.']),
      major(5, 'Pv2 voltage over', 'dc', [
        'PV2 overvoltage',
        'The voltage of input PV2 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ]),
      major(6, 'Protect0260', 'dc', [
        'PV source abnormal',
        'The source at the PV input is not as it should be.',
      ]),
      major(7, 'Protect0230', 'internal', [
        'Open-loop test at start',
        'The open-loop test at the start of the inverter found a fault.',
      ]),
      major(8, 'GFDIErr', 'insulation', [
        'Ground fault detector error',
        'The ground fault detector and interrupter reports an error.',
      ]),
      major(9, 'Pv1 reverse', 'dc', [
        'PV1 polarity reversed',
        'Input PV1 is connected with plus and minus exchanged.',
      ]),
      major(10, 'Pv1 voltage over', 'dc', [
        'PV1 overvoltage',
        'The voltage of input PV1 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ]),
      major(11, 'Pv3 reverse', 'dc', [
        'PV3 polarity reversed',
        'Input PV3 is connected with plus and minus exchanged.',
      ]),
      major(12, 'Pv3 voltage over', 'dc', [
        'PV3 overvoltage',
        'The voltage of input PV3 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ]),
      major(15, 'Emergency stp', 'other', [
        'Emergency stop',
        'The inverter reports an emergency stop.',
      ]),
    ],
  ],
)
