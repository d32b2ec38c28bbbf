import type { ControllerProfile } from '../profile.ts'

/**
 * Huawei SmartLogger as the controller of its plant: unit 0 of its Modbus TCP.
 *
 * A command is stored at once and passed on to the inverters after 1 to 5 s, so that reading it
 * back (40428) proves nothing: what counts is the percentage that was applied (40802), which comes
 * in whole percent. Only whole percentages are set therefore, so that what is set is what is read.
 * "Strategy 1 with adjustment coefficient" delivers other power than commanded and shows it nowhere
 * but in the measured power (40525), which is read along with the limit.
 *
 * It takes commands from up to five masters, and each command takes over from whoever had the say:
 * 40737 tells. Never to be touched on unit 0: 42017, on inverters the gradient, is the year of its
 * clock; 40200 to 40205 and 40723 to 40725 start, stop and reset.
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
    'whether a command outlives a loss of power: it counts as lost',
    'what 41947, the shutdown on lost communication, may hold: it is not checked',
    'the layout of its ESN in function 0x2B: it is not bound to its serial number',
  ],
  word_order: 'high_first',
  active_power: {
    name: 'Plant active power',
    address: 40_525,
    type: 'i32',
    gain: 1000,
    unit: 'kW',
  },
  control_mode: {
    register: { name: 'Active power control mode', address: 40_737, type: 'u16' },
    others: {
      1: 'digital inputs',
      3: 'a fixed percentage',
      6: 'export limitation',
      200: 'remote output',
    },
  },
  limit: {
    setpoint: {
      register: {
        name: 'Active power adjustment by percentage',
        address: 40_428,
        type: 'u16',
        gain: 10,
        unit: '%',
      },
      base: 'rated',
      step: 10,
    },
    enable: [],
    in_force: {
      sources: [
        {
          register: {
            name: 'Active power adjustment, applied percentage',
            address: 40_802,
            type: 'u32',
            unit: '%',
          },
          base: 'rated',
        },
      ],
    },
    ceilings: [],
    timer: null,
    fail_safe: null,
    checks: [
      {
        register: {
          name: 'Active power adjustment locked',
          address: 40_699,
          type: 'u16',
          is_optional: true,
        },
        codes: { wrong: [0] },
        otherwise: 'active power adjustment is locked (40699): no command is passed on',
      },
    ],
    survives_power_loss: false,
    min_interval_ms: 1000,
    // The 5 s that it may need, and the second in which that is looked at.
    applies_within_ms: 6000,
    ramp: null,
    raw_min: 0,
  },
}
