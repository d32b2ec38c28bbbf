import { type ControllerProfile, i32, optional, u16, u32 } from '../profile.ts'

/**
 * Huawei SmartLogger as plant controller: unit 0 of its Modbus TCP.
 *
 * A command is stored at once and passed on to the inverters after 1 to 5 s, so its read-back
 * (40428) proves nothing. The proof is the applied percentage (40802), a whole number; only whole
 * percentages are set, so that read-back equals the setpoint. "Strategy 1 with adjustment
 * coefficient" delivers another power than commanded, visible only in the measured power (40525),
 * which is read with the limit.
 *
 * Up to five masters may command; the latest command wins, and 40737 shows the control mode. Never
 * write on unit 0: 42017 (the gradient on inverters) is the year of its clock; 40200 to 40205 and
 * 40723 to 40725 start, stop and reset.
 */
export const huaweiSmartLogger: ControllerProfile = {
  driver: 'huawei_smartlogger',
  manufacturer: 'Huawei',
  family: 'SmartLogger',
  sources: [
    'Huawei, SmartLogger Modbus Interface Definitions, Issue 35, as quoted in public',
    'github.com/evcc-io/evcc, pull request 32585: percent is of the sum of the rated powers',
  ],
  unknown: [
    'type and gain of 41938, the rated power of the plant: the ratings of site.yaml are summed up',
    'the scales of the commands in kW (40420, 40424) against 40802: the percentage is used',
    'whether a command survives a loss of power: it counts as lost',
    'what 41947, the shutdown on lost communication, may hold: it is not checked',
    'the layout of its ESN in function 0x2B: it is not bound to its serial number',
  ],
  word_order: 'high_first',
  active_power: i32(40_525, 'Plant active power', 'kW', 1000),
  control_mode: {
    register: u16(40_737, 'Active power control mode'),
    others: {
      1: 'digital inputs',
      3: 'a fixed percentage',
      6: 'export limitation',
      200: 'remote output',
    },
  },
  limit: {
    setpoint: {
      register: u16(40_428, 'Active power adjustment by percentage', '%', 10),
      base: 'rated',
      step: 10,
    },
    enable: [],
    in_force: {
      sources: [
        {
          register: u32(40_802, 'Active power adjustment, applied percentage', '%'),
          base: 'rated',
        },
      ],
    },
    ceilings: [],
    timer: null,
    fail_safe: null,
    checks: [
      {
        register: optional(u16(40_699, 'Active power adjustment locked')),
        codes: { wrong: [0] },
        otherwise: 'active power adjustment is locked (40699): no command is passed on',
      },
    ],
    survives_power_loss: false,
    min_interval_ms: 1000,
    // 5 s to apply it, 1 s until the next poll.
    applies_within_ms: 6000,
    ramp: null,
    raw_min: 0,
    // It computes in watts, and may show the next whole percent.
    raw_tolerance: 10,
  },
}
