import { alarmTable, graded } from './table.ts'

const major = graded('major')
const minor = graded('minor')
const warning = graded('warning')

/**
 * Registers 32008 to 32010 (Alarm 1 to 3) are `alarm_1` to `alarm_3`. Codes, positions, severities
 * and causes are the maker's.
 */
export const huaweiSun2000 = alarmTable(
  {
    table_id: 'huawei-sun2000',
    manufacturer: 'Huawei',
    model_family: 'SUN2000',
    table_version: '1',
    word_bits: 16,
    not_available: 'all_bits',
    severity_by: 'manufacturer',
    source: 'Huawei, Solar Inverter Modbus Interface Definitions, Issue 08, table 5-1',
  },
  [
    [
      major(0, '2001', 'dc', [
        'String input voltage high',
        'The open-circuit voltage of a string exceeds the highest input voltage of the inverter.',
        { cause: 'Too many modules in series.', sunspec_event: 'DC_OVER_VOLT' },
      ]),
      major(1, '2002', 'arc', [
        'DC arc fault',
        'The arc detection unit sees an arc on the DC side.',
        { cause: 'A cable of a string arcs or makes poor contact.' },
      ]),
      major(2, '2011', 'dc', [
        'String polarity reversed',
        'A string is connected with plus and minus exchanged.',
      ]),
      warning(3, '2012', 'dc', [
        'String current flows back',
        'Current flows into a string from those parallel to it.',
        {
          cause:
            'Too few modules in the string, so that its voltage is below that of its neighbours.',
        },
      ]),
      warning(4, '2013', 'dc', [
        'String power abnormal',
        'The power of a string is not as expected.',
      ]),
      major(5, '2021', 'arc', [
        'Arc detection self-test failed',
        'The arc detection unit failed its test of itself.',
      ]),
      major(6, '2031', 'insulation', [
        'Phase wire shorted to earth',
        'An output phase wire is shorted to protective earth, or nearly so.',
      ]),
      major(7, '2032', 'ac_grid', [
        'Grid lost',
        'There is no grid voltage at the output.',
        {
          cause: 'Grid outage, or the AC circuit or switch is open.',
          sunspec_event: 'GRID_DISCONNECT',
        },
      ]),
      major(8, '2033', 'ac_grid', [
        'Grid undervoltage',
        'The grid voltage is below its lower limit, or low for longer than ride-through allows.',
        { sunspec_event: 'AC_UNDER_VOLT' },
      ]),
      major(9, '2034', 'ac_grid', [
        'Grid overvoltage',
        'The grid voltage is above its upper limit, or high for longer than ride-through allows.',
        { sunspec_event: 'AC_OVER_VOLT' },
      ]),
      major(10, '2035', 'ac_grid', [
        'Grid voltages unbalanced',
        'The phase voltages of the grid differ by more than the limit.',
      ]),
      major(11, '2036', 'ac_grid', [
        'Grid overfrequency',
        'The grid frequency is above what the local grid code allows.',
        { sunspec_event: 'OVER_FREQUENCY' },
      ]),
      major(12, '2037', 'ac_grid', [
        'Grid underfrequency',
        'The grid frequency is below what the local grid code allows.',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ]),
      major(13, '2038', 'ac_grid', [
        'Grid frequency unstable',
        'The grid frequency changes faster than the local grid code allows.',
      ]),
      major(14, '2039', 'ac_grid', [
        'Output overcurrent',
        'The output current went above its limit for a moment.',
        { cause: 'The grid voltage fell sharply, or the grid is short-circuited.' },
      ]),
      major(15, '2040', 'ac_grid', [
        'DC in the output too high',
        'The DC component of the output current exceeds its limit.',
      ]),
    ],
    [
      major(0, '2051', 'insulation', [
        'Residual current abnormal',
        'The residual current is not as it should be.',
        { cause: 'The insulation of the input against earth got worse during operation.' },
      ]),
      major(1, '2061', 'insulation', [
        'Grounding abnormal',
        'The inverter is not grounded as it needs to be.',
        {
          cause:
            'Neutral or ground not connected, or a grounded array without isolation transformer.',
        },
      ]),
      major(2, '2062', 'insulation', [
        'Insulation resistance low',
        'The array is badly insulated against earth.',
        { cause: 'The array is shorted to protective earth, or moisture weakens its insulation.' },
      ]),
      minor(3, '2063', 'temperature', [
        'Overtemperature',
        'The inverter is too hot.',
        {
          cause: 'Poor ventilation, hot surroundings, or a fault of the inverter.',
          sunspec_event: 'OVER_TEMP',
        },
      ]),
      major(4, '2064', 'internal', [
        'Device fault',
        'A circuit inside the inverter failed beyond recovery; a cause number tells which.',
      ]),
      minor(5, '2065', 'internal', [
        'Upgrade failed or versions differ',
        'The firmware is incomplete, or its parts do not match.',
        { cause: 'A firmware upgrade did not end normally.' },
      ]),
      warning(6, '2066', 'other', [
        'Licence expired',
        'The licence has expired or is in its period of grace.',
      ]),
      minor(7, '61440', 'internal', [
        'Monitoring unit faulty',
        'The monitoring unit has a fault.',
        { cause: 'Its flash memory is full or has bad sectors.' },
      ]),
      major(8, '2067', 'communication', [
        'Power collector faulty',
        'The power meter or collector has a fault.',
        { cause: 'Communication with it is interrupted.' },
      ]),
      minor(9, '2068', 'battery', [
        'Battery abnormal',
        'The attached energy storage is not as it should be.',
      ]),
      major(10, '2070', 'ac_grid', [
        'Islanding found by active test',
        'The active method of the inverter detected an island.',
      ]),
      major(11, '2071', 'ac_grid', [
        'Islanding found by observation',
        'The passive method of the inverter detected an island.',
      ]),
      major(12, '2072', 'ac_grid', [
        'AC overvoltage, transient',
        'A phase voltage went above the limit for transients.',
        { sunspec_event: 'AC_OVER_VOLT' },
      ]),
      warning(13, '2075', 'other', [
        'Peripheral port shorted',
        'The 12 V port for peripherals is short-circuited.',
      ]),
      major(14, '2077', 'ac_grid', [
        'Off-grid output overloaded',
        'The output for off-grid operation is overloaded.',
      ]),
      major(15, '2080', 'dc', [
        'Module configuration abnormal',
        'The modules are not connected as the inverter expects.',
      ]),
    ],
    [
      warning(0, '2081', 'dc', ['Optimizer fault', 'A power optimizer of the array has a fault.']),
      minor(1, '2085', 'internal', [
        'PID unit abnormal',
        'The built-in unit against potential-induced degradation does not work as it should.',
      ]),
      major(2, '2014', 'dc', [
        'String voltage to ground high',
        'The voltage of an input string to ground is too high.',
      ]),
      major(3, '2086', 'fan', [
        'External fan abnormal',
        'An external fan does not run as it should.',
      ]),
      major(4, '2069', 'battery', [
        'Battery polarity reversed',
        'The battery is connected with plus and minus exchanged.',
      ]),
      major(5, '2082', 'ac_grid', [
        'Grid switching controller abnormal',
        'The controller that switches between on-grid and off-grid has a fault.',
      ]),
      warning(6, '2015', 'dc', ['String lost', 'A string that should be there is missing.']),
      major(7, '2087', 'fan', [
        'Internal fan abnormal',
        'An internal fan does not run as it should.',
      ]),
      major(8, '2088', 'dc', [
        'DC protection unit abnormal',
        'The unit that protects the DC side has a fault.',
      ]),
      minor(9, '2089', 'internal', ['EL unit abnormal', 'The EL unit is not as it should be.']),
      major(10, '2090', 'communication', [
        'Active power instruction abnormal',
        'The instruction that adjusts active power is not as it should be.',
      ]),
      major(11, '2091', 'communication', [
        'Reactive power instruction abnormal',
        'The instruction that adjusts reactive power is not as it should be.',
      ]),
      major(12, '2092', 'ac_grid', [
        'Current transformer wiring abnormal',
        'The current transformer is not wired as it should be.',
      ]),
      major(13, '2003', 'arc', [
        'DC arc fault, to be cleared by hand',
        'The arc detection unit sees an arc on the DC side; it must be cleared by hand.',
        { auto_clears: false },
      ]),
      minor(14, '2093', 'dc', ['DC switch abnormal', 'The DC switch is not as it should be.']),
      warning(15, '2094', 'battery', [
        'Battery discharge capacity low',
        'Little discharge capacity of the battery is allowed.',
      ]),
    ],
  ],
)
