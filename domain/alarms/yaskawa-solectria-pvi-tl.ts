import { alarmTable } from './table.ts'

/**
 * Registers 0x36 to 0x3A (Fault0 to Fault4) are `alarm_1` to `alarm_5`. The maker gives its faults
 * no codes, so a code is the word and the bit. Its words of permanent faults and warnings, 0x34
 * and 0x35, have no place among the five.
 */
export const yaskawaSolectriaPviTl = alarmTable(
  {
    table_id: 'yaskawa-solectria-pvi-tl',
    manufacturer: 'Yaskawa Solectria',
    model_family: 'PVI-TL',
    table_version: '1',
    word_bits: 16,
    not_available: 'all_bits',
    severity_by: 'heliograph',
    source: 'Names in public driver code for PVI-TL inverters, registers 0x36 to 0x3A',
  },
  [
    [
      [
        { bit: 0, code: '1.00', severity: 'major', category: 'dc' },
        'DC bus overvoltage',
        'The sum of the DC bus voltages is too high.',
      ],
      [
        { bit: 1, code: '1.01', severity: 'major', category: 'dc' },
        'DC bus undervoltage',
        'The sum of the DC bus voltages is too low.',
      ],
      [
        { bit: 2, code: '1.02', severity: 'major', category: 'dc' },
        'DC bus unbalanced',
        'The voltages of the DC bus are unbalanced.',
      ],
      [
        { bit: 3, code: '1.03', severity: 'major', category: 'dc' },
        'DC bus soft start timed out',
        'The soft start of the DC bus took too long.',
      ],
      [
        { bit: 4, code: '1.04', severity: 'major', category: 'internal' },
        'Inverter soft start timed out',
        'The soft start of the inverter stage took too long.',
      ],
      [
        { bit: 6, code: '1.06', severity: 'major', category: 'dc' },
        'PV1 overcurrent',
        'The current of input PV1 is too high.',
      ],
      [
        { bit: 7, code: '1.07', severity: 'major', category: 'ac_grid' },
        'Grid line voltage out of range',
        'The line voltage of the grid is out of its range.',
      ],
      [
        { bit: 8, code: '1.08', severity: 'major', category: 'ac_grid' },
        'Grid phase voltage out of range',
        'The phase voltage of the grid is out of its range.',
      ],
      [
        { bit: 9, code: '1.09', severity: 'major', category: 'ac_grid' },
        'Inverter overcurrent',
        'The current of the inverter stage is too high.',
      ],
      [
        { bit: 10, code: '1.10', severity: 'major', category: 'ac_grid' },
        'Grid overfrequency',
        'The grid frequency is too high.',
        { sunspec_event: 'OVER_FREQUENCY' },
      ],
      [
        { bit: 11, code: '1.11', severity: 'major', category: 'ac_grid' },
        'Grid underfrequency',
        'The grid frequency is too low.',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ],
      [
        { bit: 12, code: '1.12', severity: 'major', category: 'ac_grid' },
        'Loss of mains',
        'The grid is lost.',
        { sunspec_event: 'GRID_DISCONNECT' },
      ],
      [
        { bit: 13, code: '1.13', severity: 'major', category: 'ac_grid' },
        'Grid relay',
        'The relay that connects to the grid is not as it should be.',
      ],
      [
        { bit: 14, code: '1.14', severity: 'major', category: 'temperature' },
        'Overtemperature',
        'The inverter is too hot.',
        { sunspec_event: 'OVER_TEMP' },
      ],
      [
        { bit: 15, code: '1.15', severity: 'major', category: 'internal' },
        'Output current offset',
        'The output current is sampled with an offset.',
      ],
    ],
    [
      [
        { bit: 0, code: '2.00', severity: 'major', category: 'internal' },
        'Inverter voltage offset',
        'The voltage of the inverter stage has an offset.',
      ],
      [
        { bit: 1, code: '2.01', severity: 'major', category: 'internal' },
        'DC component offset',
        'The DC component of the output is measured with an offset.',
      ],
      [
        { bit: 2, code: '2.02', severity: 'major', category: 'ac_grid' },
        'DC in the output too high',
        'The DC component of the output current is too high.',
      ],
      [
        { bit: 3, code: '2.03', severity: 'major', category: 'insulation' },
        'Insulation resistance low',
        'The array is badly insulated against earth.',
      ],
      [
        { bit: 4, code: '2.04', severity: 'major', category: 'insulation' },
        'Leakage current high, dynamic',
        'The dynamic leakage current is too high.',
      ],
      [
        { bit: 5, code: '2.05', severity: 'major', category: 'ac_grid' },
        'Frequency detection',
        'The detection of the grid frequency reports a fault.',
      ],
      [
        { bit: 7, code: '2.07', severity: 'major', category: 'internal' },
        'Controller protection',
        'The microcontroller protected the inverter.',
      ],
      [
        { bit: 8, code: '2.08', severity: 'major', category: 'ac_grid' },
        'Inverter overcurrent, by hardware',
        'The hardware protection of the inverter stage saw too much current.',
      ],
      [
        { bit: 9, code: '2.09', severity: 'major', category: 'ac_grid' },
        'Grid voltages unbalanced',
        'The voltages of the grid are unbalanced.',
      ],
      [
        { bit: 11, code: '2.11', severity: 'major', category: 'ac_grid' },
        'Inverter currents unbalanced',
        'The currents of the inverter stage are unbalanced.',
      ],
      [
        { bit: 12, code: '2.12', severity: 'major', category: 'internal' },
        'Power module protection',
        'The power module protected itself.',
      ],
      [
        { bit: 15, code: '2.15', severity: 'major', category: 'internal' },
        'Leakage current sensor fault',
        'The sensor of leakage current is faulty.',
      ],
    ],
    [
      [
        { bit: 1, code: '3.01', severity: 'major', category: 'internal' },
        'Internal hardware error',
        'Hardware inside the inverter is not as it should be.',
      ],
      [
        { bit: 2, code: '3.02', severity: 'major', category: 'internal' },
        'Input and output power differ',
        'Power in and power out do not match.',
      ],
      [
        { bit: 3, code: '3.03', severity: 'major', category: 'dc' },
        'PV2 polarity reversed',
        'Input PV2 is connected with plus and minus exchanged.',
      ],
      [
        { bit: 4, code: '3.04', severity: 'major', category: 'dc' },
        'PV2 overcurrent',
        'The current of input PV2 is too high.',
      ],
      [
        { bit: 5, code: '3.05', severity: 'major', category: 'dc' },
        'PV2 overvoltage',
        'The voltage of input PV2 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 6, code: '3.06', severity: 'major', category: 'dc' },
        'PV input abnormal',
        'The source at the PV input is not as it should be.',
      ],
      [
        { bit: 7, code: '3.07', severity: 'major', category: 'internal' },
        'Open-loop self-test failed',
        'The inverter failed its open-loop test of itself.',
      ],
      [
        { bit: 9, code: '3.09', severity: 'major', category: 'dc' },
        'PV1 polarity reversed',
        'Input PV1 is connected with plus and minus exchanged.',
      ],
      [
        { bit: 10, code: '3.10', severity: 'major', category: 'dc' },
        'PV1 overvoltage',
        'The voltage of input PV1 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 13, code: '3.13', severity: 'major', category: 'arc' },
        'Arc board abnormal',
        'The board that detects arcs is not as it should be.',
      ],
      [
        { bit: 14, code: '3.14', severity: 'major', category: 'insulation' },
        'Ground fault protection, static',
        'The protection against static ground fault current acted.',
      ],
      [
        { bit: 15, code: '3.15', severity: 'major', category: 'arc' },
        'Arc protection',
        'The protection against arcs acted.',
      ],
    ],
    [
      [
        { bit: 15, code: '4.15', severity: 'major', category: 'arc' },
        'Arc protection 3',
        'The protection against arcs acted.',
      ],
    ],
    [
      [
        { bit: 0, code: '5.00', severity: 'major', category: 'internal' },
        '15 V supply low',
        'The 15 V supply of the control board is too low.',
      ],
      [
        { bit: 1, code: '5.01', severity: 'major', category: 'insulation' },
        'Ground fault current high, static',
        'The static ground fault current is too high.',
      ],
      [
        { bit: 2, code: '5.02', severity: 'major', category: 'arc' },
        'Arc board failed',
        'The board that detects arcs has failed.',
      ],
      [
        { bit: 3, code: '5.03', severity: 'major', category: 'dc' },
        'Module configuration error',
        'The PV modules are not configured as the inverter expects.',
      ],
    ],
  ],
)
