import { alarmTable } from './table.ts'

/**
 * Registers 32008 to 32010 (Alarm 1 to 3) are `alarm_1` to `alarm_3`. Codes, positions and
 * severities are the maker's, and so are the causes that are given.
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
      [
        { bit: 0, code: '2001', severity: 'major', category: 'dc' },
        'String input voltage high',
        'The open-circuit voltage of a string exceeds the highest input voltage of the inverter.',
        { cause: 'Too many modules in series.', sunspec_event: 'DC_OVER_VOLT' },
      ],
      [
        { bit: 1, code: '2002', severity: 'major', category: 'arc' },
        'DC arc fault',
        'The arc detection unit sees an arc on the DC side.',
        { cause: 'A cable of a string arcs or makes poor contact.' },
      ],
      [
        { bit: 2, code: '2011', severity: 'major', category: 'dc' },
        'String polarity reversed',
        'A string is connected with plus and minus exchanged.',
      ],
      [
        { bit: 3, code: '2012', severity: 'warning', category: 'dc' },
        'String current flows back',
        'Current flows into a string from those parallel to it.',
        {
          cause:
            'Too few modules in the string, so that its voltage is below that of its neighbours.',
        },
      ],
      [
        { bit: 4, code: '2013', severity: 'warning', category: 'dc' },
        'String power abnormal',
        'The power of a string is not as expected.',
      ],
      [
        { bit: 5, code: '2021', severity: 'major', category: 'arc' },
        'Arc detection self-test failed',
        'The arc detection unit failed its test of itself.',
      ],
      [
        { bit: 6, code: '2031', severity: 'major', category: 'insulation' },
        'Phase wire shorted to earth',
        'An output phase wire is shorted to protective earth, or nearly so.',
      ],
      [
        { bit: 7, code: '2032', severity: 'major', category: 'ac_grid' },
        'Grid lost',
        'There is no grid voltage at the output.',
        {
          cause: 'Grid outage, or the AC circuit or switch is open.',
          sunspec_event: 'GRID_DISCONNECT',
        },
      ],
      [
        { bit: 8, code: '2033', severity: 'major', category: 'ac_grid' },
        'Grid undervoltage',
        'The grid voltage is below its lower limit, or low for longer than ride-through allows.',
        { sunspec_event: 'AC_UNDER_VOLT' },
      ],
      [
        { bit: 9, code: '2034', severity: 'major', category: 'ac_grid' },
        'Grid overvoltage',
        'The grid voltage is above its upper limit, or high for longer than ride-through allows.',
        { sunspec_event: 'AC_OVER_VOLT' },
      ],
      [
        { bit: 10, code: '2035', severity: 'major', category: 'ac_grid' },
        'Grid voltages unbalanced',
        'The phase voltages of the grid differ by more than the limit.',
      ],
      [
        { bit: 11, code: '2036', severity: 'major', category: 'ac_grid' },
        'Grid overfrequency',
        'The grid frequency is above what the local grid code allows.',
        { sunspec_event: 'OVER_FREQUENCY' },
      ],
      [
        { bit: 12, code: '2037', severity: 'major', category: 'ac_grid' },
        'Grid underfrequency',
        'The grid frequency is below what the local grid code allows.',
        { sunspec_event: 'UNDER_FREQUENCY' },
      ],
      [
        { bit: 13, code: '2038', severity: 'major', category: 'ac_grid' },
        'Grid frequency unstable',
        'The grid frequency changes faster than the local grid code allows.',
      ],
      [
        { bit: 14, code: '2039', severity: 'major', category: 'ac_grid' },
        'Output overcurrent',
        'The output current went above its limit for a moment.',
        { cause: 'The grid voltage fell sharply, or the grid is short-circuited.' },
      ],
      [
        { bit: 15, code: '2040', severity: 'major', category: 'ac_grid' },
        'DC in the output too high',
        'The DC component of the output current exceeds its limit.',
      ],
    ],
    [
      [
        { bit: 0, code: '2051', severity: 'major', category: 'insulation' },
        'Residual current abnormal',
        'The residual current is not as it should be.',
        { cause: 'The insulation of the input against earth got worse during operation.' },
      ],
      [
        { bit: 1, code: '2061', severity: 'major', category: 'insulation' },
        'Grounding abnormal',
        'The inverter is not grounded as it needs to be.',
        {
          cause:
            'Neutral or ground not connected, or a grounded array without isolation transformer.',
        },
      ],
      [
        { bit: 2, code: '2062', severity: 'major', category: 'insulation' },
        'Insulation resistance low',
        'The array is badly insulated against earth.',
        { cause: 'The array is shorted to protective earth, or moisture weakens its insulation.' },
      ],
      [
        { bit: 3, code: '2063', severity: 'minor', category: 'temperature' },
        'Overtemperature',
        'The inverter is too hot.',
        {
          cause: 'Poor ventilation, hot surroundings, or a fault of the inverter.',
          sunspec_event: 'OVER_TEMP',
        },
      ],
      [
        { bit: 4, code: '2064', severity: 'major', category: 'internal' },
        'Device fault',
        'A circuit inside the inverter failed beyond recovery; a cause number tells which.',
      ],
      [
        { bit: 5, code: '2065', severity: 'minor', category: 'internal' },
        'Upgrade failed or versions differ',
        'The firmware is incomplete, or its parts do not match.',
        { cause: 'A firmware upgrade did not end normally.' },
      ],
      [
        { bit: 6, code: '2066', severity: 'warning', category: 'other' },
        'Licence expired',
        'The licence has expired or is in its period of grace.',
      ],
      [
        { bit: 7, code: '61440', severity: 'minor', category: 'internal' },
        'Monitoring unit faulty',
        'The monitoring unit has a fault.',
        { cause: 'Its flash memory is full or has bad sectors.' },
      ],
      [
        { bit: 8, code: '2067', severity: 'major', category: 'communication' },
        'Power collector faulty',
        'The power meter or collector has a fault.',
        { cause: 'Communication with it is interrupted.' },
      ],
      [
        { bit: 9, code: '2068', severity: 'minor', category: 'battery' },
        'Battery abnormal',
        'The attached energy storage is not as it should be.',
      ],
      [
        { bit: 10, code: '2070', severity: 'major', category: 'ac_grid' },
        'Islanding found by active test',
        'The active method of the inverter detected an island.',
      ],
      [
        { bit: 11, code: '2071', severity: 'major', category: 'ac_grid' },
        'Islanding found by observation',
        'The passive method of the inverter detected an island.',
      ],
      [
        { bit: 12, code: '2072', severity: 'major', category: 'ac_grid' },
        'AC overvoltage, transient',
        'A phase voltage went above the limit for transients.',
        { sunspec_event: 'AC_OVER_VOLT' },
      ],
      [
        { bit: 13, code: '2075', severity: 'warning', category: 'other' },
        'Peripheral port shorted',
        'The 12 V port for peripherals is short-circuited.',
      ],
      [
        { bit: 14, code: '2077', severity: 'major', category: 'ac_grid' },
        'Off-grid output overloaded',
        'The output for off-grid operation is overloaded.',
      ],
      [
        { bit: 15, code: '2080', severity: 'major', category: 'dc' },
        'Module configuration abnormal',
        'The modules are not connected as the inverter expects.',
      ],
    ],
    [
      [
        { bit: 0, code: '2081', severity: 'warning', category: 'dc' },
        'Optimizer fault',
        'A power optimizer of the array has a fault.',
      ],
      [
        { bit: 1, code: '2085', severity: 'minor', category: 'internal' },
        'PID unit abnormal',
        'The built-in unit against potential-induced degradation does not work as it should.',
      ],
      [
        { bit: 2, code: '2014', severity: 'major', category: 'dc' },
        'String voltage to ground high',
        'The voltage of an input string to ground is too high.',
      ],
      [
        { bit: 3, code: '2086', severity: 'major', category: 'fan' },
        'External fan abnormal',
        'An external fan does not run as it should.',
      ],
      [
        { bit: 4, code: '2069', severity: 'major', category: 'battery' },
        'Battery polarity reversed',
        'The battery is connected with plus and minus exchanged.',
      ],
      [
        { bit: 5, code: '2082', severity: 'major', category: 'ac_grid' },
        'Grid switching controller abnormal',
        'The controller that switches between on-grid and off-grid has a fault.',
      ],
      [
        { bit: 6, code: '2015', severity: 'warning', category: 'dc' },
        'String lost',
        'A string that should be there is missing.',
      ],
      [
        { bit: 7, code: '2087', severity: 'major', category: 'fan' },
        'Internal fan abnormal',
        'An internal fan does not run as it should.',
      ],
      [
        { bit: 8, code: '2088', severity: 'major', category: 'dc' },
        'DC protection unit abnormal',
        'The unit that protects the DC side has a fault.',
      ],
      [
        { bit: 9, code: '2089', severity: 'minor', category: 'internal' },
        'EL unit abnormal',
        'The EL unit is not as it should be.',
      ],
      [
        { bit: 10, code: '2090', severity: 'major', category: 'communication' },
        'Active power instruction abnormal',
        'The instruction that adjusts active power is not as it should be.',
      ],
      [
        { bit: 11, code: '2091', severity: 'major', category: 'communication' },
        'Reactive power instruction abnormal',
        'The instruction that adjusts reactive power is not as it should be.',
      ],
      [
        { bit: 12, code: '2092', severity: 'major', category: 'ac_grid' },
        'Current transformer wiring abnormal',
        'The current transformer is not wired as it should be.',
      ],
      [
        { bit: 13, code: '2003', severity: 'major', category: 'arc' },
        'DC arc fault, to be cleared by hand',
        'The arc detection unit sees an arc on the DC side; it must be cleared by hand.',
        { auto_clears: false },
      ],
      [
        { bit: 14, code: '2093', severity: 'minor', category: 'dc' },
        'DC switch abnormal',
        'The DC switch is not as it should be.',
      ],
      [
        { bit: 15, code: '2094', severity: 'warning', category: 'battery' },
        'Battery discharge capacity low',
        'Little discharge capacity of the battery is allowed.',
      ],
    ],
  ],
)
