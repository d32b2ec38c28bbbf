import { alarmTable, graded } from './table.ts'

type Words = Parameters<typeof major>
const major = graded('major')
const fault = (bit: Words[0], category: Words[2], texts: Words[3]) =>
  major(bit, '', category, texts)

/**
 * Registers 0x36 to 0x3A (Fault0 to Fault4) are `alarm_1` to `alarm_5`. The maker gives no codes:
 * the code is word and bit. Words 0x34 and 0x35 (permanent faults and warnings) are not read, as a
 * reading has five alarm words.
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
      fault(0, 'dc', ['DC bus overvoltage', 'The sum of the DC bus voltages is too high.']),
      fault(1, 'dc', ['DC bus undervoltage', 'The sum of the DC bus voltages is too low.']),
      fault(2, 'dc', ['DC bus unbalanced', 'The voltages of the DC bus are unbalanced.']),
      fault(3, 'dc', [
        'DC bus soft start timed out',
        'The soft start of the DC bus took too long.',
      ]),
      fault(4, 'internal', [
        'Inverter soft start timed out',
        'The soft start of the inverter stage took too long.',
      ]),
      fault(6, 'dc', ['PV1 overcurrent', 'The current of input PV1 is too high.']),
      fault(7, 'ac_grid', [
        'Grid line voltage out of range',
        'The line voltage of the grid is out of its range.',
      ]),
      fault(8, 'ac_grid', [
        'Grid phase voltage out of range',
        'The phase voltage of the grid is out of its range.',
      ]),
      fault(9, 'ac_grid', [
        'Inverter overcurrent',
        'The current of the inverter stage is too high.',
      ]),
      fault(10, 'ac_grid', [
        'Grid overfrequency',
        'The grid frequency is too high.',
        { sunspec_event: 'OVER_FREQUENCY' },
      ]),
      fault(11, 'ac_grid', [
        'Grid underfrequency',
        'The grid frequency is too low.',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ]),
      fault(12, 'ac_grid', [
        'Loss of mains',
        'The grid is lost.',
        { sunspec_event: 'GRID_DISCONNECT' },
      ]),
      fault(13, 'ac_grid', [
        'Grid relay',
        'The relay that connects to the grid is not as it should be.',
      ]),
      fault(14, 'temperature', [
        'Overtemperature',
        'The inverter is too hot.',
        { sunspec_event: 'OVER_TEMP' },
      ]),
      fault(15, 'internal', [
        'Output current offset',
        'The output current is sampled with an offset.',
      ]),
    ],
    [
      fault(0, 'internal', [
        'Inverter voltage offset',
        'The voltage of the inverter stage has an offset.',
      ]),
      fault(1, 'internal', [
        'DC component offset',
        'The DC component of the output is measured with an offset.',
      ]),
      fault(2, 'ac_grid', [
        'DC in the output too high',
        'The DC component of the output current is too high.',
      ]),
      fault(3, 'insulation', [
        'Insulation resistance low',
        'The array is badly insulated against earth.',
      ]),
      fault(4, 'insulation', [
        'Leakage current high, dynamic',
        'The dynamic leakage current is too high.',
      ]),
      fault(5, 'ac_grid', [
        'Frequency detection',
        'The detection of the grid frequency reports a fault.',
      ]),
      fault(7, 'internal', [
        'Controller protection',
        'The microcontroller protected the inverter.',
      ]),
      fault(8, 'ac_grid', [
        'Inverter overcurrent, by hardware',
        'The hardware protection of the inverter stage saw too much current.',
      ]),
      fault(9, 'ac_grid', ['Grid voltages unbalanced', 'The voltages of the grid are unbalanced.']),
      fault(11, 'ac_grid', [
        'Inverter currents unbalanced',
        'The currents of the inverter stage are unbalanced.',
      ]),
      fault(12, 'internal', ['Power module protection', 'The power module protected itself.']),
      fault(15, 'internal', [
        'Leakage current sensor fault',
        'The sensor of leakage current is faulty.',
      ]),
    ],
    [
      fault(1, 'internal', [
        'Internal hardware error',
        'Hardware inside the inverter is not as it should be.',
      ]),
      fault(2, 'internal', [
        'Input and output power differ',
        'Power in and power out do not match.',
      ]),
      fault(3, 'dc', [
        'PV2 polarity reversed',
        'Input PV2 is connected with plus and minus exchanged.',
      ]),
      fault(4, 'dc', ['PV2 overcurrent', 'The current of input PV2 is too high.']),
      fault(5, 'dc', [
        'PV2 overvoltage',
        'The voltage of input PV2 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ]),
      fault(6, 'dc', ['PV input abnormal', 'The source at the PV input is not as it should be.']),
      fault(7, 'internal', [
        'Open-loop self-test failed',
        'The inverter failed its open-loop test of itself.',
      ]),
      fault(9, 'dc', [
        'PV1 polarity reversed',
        'Input PV1 is connected with plus and minus exchanged.',
      ]),
      fault(10, 'dc', [
        'PV1 overvoltage',
        'The voltage of input PV1 is too high.',
        { sunspec_event: 'DC_OVER_VOLT' },
      ]),
      fault(13, 'arc', [
        'Arc board abnormal',
        'The board that detects arcs is not as it should be.',
      ]),
      fault(14, 'insulation', [
        'Ground fault protection, static',
        'The protection against static ground fault current acted.',
      ]),
      fault(15, 'arc', ['Arc protection', 'The protection against arcs acted.']),
    ],
    [fault(15, 'arc', ['Arc protection 3', 'The protection against arcs acted.'])],
    [
      fault(0, 'internal', ['15 V supply low', 'The 15 V supply of the control board is too low.']),
      fault(1, 'insulation', [
        'Ground fault current high, static',
        'The static ground fault current is too high.',
      ]),
      fault(2, 'arc', ['Arc board failed', 'The board that detects arcs has failed.']),
      fault(3, 'dc', [
        'Module configuration error',
        'The PV modules are not configured as the inverter expects.',
      ]),
    ],
  ].map((alarms, index) =>
    alarms.map((one) => ({ ...one, code: `${index + 1}.${String(one.bit).padStart(2, '0')}` })),
  ),
)
