import type { InverterProfile, NumberRegister } from '../profile.ts'

/** Codes of lists say "no information" by a number of their own. */
const not_available = 0x00ff_fffd
const code = (name: string, address: number): NumberRegister => ({
  name,
  address,
  type: 'u32',
  absent: [not_available],
})

const w_max: NumberRegister = { name: 'Inverter.WMax', address: 30_233, type: 'u32', unit: 'W' }

/**
 * SMA inverters with SMA's own Modbus profile (unit 3), under the names of its objects; addresses
 * are those on the wire, values high word first.
 *
 * The limit is a setpoint in watts (40149), which is ignored unless control by communication is
 * active (40151 = 802) and the operating mode is "external setpoint" (30835 = 1079). Neither of the
 * two that we write can be read: the limit in force, whoever set it, is Operation.Dmd.WCtl (31405).
 */
export const sma: InverterProfile = {
  driver: 'sma',
  manufacturer: 'SMA',
  family: 'with SMA Modbus profile',
  sources: [
    'SMA, Modbus parameter and measurement lists, as quoted in public: names, addresses, types',
    'a public daemon that limits SMA inverters: check of the fallback before it begins',
  ],
  unknown: [
    'whether a setpoint outlives a loss of power: it counts as lost',
    'whether 41197 may be written without the Grid Guard code: a refusal is told of',
    'the lowest setpoint at which it goes on feeding in',
    'what 31405 shows at night: without a value it counts as no limit',
    'event numbers (30247): alarms are not read',
  ],
  word_order: 'high_first',
  identity: {
    model: code('Nameplate.Model', 30_053),
    serial_number: { name: 'Nameplate.SerNum', address: 30_057, type: 'u32' },
  },
  ratings: {
    rated_power: { name: 'Inverter.WLim', address: 30_231, type: 'u32', unit: 'W' },
    max_power: w_max,
  },
  readings: {
    energy_total_kwh: { name: 'Metering.TotWhOut', address: 30_513, type: 'u64', unit: 'Wh' },
    ac_power_kw: { name: 'GridMs.TotW', address: 30_775, type: 'i32', unit: 'W' },
    voltage_l1_n_v: {
      name: 'GridMs.PhV.phsA',
      address: 30_783,
      type: 'u32',
      gain: 100,
      unit: 'V',
    },
    voltage_l2_n_v: {
      name: 'GridMs.PhV.phsB',
      address: 30_785,
      type: 'u32',
      gain: 100,
      unit: 'V',
    },
    voltage_l3_n_v: {
      name: 'GridMs.PhV.phsC',
      address: 30_787,
      type: 'u32',
      gain: 100,
      unit: 'V',
    },
    frequency_hz: { name: 'GridMs.Hz', address: 30_803, type: 'u32', gain: 100, unit: 'Hz' },
    reactive_power_kvar: { name: 'GridMs.TotVAr', address: 30_805, type: 'i32', unit: 'var' },
    apparent_power_kva: { name: 'GridMs.TotVA', address: 30_813, type: 'i32', unit: 'VA' },
  },
  state: {
    register: code('Operation.OpStt', 40_029),
    codes: {
      295: 'mppt',
      381: 'off',
      443: 'mppt',
      1392: 'fault',
      1393: 'standby',
      1467: 'starting',
      1469: 'shutting_down',
      1480: 'standby',
      2119: 'throttled',
    },
  },
  inputs: null,
  alarms: null,
  limit: {
    setpoint: {
      register: {
        name: 'Inverter.WModCfg.WCtlComCfg.WSpt',
        address: 40_149,
        type: 'i32',
        unit: 'W',
      },
    },
    enable: [
      {
        register: code('Inverter.WModCfg.WCtlComCfg.WCtlComAct', 40_151),
        raw: 802,
        is_write_only: true,
      },
    ],
    in_force: {
      sources: [
        {
          register: { name: 'Operation.Dmd.WCtl', address: 31_405, type: 'u32', unit: 'W' },
        },
      ],
    },
    ceilings: [{ register: w_max }],
    timer: null,
    // Keeping the last value (2506) is safe: the limit stays when the edge is gone, and those of
    // all devices together were within the permit. The fallback (2507) is safe for the permit when
    // it is at or below the device's share, but ends every limit below it after the timeout,
    // because a setpoint is written only when it changes.
    fail_safe: {
      mode: {
        register: code('fallback mode of the active power setpoint', 41_193),
        keeps: [2506],
        applies: [2507],
      },
      limit: {
        register: {
          name: 'fallback of the active power setpoint (FlbWNom)',
          address: 41_197,
          type: 'u32',
          gain: 100,
          unit: '%',
        },
        base: w_max,
      },
      after: 'no_setpoint',
    },
    checks: [
      {
        register: code('Inverter.WModCfg.WMod', 30_835),
        codes: { right: [1079] },
        otherwise:
          'the operating mode (40210) is not 1079, external setpoint: setpoints are ignored',
      },
    ],
    survives_power_loss: false,
    min_interval_ms: 1000,
    applies_within_ms: 0,
    ramp: null,
    raw_min: 0,
  },
}
