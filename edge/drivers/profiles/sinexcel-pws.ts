import { i16, text, u16 } from '../profile.ts'
import type { PcsProfile } from '../register-pcs.ts'

/**
 * Sinexcel PWS battery inverters. Addresses are those on the wire; power is positive when the
 * battery discharges. The driver neither starts nor stops it: commissioning leaves it running.
 */
export const sinexcelPws: PcsProfile = {
  driver: 'sinexcel_pws',
  manufacturer: 'Sinexcel',
  family: 'PWS battery inverters',
  sources: [
    'github.com/OpenEMS/openems, bundle io.openems.edge.batteryinverter.sinexcel, by which plants',
    'are run: addresses, steps, signs and the names of the bits; no document of the maker was seen',
  ],
  unknown: [
    'what it does when register 327 has run out, and whether 0 in it means never: it counts as',
    'going on with its last setpoint; reading it is said to be enough to keep it from running out',
    'whether it has the setpoint behind a loss of power: it counts as lost',
    'between which phases registers 101 to 103 measure, and in which unit 144 and 146 count',
    'what bit 3 of register 32 says of the grid when it is clear',
    'what registers 801 and 802 limit: the rated power of the site file is taken as the most',
    'the least setpoint at which it goes on working',
  ],
  word_order: 'high_first',
  identity: {
    model: text(1, 16, 'Manufacturer and model'),
    serial_number: text(17, 8, 'Serial number'),
  },
  readings: {
    current_l1_a: i16(104, 'Grid current L1', 'A', 10),
    current_l2_a: i16(105, 'Grid current L2', 'A', 10),
    current_l3_a: i16(106, 'Grid current L3', 'A', 10),
    frequency_hz: i16(107, 'Frequency', 'Hz', 100),
    ac_power_kw: i16(122, 'Active power', 'kW', 100),
    reactive_power_kvar: i16(123, 'Reactive power', 'kvar', 100),
    apparent_power_kva: i16(124, 'Apparent power', 'kVA', 100),
    power_factor: i16(125, 'Cos phi', 'ratio', 100),
    heatsink_temperature_c: i16(132, 'Temperature of AC heat sink', '°C'),
    dc_power_kw: i16(141, 'DC power', 'kW', 100),
    dc_voltage_v: i16(142, 'DC voltage', 'V', 10),
    dc_current_a: i16(143, 'DC current', 'A', 10),
  },
  state: {
    register: u16(32, 'Status'),
    flags: [
      [0, 'fault'],
      [7, 'standby'],
      [5, 'throttled'],
      [2, 'running'],
    ],
    otherwise: 'off',
  },
  alarms: {
    table_id: 'sinexcel-pws',
    words: [
      [u16(36, 'Faults 36')],
      [u16(37, 'Faults 37')],
      [{ ...u16(38, 'Faults 38'), mask: 0xf3ff }],
      [u16(39, 'Faults 39'), u16(44, 'Faults 44')],
      [u16(45, 'Faults 45'), u16(47, 'Faults 47')],
    ],
  },
  power: {
    setpoint: i16(135, 'Set active power', 'kW', 10),
    watchdog: u16(327, 'EMS timeout', 's'),
  },
}
