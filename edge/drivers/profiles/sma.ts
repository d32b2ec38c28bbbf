import { type InverterProfile, i32, type NumberRegister, u32, u64 } from '../profile.ts'

/** Code lists have their own value for "no information". */
const not_available = 0x00ff_fffd
const code = (address: number, name: string): NumberRegister => ({
  ...u32(address, name),
  absent: [not_available],
})

const w_max = u32(30_233, 'Inverter.WMax', 'W')

/**
 * SMA inverters with SMA's own Modbus profile (unit 3), under SMA's object names. Addresses are
 * those on the wire; values come high word first.
 *
 * The limit is a setpoint in watts (40149). It is ignored unless control by communication is active
 * (40151 = 802) and the operating mode is "external setpoint" (30835 = 1079). 40149 and 40151 are
 * write-only; the limit in force, whoever set it, is Operation.Dmd.WCtl (31405).
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
    'whether a setpoint survives a loss of power: it counts as lost',
    'whether 41197 may be written without the Grid Guard code: a refusal is reported',
    'the lowest setpoint at which it still feeds in',
    'what 31405 shows at night: without a value it counts as no limit',
    'event numbers (30247): alarms are not read',
  ],
  word_order: 'high_first',
  identity: {
    model: code(30_053, 'Nameplate.Model'),
    serial_number: u32(30_057, 'Nameplate.SerNum'),
  },
  ratings: { rated_power: u32(30_231, 'Inverter.WLim', 'W'), max_power: w_max },
  readings: {
    energy_total_kwh: u64(30_513, 'Metering.TotWhOut', 'Wh'),
    ac_power_kw: i32(30_775, 'GridMs.TotW', 'W'),
    voltage_l1_n_v: u32(30_783, 'GridMs.PhV.phsA', 'V', 100),
    voltage_l2_n_v: u32(30_785, 'GridMs.PhV.phsB', 'V', 100),
    voltage_l3_n_v: u32(30_787, 'GridMs.PhV.phsC', 'V', 100),
    frequency_hz: u32(30_803, 'GridMs.Hz', 'Hz', 100),
    reactive_power_kvar: i32(30_805, 'GridMs.TotVAr', 'var'),
    apparent_power_kva: i32(30_813, 'GridMs.TotVA', 'VA'),
  },
  state: {
    register: code(40_029, 'Operation.OpStt'),
    codes: {
      mppt: [295, 443],
      throttled: [2119],
      starting: [1467],
      shutting_down: [1469],
      standby: [1393, 1480],
      off: [381],
      fault: [1392],
    },
  },
  inputs: null,
  alarms: null,
  limit: {
    setpoint: {
      register: i32(40_149, 'Inverter.WModCfg.WCtlComCfg.WSpt', 'W'),
    },
    enable: [
      {
        register: code(40_151, 'Inverter.WModCfg.WCtlComCfg.WCtlComAct'),
        raw: 802,
        is_write_only: true,
      },
    ],
    in_force: {
      sources: [
        {
          register: u32(31_405, 'Operation.Dmd.WCtl', 'W'),
        },
      ],
    },
    ceilings: [{ register: w_max }],
    timer: null,
    // 2506 keeps the last value and is safe: without the edge the limit stays, and all limits
    // together were within the permit. The fallback (2507) is within the permit if it is at or
    // below the device's share, but it ends every lower limit after the timeout, as a setpoint is
    // written only when it changes.
    fail_safe: {
      mode: {
        register: code(41_193, 'fallback mode of the active power setpoint'),
        keeps: [2506],
        applies: [2507],
      },
      limit: {
        register: u32(41_197, 'fallback of the active power setpoint (FlbWNom)', '%', 100),
        base: w_max,
      },
      after: 'no_setpoint',
    },
    checks: [
      {
        register: code(30_835, 'Inverter.WModCfg.WMod'),
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
