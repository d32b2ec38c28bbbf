import type { NumberRegister } from '../profile.ts'
import type { PcsProfile } from '../register-pcs.ts'

const word = (name: string, address: number): NumberRegister => ({ name, address, type: 'u16' })

/**
 * Sinexcel PWS battery inverters. Addresses are those on the wire; power is positive when the
 * battery discharges. It is not started or stopped: whoever commissions it leaves it running.
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
    model: { name: 'Manufacturer and model', address: 1, type: 'text', words: 16 },
    serial_number: { name: 'Serial number', address: 17, type: 'text', words: 8 },
  },
  readings: {
    current_l1_a: { name: 'Grid current L1', address: 104, type: 'i16', gain: 10, unit: 'A' },
    current_l2_a: { name: 'Grid current L2', address: 105, type: 'i16', gain: 10, unit: 'A' },
    current_l3_a: { name: 'Grid current L3', address: 106, type: 'i16', gain: 10, unit: 'A' },
    frequency_hz: { name: 'Frequency', address: 107, type: 'i16', gain: 100, unit: 'Hz' },
    ac_power_kw: { name: 'Active power', address: 122, type: 'i16', gain: 100, unit: 'kW' },
    reactive_power_kvar: {
      name: 'Reactive power',
      address: 123,
      type: 'i16',
      gain: 100,
      unit: 'kvar',
    },
    apparent_power_kva: {
      name: 'Apparent power',
      address: 124,
      type: 'i16',
      gain: 100,
      unit: 'kVA',
    },
    power_factor: { name: 'Cos phi', address: 125, type: 'i16', gain: 100, unit: 'ratio' },
    heatsink_temperature_c: {
      name: 'Temperature of AC heat sink',
      address: 132,
      type: 'i16',
      unit: '°C',
    },
    dc_power_kw: { name: 'DC power', address: 141, type: 'i16', gain: 100, unit: 'kW' },
    dc_voltage_v: { name: 'DC voltage', address: 142, type: 'i16', gain: 10, unit: 'V' },
    dc_current_a: { name: 'DC current', address: 143, type: 'i16', gain: 10, unit: 'A' },
  },
  state: {
    register: word('Status', 32),
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
      [word('Faults 36', 36)],
      [word('Faults 37', 37)],
      [{ ...word('Faults 38', 38), mask: 0xf3ff }],
      [word('Faults 39', 39), word('Faults 44', 44)],
      [word('Faults 45', 45), word('Faults 47', 47)],
    ],
  },
  power: {
    setpoint: { name: 'Set active power', address: 135, type: 'i16', gain: 10, unit: 'kW' },
    watchdog: { name: 'EMS timeout', address: 327, type: 'u16', unit: 's' },
  },
}
