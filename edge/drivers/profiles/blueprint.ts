import type { InverterProfile, NumberRegister } from '../profile.ts'

/**
 * A made-up maker, to copy: every part that a profile can have, with the question that it answers.
 * It is tested like the true ones, and site.yaml does not know it. docs/drivers.md goes through it.
 *
 * Above all stands what the next reader must know before touching anything: which documents, how
 * addresses are counted, in which order words come, which of several commands is used and why.
 */

// A register that several parts need is written once.
const p_max: NumberRegister = {
  // The name in the maker's document, so that the register is found there.
  name: 'Pmax',
  // On the wire. The document counts from 1: register 1001 is 1000 here.
  address: 1000,
  type: 'u32',
  // The register holds 1000 for 100.0 kW.
  gain: 10,
  unit: 'kW',
}

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
    model: { name: 'Type', address: 900, type: 'text', words: 8 },
    serial_number: { name: 'Serial number', address: 908, type: 'text', words: 8 },
    // Not in every device: without this mark, a device that refuses it could not be read at all.
    firmware_version: {
      name: 'Firmware',
      address: 916,
      type: 'text',
      words: 4,
      is_optional: true,
    },
  },
  ratings: {
    rated_power: { name: 'Pn', address: 1002, type: 'u32', gain: 10, unit: 'kW' },
    max_power: p_max,
  },
  // By column of the reading, only what is there; the driver converts from the register's unit.
  readings: {
    // Trap: measurements may be input registers, and settings holding registers, at one address.
    ac_power_kw: { name: 'P', address: 1100, type: 'i32', unit: 'W', table: 'input' },
    frequency_hz: {
      name: 'f',
      address: 1102,
      type: 'u16',
      gain: 100,
      unit: 'Hz',
      table: 'input',
    },
    energy_total_kwh: { name: 'E total', address: 1103, type: 'u32', unit: 'kWh', table: 'input' },
    cabinet_temperature_c: {
      name: 'T',
      address: 1105,
      type: 'i16',
      gain: 10,
      unit: '°C',
      // A value of its own for "not measured", on top of those of the type.
      absent: [-999],
      table: 'input',
    },
  },
  state: {
    register: { name: 'State', address: 1106, type: 'u16', table: 'input' },
    // A code that is not here becomes `unknown`, and stands in `state_vendor_code`.
    codes: { 0: 'off', 1: 'standby', 2: 'mppt', 3: 'throttled', 9: 'fault' },
  },
  // Voltage and current of each string, or of each MPPT, in a row.
  inputs: {
    of: 'mppts',
    voltage: { name: 'U MPPT', address: 1200, type: 'u16', gain: 10, unit: 'V', table: 'input' },
    current: { name: 'I MPPT', address: 1201, type: 'i16', gain: 100, unit: 'A', table: 'input' },
    stride: 2,
    count_max: 4,
  },
  // Words of bits, and the table in domain/alarms that explains them; null for codes or texts.
  alarms: null,
  limit: {
    // Which power is 100 %? The one to look for in the document: Pn, Pmax, or a setting.
    setpoint: {
      register: { name: 'P limit', address: 2001, type: 'u16', gain: 10, unit: '%' },
      base: p_max,
    },
    // What has to be switched on, and in which order. What cannot be read back is_write_only.
    enable: [{ register: { name: 'P limit on', address: 2000, type: 'u16' }, raw: 1 }],
    // What proves the limit? Best a register that tells what is obeyed, whoever commanded it; the
    // command's own register proves only that it was stored.
    in_force: {
      selector: { name: 'P limit on', address: 2000, type: 'u16' },
      sources: [
        {
          when: 1,
          register: { name: 'P limit in force', address: 2010, type: 'u16', gain: 10, unit: '%' },
          base: p_max,
        },
      ],
    },
    // How far does it go when nothing limits it? The least of these. Often more than Pn.
    ceilings: [{ register: p_max }],
    // Does the limit end by itself? Then it goes up: the value that means "never".
    timer: { register: { name: 'P limit, s', address: 2002, type: 'u16', unit: 's' }, raw: 0 },
    // What does it do when nobody talks to it? Safe is to keep the limit, or to fall to less than
    // the device's share of the permit; the driver lowers a fall-back that is higher.
    fail_safe: {
      mode: {
        register: { name: 'On silence', address: 2020, type: 'u16' },
        keeps: [0],
        applies: [1],
      },
      limit: {
        register: { name: 'P on silence', address: 2021, type: 'u16', gain: 10, unit: '%' },
        base: p_max,
      },
      after: 'silence',
    },
    // What must be right before a limit can be trusted, and is not ours to set.
    checks: [
      {
        register: { name: 'Local/remote', address: 2030, type: 'u16' },
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
