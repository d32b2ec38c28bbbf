/**
 * A profile: the registers of a maker's devices as data, under the maker's own names.
 * `register-driver.ts` reads and limits any device by its profile. docs/drivers.md explains how to
 * write one; profiles/blueprint.ts is one to copy.
 *
 * A profile states only what a document or a measurement says. Open questions are listed in
 * `unknown`; where a limit depends on one, the profile assumes the worse case.
 */
import type { InverterReading, InverterState } from '@heliograph/domain/readings'

/**
 * Units of makers. `column` is the suffix of the columns that such a value may go to. A column
 * value is the register value times `multiply`, divided by `divide`.
 */
export const units = {
  W: { column: '_kw', multiply: 1, divide: 1000 },
  kW: { column: '_kw', multiply: 1, divide: 1 },
  var: { column: '_kvar', multiply: 1, divide: 1000 },
  kvar: { column: '_kvar', multiply: 1, divide: 1 },
  VA: { column: '_kva', multiply: 1, divide: 1000 },
  kVA: { column: '_kva', multiply: 1, divide: 1 },
  Wh: { column: '_kwh', multiply: 1, divide: 1000 },
  kWh: { column: '_kwh', multiply: 1, divide: 1 },
  V: { column: '_v', multiply: 1, divide: 1 },
  A: { column: '_a', multiply: 1, divide: 1 },
  Hz: { column: '_hz', multiply: 1, divide: 1 },
  '°C': { column: '_c', multiply: 1, divide: 1 },
  Ω: { column: '_kohm', multiply: 1, divide: 1000 },
  kΩ: { column: '_kohm', multiply: 1, divide: 1 },
  MΩ: { column: '_kohm', multiply: 1000, divide: 1 },
  s: { column: '_s', multiply: 1, divide: 1 },
  '%': { column: '_pct', multiply: 1, divide: 1 },
  ratio: { column: 'power_factor', multiply: 1, divide: 1 },
} as const
type Unit = keyof typeof units

export type NumberType = 'u16' | 'i16' | 'u32' | 'i32' | 'u64'

interface At {
  name: string
  /** Address on the wire, from 0. Documents that count from 1 are one above. */
  address: number
  /** The Modbus table; holding registers if absent. */
  table?: 'input'
  /** Not in every device: its absence is no fault and does not prevent limits. */
  is_optional?: true
}

export interface NumberRegister extends At {
  type: NumberType
  /** The value is the register divided by this. Defaults to 1. */
  gain?: number | undefined
  /** Absent for a code or a count. */
  unit?: Unit | undefined
  /** Raw values that mean "no value", on top of those of the type. */
  absent?: readonly number[]
}

/** Text of two characters per register, ended by a zero. */
interface TextRegister extends At {
  type: 'text'
  words: number
}

export type Register = NumberRegister | TextRegister

/** A holding register of a number: address, the maker's name, unit and gain. */
const numberOf =
  (type: NumberType) =>
  (address: number, name: string, unit?: Unit, gain?: number): NumberRegister => {
    return { name, address, type, unit, gain }
  }
export const u16 = numberOf('u16')
export const i16 = numberOf('i16')
export const u32 = numberOf('u32')
export const i32 = numberOf('i32')
export const u64 = numberOf('u64')

export const text = (address: number, words: number, name: string): TextRegister => {
  return { name, address, type: 'text', words }
}

export const input = <Of extends Register>(register: Of): Of => ({ ...register, table: 'input' })

export const optional = <Of extends Register>(register: Of): Of => {
  return { ...register, is_optional: true }
}

/** Power in a unit of power, or in percent of another register. */
export interface Power {
  register: NumberRegister
  /** Percent only: the register with 100 %; `rated` for the sum of the plant's ratings. */
  base?: NumberRegister | 'rated'
}

export interface Setting {
  register: NumberRegister
  raw: number
  /** The register cannot be read back, so that it is written each time. */
  is_write_only?: true
}

export interface Check {
  register: NumberRegister
  /** Raw values: the right ones, or the wrong ones. */
  codes: { right: readonly number[] } | { wrong: readonly number[] }
  /** Text for the commissioning engineer otherwise. No value of a limit. */
  otherwise: string
}

/** Fail-safe of the device: its own action after communication loss. */
export interface FailSafe {
  /** Whether it is active; `null` if no register tells, and then it counts as active. */
  mode: { register: NumberRegister; keeps: readonly number[]; applies: readonly number[] } | null
  limit: Power
  /**
   * `silence`: no communication at all. `no_setpoint`: no writes, which is normal while the limit
   * does not change, so that this fallback may apply at any time.
   */
  after: 'silence' | 'no_setpoint'
}

export interface LimitProfile {
  /** Written last, in multiples of `step` (1) up to 100 %, or to the static ceiling. */
  setpoint: Power & { step?: number }
  /** Settings that enable the setpoint, written before it in this order. */
  enable: readonly Setting[]
  /**
   * Registers with the limit in force: the source that `selector` names, or the only one. An
   * unknown value of the selector counts as no limit. The device requires `read_along` in the same
   * request.
   */
  in_force: {
    selector?: NumberRegister
    read_along?: readonly NumberRegister[]
    sources: readonly (Power & { when?: number })[]
    /**
     * The stored setpoint, in a unit of power. Counts after a write while all registers of
     * `in_force` have only ever shown 0 and prove nothing.
     */
    stored?: NumberRegister
  }
  /** Highest power without a limit: the minimum of these, times `ratio`. */
  ceilings: readonly (Power & { ratio?: number })[]
  /** Timer that ends the limit, with the value for "never". */
  timer: Setting | null
  fail_safe: FailSafe | null
  checks: readonly Check[]
  /** True only if documented; a lost limit counts as none. */
  survives_power_loss: boolean
  /** Minimum time between raises: setting registers wear out, and some devices need a pause. */
  min_interval_ms: number
  /** Time after an accepted write within which `in_force` may show the value before; 0: none. */
  applies_within_ms: number
  /**
   * Rate at which power follows a lower limit: a register with the gradient in percent of rated
   * power per second, or a document. null: not documented.
   */
  ramp: { gradient: NumberRegister } | { within_ms: number } | null
  /** Lowest raw setpoint known to keep feeding in; lower limits become 0. */
  raw_min: number
  /** Largest rounding of a setpoint by the device, up or down, raw. */
  raw_tolerance?: number
}

/** Equal inputs in a row: registers of the first; the next are `stride` further on. */
interface Inputs {
  of: 'strings' | 'mppts'
  voltage: NumberRegister
  current: NumberRegister
  stride: number
  count_max: number
}

type Column = {
  [Name in keyof InverterReading]: InverterReading[Name] extends number | null ? Name : never
}[keyof InverterReading]

export interface Maker {
  driver: string
  manufacturer: string
  family: string
  sources: readonly string[]
  /** Facts that no source gives. */
  unknown: readonly string[]
  word_order: 'high_first' | 'low_first'
  limit: LimitProfile
}

export interface InverterProfile extends Maker {
  identity: { model?: Register; serial_number?: Register; firmware_version?: Register }
  /** `max_power` is 100 % of the limit in readings. */
  ratings: { rated_power: NumberRegister; max_power: NumberRegister }
  readings: Partial<Record<Column, NumberRegister>>
  state: {
    register: NumberRegister
    codes: Partial<Record<InverterState, readonly number[]>>
  } | null
  inputs: Inputs | null
  /** Table of domain/alarms that decodes the words; `null` if alarms are not bits. */
  alarms: { table_id: string; words: readonly NumberRegister[] } | null
}

/** Profile of a plant controller, which limits all inverters of its plant by one command. */
export interface ControllerProfile extends Maker {
  active_power: NumberRegister
  /** Control authority: codes of masters other than Modbus. */
  control_mode: { register: NumberRegister; others: Readonly<Record<number, string>> }
}

const words: Readonly<Record<NumberType, number>> = { u16: 1, i16: 1, u32: 2, i32: 2, u64: 4 }

export function wordsOf(register: Register): number {
  return register.type === 'text' ? register.words : words[register.type]
}

export function limitRegisters(limit: LimitProfile): NumberRegister[] {
  const { setpoint, enable, in_force, ceilings, timer, fail_safe, checks, ramp } = limit
  const powers: Power[] = [setpoint, ...in_force.sources, ...ceilings]
  if (fail_safe) powers.push(fail_safe.limit)
  const bases = powers.flatMap(({ base }) => (base && base !== 'rated' ? [base] : []))
  const settings = [...enable, ...(timer ? [timer] : [])].filter((one) => !one.is_write_only)
  return [
    ...bases,
    ...in_force.sources.map(({ register }) => register),
    ...(in_force.selector ? [in_force.selector] : []),
    ...(in_force.read_along ?? []),
    ...(in_force.stored ? [in_force.stored] : []),
    ...ceilings.map(({ register }) => register),
    ...settings.map(({ register }) => register),
    ...(fail_safe ? [fail_safe.limit.register] : []),
    ...(fail_safe?.mode ? [fail_safe.mode.register] : []),
    ...checks.map(({ register }) => register),
    ...(ramp && 'gradient' in ramp ? [ramp.gradient] : []),
  ]
}

export function inputRegisters({ voltage, current, stride, count_max }: Inputs) {
  return Array.from({ length: count_max }, (_, nth) => {
    const moved = (register: NumberRegister): NumberRegister => ({
      ...register,
      name: `${register.name} ${nth + 1}`,
      address: register.address + nth * stride,
      is_optional: true,
    })
    return { voltage: moved(voltage), current: moved(current) }
  })
}
