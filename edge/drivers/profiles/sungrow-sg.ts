import { lowestLimitPct } from '@heliograph/domain/lowest-limit'
import { type InverterProfile, i16, i32, input, optional, text, u16, u32 } from '../profile.ts'

// Measurements are input registers; only settings are holding registers.
const nominal_power = input(u16(5000, 'Nominal active power', 'kW', 10))
const limit_switch = u16(5006, 'Power limitation switch')
const setting = u16(5007, 'Power limitation setting', '%', 10)

/**
 * Sungrow string inverters, SG. Addresses on the wire are those of the protocol minus one; values
 * of several registers come low word first. Not for SH hybrid inverters, which have other registers
 * at the same addresses.
 *
 * The limit applies while 5007 (wire 5006) is 0xAA. With 0x55 the device goes up to 110 % of its
 * nominal power, so this driver never writes 0x55: a limit ends by a higher limit.
 */
export const sungrowSg: InverterProfile = {
  driver: 'sungrow_sg',
  manufacturer: 'Sungrow',
  family: 'SG string inverters',
  sources: [
    'Sungrow, Communication Protocol of PV Grid-Connected String Inverters, V1.1.37, as quoted in',
    'github.com/evcc-io/evcc, pull request 32976: limits of 0 to 100 % measured at an SG6.0RT',
    'github.com/bohdan-s/SunGather, registers-sungrow.yaml: measurements, states',
  ],
  unknown: [
    'whether a limit survives a loss of power: it counts as lost',
    'what it does when communication is lost: no fail-safe register is checked',
    'the function code for writing settings: 16 is used',
    'behaviour between 0 % (stops) and 30 % (lowest limit at which it was measured to feed in)',
    'MPPTs beyond the third: their registers differ by model',
    'alarms: the device reports one code with a time instead of bits, and codes differ by model',
  ],
  word_order: 'low_first',
  identity: { serial_number: input(text(4989, 10, 'Serial number')) },
  ratings: { rated_power: nominal_power, max_power: nominal_power },
  readings: {
    energy_total_kwh: input(u32(5003, 'Total power yields', 'kWh')),
    cabinet_temperature_c: input(i16(5007, 'Internal temperature', '°C', 10)),
    apparent_power_kva: input(optional(u32(5008, 'Total apparent power', 'VA'))),
    dc_power_kw: input(u32(5016, 'Total DC power', 'W')),
    current_l1_a: input(i16(5021, 'Phase A current', 'A', 10)),
    current_l2_a: input(i16(5022, 'Phase B current', 'A', 10)),
    current_l3_a: input(i16(5023, 'Phase C current', 'A', 10)),
    ac_power_kw: input(u32(5030, 'Total active power', 'W')),
    reactive_power_kvar: input(i32(5032, 'Total reactive power', 'var')),
    power_factor: input(i16(5034, 'Power factor', 'ratio', 1000)),
    frequency_hz: input(u16(5035, 'Grid frequency', 'Hz', 10)),
    insulation_resistance_kohm: input(optional(u16(5070, 'Array insulation resistance', 'kΩ'))),
  },
  state: {
    register: input(u16(5037, 'Work state 1')),
    codes: {
      mppt: [0, 37120],
      throttled: [33024, 33280],
      starting: [5632],
      standby: [4608, 5120],
      off: [4864, 5376, 32768],
      fault: [9472, 21760],
    },
  },
  inputs: {
    of: 'mppts',
    voltage: input(u16(5010, 'MPPT voltage', 'V', 10)),
    current: input(u16(5011, 'MPPT current', 'A', 10)),
    stride: 2,
    count_max: 3,
  },
  alarms: null,
  limit: {
    setpoint: { register: setting, base: nominal_power },
    // Written first: while it is off the setting may be rejected, and has no effect.
    enable: [{ register: limit_switch, raw: 0xaa }],
    in_force: {
      selector: limit_switch,
      sources: [{ when: 0xaa, register: setting, base: nominal_power }],
    },
    ceilings: [{ register: nominal_power, ratio: 1.1 }],
    timer: null,
    fail_safe: null,
    checks: [],
    survives_power_loss: false,
    min_interval_ms: 10_000,
    applies_within_ms: 0,
    ramp: null,
    raw_min: 10 * lowestLimitPct.sungrow_sg,
  },
}
