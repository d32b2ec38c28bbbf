import type { InverterProfile, NumberRegister } from '../profile.ts'

/** Measurements are input registers; only settings are holding registers. */
const input = (register: Omit<NumberRegister, 'table'>): NumberRegister => ({
  ...register,
  table: 'input',
})

const nominal_power = input({
  name: 'Nominal active power',
  address: 5000,
  type: 'u16',
  gain: 10,
  unit: 'kW',
})

const limit_switch: NumberRegister = {
  name: 'Power limitation switch',
  address: 5006,
  type: 'u16',
}

const setting: NumberRegister = {
  name: 'Power limitation setting',
  address: 5007,
  type: 'u16',
  gain: 10,
  unit: '%',
}

/**
 * Sungrow string inverters, SG. Addresses on the wire are those of the protocol less one, and of
 * values of several registers the low word comes first. The hybrid inverters, SH, have other
 * registers at the same addresses: this profile is not for them.
 *
 * The limit holds while 5007 (wire 5006) is 0xAA. With 0x55, which is how others end a limit, the
 * device goes up to 110 % of its nominal power: we never write that; a limit ends by another one.
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
    'whether a limit outlives a loss of power: it counts as lost',
    'what it does when communication is lost: no fail-safe register is checked',
    'which function it wants settings by: 16 is used',
    'between 0 %, at which it stops, and 30 %, the lowest at which it was seen to feed in: nothing',
    'MPPTs beyond the third: their registers differ by model',
    'alarms: it tells one code with a time instead of bits, and codes differ by model',
  ],
  word_order: 'low_first',
  identity: {
    serial_number: {
      name: 'Serial number',
      address: 4989,
      type: 'text',
      words: 10,
      table: 'input',
    },
  },
  ratings: { rated_power: nominal_power, max_power: nominal_power },
  readings: {
    energy_total_kwh: input({
      name: 'Total power yields',
      address: 5003,
      type: 'u32',
      unit: 'kWh',
    }),
    cabinet_temperature_c: input({
      name: 'Internal temperature',
      address: 5007,
      type: 'i16',
      gain: 10,
      unit: '°C',
    }),
    apparent_power_kva: input({
      name: 'Total apparent power',
      address: 5008,
      type: 'u32',
      unit: 'VA',
      is_optional: true,
    }),
    dc_power_kw: input({ name: 'Total DC power', address: 5016, type: 'u32', unit: 'W' }),
    current_l1_a: input({
      name: 'Phase A current',
      address: 5021,
      type: 'i16',
      gain: 10,
      unit: 'A',
    }),
    current_l2_a: input({
      name: 'Phase B current',
      address: 5022,
      type: 'i16',
      gain: 10,
      unit: 'A',
    }),
    current_l3_a: input({
      name: 'Phase C current',
      address: 5023,
      type: 'i16',
      gain: 10,
      unit: 'A',
    }),
    ac_power_kw: input({ name: 'Total active power', address: 5030, type: 'u32', unit: 'W' }),
    reactive_power_kvar: input({
      name: 'Total reactive power',
      address: 5032,
      type: 'i32',
      unit: 'var',
    }),
    power_factor: input({
      name: 'Power factor',
      address: 5034,
      type: 'i16',
      gain: 1000,
      unit: 'ratio',
    }),
    frequency_hz: input({
      name: 'Grid frequency',
      address: 5035,
      type: 'u16',
      gain: 10,
      unit: 'Hz',
    }),
    insulation_resistance_kohm: input({
      name: 'Array insulation resistance',
      address: 5070,
      type: 'u16',
      unit: 'kΩ',
      is_optional: true,
    }),
  },
  state: {
    register: input({ name: 'Work state 1', address: 5037, type: 'u16' }),
    codes: {
      0: 'mppt',
      4608: 'standby',
      4864: 'off',
      5120: 'standby',
      5376: 'off',
      5632: 'starting',
      9472: 'fault',
      21760: 'fault',
      32768: 'off',
      33024: 'throttled',
      33280: 'throttled',
      37120: 'mppt',
    },
  },
  inputs: {
    of: 'mppts',
    voltage: input({ name: 'MPPT voltage', address: 5010, type: 'u16', gain: 10, unit: 'V' }),
    current: input({ name: 'MPPT current', address: 5011, type: 'u16', gain: 10, unit: 'A' }),
    stride: 2,
    count_max: 3,
  },
  alarms: null,
  limit: {
    setpoint: {
      register: setting,
      base: nominal_power,
    },
    // First: while it is off the setting may not be accepted, and it limits nothing anyway.
    enable: [{ register: limit_switch, raw: 0xaa }],
    in_force: {
      selector: limit_switch,
      sources: [
        {
          when: 0xaa,
          register: setting,
          base: nominal_power,
        },
      ],
    },
    ceilings: [{ register: nominal_power, ratio: 1.1 }],
    timer: null,
    fail_safe: null,
    checks: [],
    survives_power_loss: false,
    min_interval_ms: 10_000,
    applies_within_ms: 0,
    ramp: null,
    raw_min: 300,
  },
}
