import { type InverterProfile, i16, i32, optional, text, u16, u32 } from '../profile.ts'

const rated_power = u32(30_073, 'Rated power (Pn)', 'kW', 1000)
const max_power = u32(30_075, 'Maximum active power (Pmax)', 'kW', 1000)

/**
 * The active power command in force and its value: 35300 to 35303, which must be read in one
 * request. The command's own register only proves that it was stored.
 */
const adjustment_command = u16(35_303, '[Active] Adjustment command')
const adjustment_value = u32(35_301, '[Active] Adjustment value')

/**
 * Huawei SUN2000. Addresses are those on the wire; values of several registers come high word
 * first. "No value" is all ones, or the highest value of signed types.
 *
 * The limit is the command in watts (40126). Percentages (40125) are relative to Pn, while the
 * device delivers up to Pmax, which may be a tenth more.
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
    model: text(30_000, 15, 'Model'),
    serial_number: text(30_015, 10, 'SN'),
  },
  ratings: { rated_power, max_power },
  readings: {
    dc_power_kw: i32(32_064, 'Input power', 'kW', 1000),
    voltage_l1_l2_v: u16(32_066, 'Line voltage between phases A and B', 'V', 10),
    voltage_l2_l3_v: u16(32_067, 'Line voltage between phases B and C', 'V', 10),
    voltage_l3_l1_v: u16(32_068, 'Line voltage between phases C and A', 'V', 10),
    voltage_l1_n_v: u16(32_069, 'Phase A voltage', 'V', 10),
    voltage_l2_n_v: u16(32_070, 'Phase B voltage', 'V', 10),
    voltage_l3_n_v: u16(32_071, 'Phase C voltage', 'V', 10),
    current_l1_a: i32(32_072, 'Phase A current', 'A', 1000),
    current_l2_a: i32(32_074, 'Phase B current', 'A', 1000),
    current_l3_a: i32(32_076, 'Phase C current', 'A', 1000),
    ac_power_kw: i32(32_080, 'Active power', 'kW', 1000),
    reactive_power_kvar: i32(32_082, 'Reactive power', 'kvar', 1000),
    power_factor: i16(32_084, 'Power factor', 'ratio', 1000),
    frequency_hz: u16(32_085, 'Grid frequency', 'Hz', 100),
    cabinet_temperature_c: i16(32_087, 'Internal temperature', '°C', 10),
    insulation_resistance_kohm: u16(32_088, 'Insulation resistance', 'MΩ', 1000),
    energy_total_kwh: u32(32_106, 'Accumulated energy yield', 'kWh', 100),
  },
  state: {
    register: u16(32_089, 'Device status'),
    codes: {
      standby: [0, 1, 2, 3],
      starting: [256],
      mppt: [512, 515, 1025, 1026, 1027, 1028, 1029, 2560],
      throttled: [513, 514],
      fault: [768],
      off: [769, 770, 771, 772, 773, 774, 775, 776, 780],
      test: [1280, 1281, 1536, 1792, 2048, 2304],
      sleeping: [40960],
    },
  },
  inputs: {
    of: 'strings',
    voltage: i16(32_016, 'PV voltage', 'V', 10),
    current: i16(32_017, 'PV current', 'A', 100),
    stride: 2,
    count_max: 24,
  },
  alarms: {
    table_id: 'huawei-sun2000',
    words: [u16(32_008, 'Alarm 1'), u16(32_009, 'Alarm 2'), u16(32_010, 'Alarm 3')],
  },
  limit: {
    setpoint: {
      register: u32(40_126, '[Power grid scheduling] Fixed active power derated (W)', 'W'),
    },
    enable: [],
    in_force: {
      selector: adjustment_command,
      stored: optional(u32(40_126, 'Fixed active power derated (W), as stored', 'W')),
      read_along: [u16(35_300, '[Active] Adjustment mode')],
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
    // With any other value the limit ends by itself, and the device returns to Pmax.
    timer: {
      register: u32(42_019, '[Power grid scheduling] Schedule instruction valid duration', 's'),
      raw: 0,
    },
    // A lower fallback is safe. It applies after communication loss.
    fail_safe: {
      mode: null,
      limit: {
        register: optional(
          i32(42_405, 'Failsafe active power limit (kW, high accuracy)', 'kW', 1000),
        ),
      },
      after: 'silence',
    },
    checks: [
      {
        register: optional(u16(42_014, 'Remote power scheduling')),
        codes: { wrong: [0] },
        otherwise: 'remote power scheduling (42014) is off: commands may be stored and not obeyed',
      },
    ],
    survives_power_loss: false,
    min_interval_ms: 10_000,
    // 5 s to apply it, 1 s until the next poll.
    applies_within_ms: 6000,
    ramp: {
      gradient: optional(u32(42_017, 'Active power gradient', undefined, 1000)),
    },
    raw_min: 0,
  },
}
