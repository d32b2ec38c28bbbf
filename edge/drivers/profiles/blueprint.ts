import { type InverterProfile, i16, i32, input, optional, text, u16, u32 } from '../profile.ts'

/**
 * A fictitious maker, to copy: every part of a profile, with the question that it answers. It is
 * tested like the real profiles; site.yaml does not know it. docs/drivers.md goes through it.
 *
 * The first comment of a profile says what a reader must know before changing it: documents, how
 * addresses are counted, the word order, which of several commands is used and why.
 */

// Address on the wire (the document counts from 1: register 1001 is 1000 here), the name in the
// maker's document, unit and gain: the register holds 1000 for 100.0 kW. A register that several
// parts need is written once.
const p_max = u32(1000, 'Pmax', 'kW', 10)

export const blueprint: InverterProfile = {
  // The name in site.yaml: `driver: acme_x`.
  driver: 'acme_x',
  manufacturer: 'Acme',
  family: 'X series',
  sources: ['Acme, X series Modbus registers, revision C'],
  // What you looked for and nobody says. Never fill such a hole by analogy with another maker.
  unknown: ['whether a limit outlives a loss of power: it counts as lost'],
  // Trap: some makers send the low word of a 32-bit value first.
  word_order: 'low_first',
  identity: {
    model: text(900, 8, 'Type'),
    serial_number: text(908, 8, 'Serial number'),
    // Not in every device: without this mark, a device that refuses it could not be read at all.
    firmware_version: optional(text(916, 4, 'Firmware')),
  },
  ratings: { rated_power: u32(1002, 'Pn', 'kW', 10), max_power: p_max },
  // By column of the reading, only what is there; the driver converts from the register's unit.
  readings: {
    // Trap: measurements may be input registers, and settings holding registers, at one address.
    ac_power_kw: input(i32(1100, 'P', 'W')),
    frequency_hz: input(u16(1102, 'f', 'Hz', 100)),
    energy_total_kwh: input(u32(1103, 'E total', 'kWh')),
    // The maker's own value for "not measured", in addition to those of the type.
    cabinet_temperature_c: { ...input(i16(1105, 'T', '°C', 10)), absent: [-999] },
  },
  state: {
    register: input(u16(1106, 'State')),
    // A code that is not here becomes `unknown`, and stands in `state_vendor_code`.
    codes: { off: [0], standby: [1], mppt: [2], throttled: [3], fault: [9] },
  },
  // Voltage and current of each string, or of each MPPT, in a row.
  inputs: {
    of: 'mppts',
    voltage: input(u16(1200, 'U MPPT', 'V', 10)),
    current: input(i16(1201, 'I MPPT', 'A', 100)),
    stride: 2,
    count_max: 4,
  },
  // Words of bits, and the table in domain/alarms that explains them; null for codes or texts.
  alarms: null,
  limit: {
    // Which power is 100 %? The one to look for in the document: Pn, Pmax, or a setting.
    setpoint: {
      register: u16(2001, 'P limit', '%', 10),
      base: p_max,
    },
    // What has to be switched on, and in which order. What cannot be read back is_write_only.
    enable: [{ register: u16(2000, 'P limit on'), raw: 1 }],
    // What proves the limit? Best a register that tells what is obeyed, whoever commanded it; the
    // command's own register proves only that it was stored.
    in_force: {
      selector: u16(2000, 'P limit on'),
      sources: [
        {
          when: 1,
          register: u16(2010, 'P limit in force', '%', 10),
          base: p_max,
        },
      ],
    },
    // How far does it go when nothing limits it? The least of these. Often more than Pn.
    ceilings: [{ register: p_max }],
    // Does the limit end by itself? Then it goes up: the value that means "never".
    timer: { register: u16(2002, 'P limit, s', 's'), raw: 0 },
    // What does it do when nobody talks to it? Safe is to keep the limit, or to fall to less than
    // the device's share of the permit; the driver lowers a fall-back that is higher.
    fail_safe: {
      mode: {
        register: u16(2020, 'On silence'),
        keeps: [0],
        applies: [1],
      },
      limit: {
        register: u16(2021, 'P on silence', '%', 10),
        base: p_max,
      },
      after: 'silence',
    },
    // What must be right before a limit can be trusted, and is not ours to set.
    checks: [
      {
        register: u16(2030, 'Local/remote'),
        codes: { right: [1] },
        otherwise: 'the switch at the device is not on remote',
      },
    ],
    // Only true where the document says so: a silent device counts by it.
    survives_power_loss: false,
    // Settings are kept in memory that wears out: how far apart may raises be?
    min_interval_ms: 10_000,
    applies_within_ms: 0,
    // A register with the gradient, or a time that was measured; null: 60 s are taken.
    ramp: null,
    // At 0 % some stop altogether: the lowest setpoint at which it is known to feed in.
    raw_min: 0,
  },
}
