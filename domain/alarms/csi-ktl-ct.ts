import { alarmTable } from './table.ts'

/**
 * Input registers 0x34 to 0x38: permanent faults, warnings and three words of faults, the five of
 * `alarm_1` to `alarm_5`. The code is the maker's label. Bits that it reserves are left out: one
 * that is set is as unknown as one that it never named.
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
      [
        { bit: 0, code: 'Fault0130', severity: 'major', category: 'dc' },
        'DC bus voltage high, permanent',
        'The sum of the DC bus voltages is too high.',
      ],
      [
        { bit: 1, code: 'Fault0120', severity: 'major', category: 'internal' },
        '3.3 V supply low',
        'The internal 3.3 V supply is too low.',
      ],
      [
        { bit: 2, code: 'Fault0110', severity: 'major', category: 'dc' },
        'DC bus differential high, permanent',
        'The differential voltage of the DC bus is too high.',
      ],
      [
        { bit: 3, code: 'Fault0100', severity: 'major', category: 'internal' },
        'Relay fault, permanent',
        'A relay is faulty.',
      ],
      [
        { bit: 4, code: 'Fault0090', severity: 'major', category: 'insulation' },
        'Ground fault monitor, permanent',
        'The ground fault monitor reports a fault in steady state.',
      ],
      [
        { bit: 5, code: 'Fault0080', severity: 'major', category: 'dc' },
        'Boost overcurrent, permanent',
        'The hardware protection of the boost stage saw too much current.',
      ],
      [
        { bit: 6, code: 'Fault0070', severity: 'major', category: 'ac_grid' },
        'DC in the output too high, permanent',
        'The DC component of the output current is too high.',
      ],
      [
        { bit: 7, code: 'Fault0060', severity: 'major', category: 'dc' },
        'DC bus overvoltage, permanent',
        'The hardware protection of the DC bus saw too much voltage.',
      ],
      [
        { bit: 8, code: 'Fault0050', severity: 'major', category: 'ac_grid' },
        'Inverter overcurrent, permanent',
        'The hardware protection of the inverter stage saw too much current.',
      ],
      [
        { bit: 9, code: 'Fault0040', severity: 'major', category: 'internal' },
        'Driver supply fault, permanent',
        'The supply of the drivers has failed.',
      ],
      [
        { bit: 12, code: 'Fault0010', severity: 'major', category: 'internal' },
        'Power module fault, permanent',
        'A power module has failed.',
      ],
      [
        { bit: 13, code: 'Fault0140', severity: 'major', category: 'internal' },
        'Internal hardware fault',
        'Hardware inside the inverter has failed.',
      ],
      [
        { bit: 14, code: 'Fault0150', severity: 'major', category: 'internal' },
        'Open-loop self-test failed',
        'The inverter failed its open-loop test of itself.',
      ],
      [
        { bit: 15, code: 'Fault0160', severity: 'major', category: 'internal' },
        'Control board or driver supply fault',
        'A voltage of the control board, or the supply of the drivers, is wrong.',
      ],
    ],
    [
      [
        { bit: 0, code: 'Warn0010', severity: 'warning', category: 'fan' },
        'External fan abnormal',
        'An external fan does not run as it should.',
      ],
      [
        { bit: 1, code: 'Warn0020', severity: 'warning', category: 'fan' },
        'Internal fan abnormal',
        'An internal fan does not run as it should.',
      ],
      [
        { bit: 2, code: 'Comm err', severity: 'warning', category: 'communication' },
        'Communication error',
        'Communication is disturbed.',
      ],
      [
        { bit: 3, code: 'Warn0030', severity: 'warning', category: 'internal' },
        'EEPROM fault',
        'The EEPROM has a fault.',
      ],
      [
        { bit: 4, code: 'Warn0040', severity: 'warning', category: 'dc' },
        'DC surge protection abnormal',
        'The lightning protection of the DC side is not as it should be.',
      ],
      [
        { bit: 5, code: 'Warn0050', severity: 'warning', category: 'temperature' },
        'Temperature sensor abnormal',
        'A temperature sensor is not as it should be.',
      ],
      [
        { bit: 7, code: 'Warn0070', severity: 'warning', category: 'ac_grid' },
        'AC surge protection abnormal',
        'The varistor of the AC side is not as it should be.',
      ],
    ],
    [
      [
        { bit: 0, code: 'Protect0090', severity: 'major', category: 'dc' },
        'DC bus voltage high',
        'The sum of the DC bus voltages is too high.',
      ],
      [
        { bit: 2, code: 'Protect0070', severity: 'major', category: 'dc' },
        'DC bus differential high',
        'The differential voltage of the DC bus is too high.',
      ],
      [
        { bit: 3, code: 'Protect0060', severity: 'major', category: 'dc' },
        'DC bus soft start timed out',
        'The soft start of the DC bus took too long.',
      ],
      [
        { bit: 4, code: 'Protect0050', severity: 'major', category: 'internal' },
        'Inverter soft start timed out',
        'The soft start of the inverter stage took too long.',
      ],
      [
        { bit: 5, code: 'Pvvoltage over', severity: 'major', category: 'dc' },
        'PV overvoltage',
        'The PV voltage is above its limit.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 6, code: 'Protect0040', severity: 'major', category: 'dc' },
        'PV1 overcurrent',
        'The current of input PV1 is too high.',
      ],
      [
        { bit: 7, code: 'Grid voltage outside limit07', severity: 'major', category: 'ac_grid' },
        'Grid line voltage beyond limit',
        'The line voltage of the grid is beyond its limit.',
      ],
      [
        { bit: 8, code: 'Grid voltage outside limit08', severity: 'major', category: 'ac_grid' },
        'Grid phase voltage beyond limit',
        'The phase voltage of the grid is beyond its limit.',
      ],
      [
        { bit: 9, code: 'Protect0030', severity: 'major', category: 'ac_grid' },
        'Inverter overcurrent',
        'The current of the inverter stage is too high.',
      ],
      [
        { bit: 10, code: 'Grid frequency outside limit', severity: 'major', category: 'ac_grid' },
        'Grid overfrequency',
        'The grid frequency is too high.',
        { sunspec_event: 'OVER_FREQUENCY' },
      ],
      [
        { bit: 11, code: 'Grid voltage outside limit11', severity: 'major', category: 'ac_grid' },
        'Grid underfrequency',
        'The grid frequency is too low.',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ],
      [
        { bit: 12, code: 'Grid voltage outside limit12', severity: 'major', category: 'ac_grid' },
        'Out of phase',
        'The inverter reports that it and the grid are out of phase.',
      ],
      [
        { bit: 13, code: 'Protect0020', severity: 'major', category: 'ac_grid' },
        'Grid relay protection',
        'The relay that connects to the grid protected the inverter.',
      ],
      [
        { bit: 14, code: 'Temp over', severity: 'major', category: 'temperature' },
        'Overtemperature',
        'The inverter is too hot.',
        { sunspec_event: 'OVER_TEMP' },
      ],
      [
        { bit: 15, code: 'Protect0010', severity: 'major', category: 'internal' },
        'Inverter current offset',
        'The current of the inverter stage is measured with an offset.',
      ],
    ],
    [
      [
        { bit: 1, code: 'Protect0180', severity: 'major', category: 'internal' },
        'DC component offset',
        'The DC component of the output is measured with an offset.',
      ],
      [
        { bit: 2, code: 'Protect0170', severity: 'major', category: 'ac_grid' },
        'DC in the output too high',
        'The DC component of the output current is too high.',
      ],
      [
        { bit: 3, code: 'Isolation err', severity: 'major', category: 'insulation' },
        'Insulation resistance low',
        'The array is badly insulated against earth.',
      ],
      [
        { bit: 4, code: 'GFCIErr', severity: 'major', category: 'insulation' },
        'Leakage current high',
        'The leakage current is too high.',
      ],
      [
        { bit: 5, code: 'Protect0160', severity: 'major', category: 'ac_grid' },
        'Frequency selection anomaly',
        'The inverter reports a frequency selection anomaly, not explained by its maker.',
      ],
      [
        { bit: 6, code: 'PVReverse', severity: 'major', category: 'dc' },
        'PV polarity reversed',
        'The PV input is connected with plus and minus exchanged.',
      ],
      [
        { bit: 7, code: 'Protect0150', severity: 'major', category: 'internal' },
        'Controller protection',
        'The microcontroller protected the inverter.',
      ],
      [
        { bit: 8, code: 'Protect0140', severity: 'major', category: 'ac_grid' },
        'Inverter overcurrent, by hardware',
        'The hardware protection of the inverter stage saw too much current.',
      ],
      [
        { bit: 9, code: 'Grid voltage outside limit09', severity: 'major', category: 'ac_grid' },
        'Grid voltages unbalanced',
        'The voltages of the grid are unbalanced.',
      ],
      [
        { bit: 11, code: 'Protect0130', severity: 'major', category: 'ac_grid' },
        'Inverter currents unbalanced',
        'The currents of the inverter stage are unbalanced.',
      ],
      [
        { bit: 12, code: 'Protect0120', severity: 'major', category: 'internal' },
        'Power module protection',
        'The power module protected itself.',
      ],
      [
        { bit: 13, code: 'Accont err', severity: 'major', category: 'ac_grid' },
        'AC cont error',
        'The inverter reports an error of its “AC cont”, not explained by its maker.',
      ],
      [
        { bit: 14, code: 'Protect0110', severity: 'major', category: 'dc' },
        'DC bus overvoltage, by hardware',
        'The hardware protection of the DC bus saw too much voltage.',
      ],
      [
        { bit: 15, code: 'Protect0100', severity: 'major', category: 'internal' },
        'Leakage current sensor fault',
        'The sensor of leakage current is faulty.',
      ],
    ],
    [
      [
        { bit: 1, code: 'Protect0210', severity: 'major', category: 'internal' },
        'Internal hardware abnormal',
        'Hardware inside the inverter is not as it should be.',
      ],
      [
        { bit: 2, code: 'Protect0220', severity: 'major', category: 'internal' },
        'Input and output power differ',
        'Power in and power out do not match.',
      ],
      [
        { bit: 3, code: 'Pv2 reverse', severity: 'major', category: 'dc' },
        'PV2 polarity reversed',
        'Input PV2 is connected with plus and minus exchanged.',
      ],
      [
        { bit: 4, code: 'Protect0240', severity: 'major', category: 'dc' },
        'PV2 overcurrent',
        'The current of input PV2 is too high.',
      ],
      [
        { bit: 5, code: 'Pv2 voltage over', severity: 'major', category: 'dc' },
        'PV2 overvoltage',
        'The voltage of input PV2 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 6, code: 'Protect0260', severity: 'major', category: 'dc' },
        'PV source abnormal',
        'The source at the PV input is not as it should be.',
      ],
      [
        { bit: 7, code: 'Protect0230', severity: 'major', category: 'internal' },
        'Open-loop test at start',
        'The open-loop test at the start of the inverter found a fault.',
      ],
      [
        { bit: 8, code: 'GFDIErr', severity: 'major', category: 'insulation' },
        'Ground fault detector error',
        'The ground fault detector and interrupter reports an error.',
      ],
      [
        { bit: 9, code: 'Pv1 reverse', severity: 'major', category: 'dc' },
        'PV1 polarity reversed',
        'Input PV1 is connected with plus and minus exchanged.',
      ],
      [
        { bit: 10, code: 'Pv1 voltage over', severity: 'major', category: 'dc' },
        'PV1 overvoltage',
        'The voltage of input PV1 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 11, code: 'Pv3 reverse', severity: 'major', category: 'dc' },
        'PV3 polarity reversed',
        'Input PV3 is connected with plus and minus exchanged.',
      ],
      [
        { bit: 12, code: 'Pv3 voltage over', severity: 'major', category: 'dc' },
        'PV3 overvoltage',
        'The voltage of input PV3 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 15, code: 'Emergency stp', severity: 'major', category: 'other' },
        'Emergency stop',
        'The inverter reports an emergency stop.',
      ],
    ],
  ],
)
