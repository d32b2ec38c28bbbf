import type { InverterProfile, NumberRegister } from '../profile.ts'

const rated_power: NumberRegister = {
  name: 'Rated power (Pn)',
  address: 30_073,
  type: 'u32',
  gain: 1000,
  unit: 'kW',
}
const max_power: NumberRegister = {
  name: 'Maximum active power (Pmax)',
  address: 30_075,
  type: 'u32',
  gain: 1000,
  unit: 'kW',
}

/**
 * Which of the commands for active power is in force, and its value: 35300 to 35303, which have to
 * be read in one request. Reading back the command's own register would only show what was stored.
 */
const adjustment_command: NumberRegister = {
  name: '[Active] Adjustment command',
  address: 35_303,
  type: 'u16',
}
const adjustment_value = {
  name: '[Active] Adjustment value',
  address: 35_301,
  type: 'u32',
} as const

/**
 * Huawei SUN2000. Addresses are those on the wire, values of several registers high word first,
 * "no value" is all ones or, of signed values, the highest.
 *
 * Of its commands for active power, the one in watts (40126) is used: percentages (40125) are of
 * Pn, while it delivers up to Pmax, which may be a tenth more.
 */
export const huaweiSun2000: InverterProfile = {
  driver: 'huawei_sun2000',
  manufacturer: 'Huawei',
  family: 'SUN2000',
  sources: [
    'Huawei, Solar Inverter Modbus Interface Definitions, Issue 08',
    'github.com/wlcrs/huawei-solar-lib: device status codes, text registers',
    'github.com/wlcrs/huawei_solar, threads 964 and 1321: other masters overwrite, registers wear',
  ],
  unknown: [
    'whether a limit of 40126 outlives a loss of power: it counts as lost',
    'what sets off the fail-safe limit of 42405, and after how long: silence is assumed',
    'the scale of the value in 35301 under command 40120 (kW): such a limit counts as none',
    'where the value stands: two documents print 35302, which its second word has to be',
    'the lowest limit at which it feeds in; at 0 some report 0x0304 and shut down',
    'the register of the firmware version, on which sources disagree',
  ],
  word_order: 'high_first',
  identity: {
    model: { name: 'Model', address: 30_000, type: 'text', words: 15 },
    serial_number: { name: 'SN', address: 30_015, type: 'text', words: 10 },
  },
  ratings: { rated_power, max_power },
  readings: {
    dc_power_kw: { name: 'Input power', address: 32_064, type: 'i32', gain: 1000, unit: 'kW' },
    voltage_l1_l2_v: {
      name: 'Line voltage between phases A and B',
      address: 32_066,
      type: 'u16',
      gain: 10,
      unit: 'V',
    },
    voltage_l2_l3_v: {
      name: 'Line voltage between phases B and C',
      address: 32_067,
      type: 'u16',
      gain: 10,
      unit: 'V',
    },
    voltage_l3_l1_v: {
      name: 'Line voltage between phases C and A',
      address: 32_068,
      type: 'u16',
      gain: 10,
      unit: 'V',
    },
    voltage_l1_n_v: { name: 'Phase A voltage', address: 32_069, type: 'u16', gain: 10, unit: 'V' },
    voltage_l2_n_v: { name: 'Phase B voltage', address: 32_070, type: 'u16', gain: 10, unit: 'V' },
    voltage_l3_n_v: { name: 'Phase C voltage', address: 32_071, type: 'u16', gain: 10, unit: 'V' },
    current_l1_a: { name: 'Phase A current', address: 32_072, type: 'i32', gain: 1000, unit: 'A' },
    current_l2_a: { name: 'Phase B current', address: 32_074, type: 'i32', gain: 1000, unit: 'A' },
    current_l3_a: { name: 'Phase C current', address: 32_076, type: 'i32', gain: 1000, unit: 'A' },
    ac_power_kw: { name: 'Active power', address: 32_080, type: 'i32', gain: 1000, unit: 'kW' },
    reactive_power_kvar: {
      name: 'Reactive power',
      address: 32_082,
      type: 'i32',
      gain: 1000,
      unit: 'kvar',
    },
    power_factor: {
      name: 'Power factor',
      address: 32_084,
      type: 'i16',
      gain: 1000,
      unit: 'ratio',
    },
    frequency_hz: { name: 'Grid frequency', address: 32_085, type: 'u16', gain: 100, unit: 'Hz' },
    cabinet_temperature_c: {
      name: 'Internal temperature',
      address: 32_087,
      type: 'i16',
      gain: 10,
      unit: '°C',
    },
    insulation_resistance_kohm: {
      name: 'Insulation resistance',
      address: 32_088,
      type: 'u16',
      gain: 1000,
      unit: 'MΩ',
    },
    energy_total_kwh: {
      name: 'Accumulated energy yield',
      address: 32_106,
      type: 'u32',
      gain: 100,
      unit: 'kWh',
    },
  },
  state: {
    register: { name: 'Device status', address: 32_089, type: 'u16' },
    codes: {
      0: 'standby',
      1: 'standby',
      2: 'standby',
      3: 'standby',
      256: 'starting',
      512: 'mppt',
      513: 'throttled',
      514: 'throttled',
      515: 'mppt',
      768: 'fault',
      769: 'off',
      770: 'off',
      771: 'off',
      772: 'off',
      773: 'off',
      774: 'off',
      775: 'off',
      776: 'off',
      780: 'off',
      1025: 'mppt',
      1026: 'mppt',
      1027: 'mppt',
      1028: 'mppt',
      1029: 'mppt',
      1280: 'test',
      1281: 'test',
      1536: 'test',
      1792: 'test',
      2048: 'test',
      2304: 'test',
      2560: 'mppt',
      40960: 'sleeping',
    },
  },
  inputs: {
    of: 'strings',
    voltage: { name: 'PV voltage', address: 32_016, type: 'i16', gain: 10, unit: 'V' },
    current: { name: 'PV current', address: 32_017, type: 'i16', gain: 100, unit: 'A' },
    stride: 2,
    count_max: 24,
  },
  alarms: {
    table_id: 'huawei-sun2000',
    words: [
      { name: 'Alarm 1', address: 32_008, type: 'u16' },
      { name: 'Alarm 2', address: 32_009, type: 'u16' },
      { name: 'Alarm 3', address: 32_010, type: 'u16' },
    ],
  },
  limit: {
    setpoint: {
      register: {
        name: '[Power grid scheduling] Fixed active power derated (W)',
        address: 40_126,
        type: 'u32',
        unit: 'W',
      },
    },
    enable: [],
    in_force: {
      selector: adjustment_command,
      stored: {
        name: 'Fixed active power derated (W), as stored',
        address: 40_126,
        type: 'u32',
        unit: 'W',
        is_optional: true,
      },
      read_along: [{ name: '[Active] Adjustment mode', address: 35_300, type: 'u16' }],
      sources: [
        { when: 40_126, register: { ...adjustment_value, unit: 'W' } },
        {
          when: 40_125,
          register: { ...adjustment_value, gain: 10, unit: '%' },
          base: rated_power,
        },
      ],
    },
    ceilings: [{ register: max_power }],
    // With any other value the limit ends by itself, and the device goes up to Pmax.
    timer: {
      register: {
        name: '[Power grid scheduling] Schedule instruction valid duration',
        address: 42_019,
        type: 'u32',
        unit: 's',
      },
      raw: 0,
    },
    // Lower is safe: it is what the device falls to when nobody asks it anything any more.
    fail_safe: {
      mode: null,
      limit: {
        register: {
          name: 'Failsafe active power limit (kW, high accuracy)',
          address: 42_405,
          type: 'i32',
          gain: 1000,
          unit: 'kW',
          is_optional: true,
        },
      },
      after: 'silence',
    },
    checks: [
      {
        register: {
          name: 'Remote power scheduling',
          address: 42_014,
          type: 'u16',
          is_optional: true,
        },
        codes: { wrong: [0] },
        otherwise: 'remote power scheduling (42014) is off: commands may be stored and not obeyed',
      },
    ],
    survives_power_loss: false,
    min_interval_ms: 10_000,
    // The 5 s that it may need, and the second in which that is looked at.
    applies_within_ms: 6000,
    ramp: {
      gradient: {
        name: 'Active power gradient',
        address: 42_017,
        type: 'u32',
        gain: 1000,
        is_optional: true,
      },
    },
    raw_min: 0,
  },
}
