/**
 * A profile: the registers of a maker's devices as data, under the maker's own names.
 * `register-driver.ts` reads and limits any device by its profile; docs/drivers.md says how to
 * write one, and profiles/blueprint.ts is one to copy.
 *
 * A profile holds what a document, or someone who measured, says. What nobody says is left out and
 * stands in `unknown`; where a limit depends on it, the profile takes the worse of the two.
 */
import type { InverterReading, InverterState } from '@heliograph/domain/readings'

/**
 * Units of makers: `column` is the ending of the columns that such a value may go to, and a value
 * of a column is that of the register times `multiply`, by `divide`.
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
  /** As the maker calls it. */
  name: string
  /** On the wire, from 0. Documents that count from 1 are one above. */
  address: number
  /** Which of the two tables of Modbus: holding registers without this. */
  table?: 'input'
  /** Not in every device: a device without it lacks nothing, and is limited all the same. */
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

/** Text of two characters to a register, ended by a zero. */
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

/** Power that a register tells in a unit of power, or in percent of what another one holds. */
export interface Power {
  register: NumberRegister
  /** With percent only: what 100 % is; `rated` where that is the sum of the plant's ratings. */
  base?: NumberRegister | 'rated'
}

export interface Setting {
  register: NumberRegister
  /** As it stands in the register. */
  raw: number
  /** It cannot be read, so that it is written each time. */
  is_write_only?: true
}

export interface Check {
  register: NumberRegister
  /** As in the register: one of these is right, or one of these is wrong. */
  codes: { right: readonly number[] } | { wrong: readonly number[] }
  /** What is wrong otherwise, for the one who commissions the device. No figure of a limit. */
  otherwise: string
}

/** What the device does by itself when it hears nothing for a while. */
export interface FailSafe {
  /** Whether it does; `null` where no register says so, and then it counts as doing so. */
  mode: { register: NumberRegister; keeps: readonly number[]; applies: readonly number[] } | null
  limit: Power
  /**
   * `silence`: nobody asks it anything. `no_setpoint`: nobody writes, which is so whenever the
   * limit does not change, so that the limit may give way to this one at any time.
   */
  after: 'silence' | 'no_setpoint'
}

export interface LimitProfile {
  /** Written last, in whole multiples of `step` (1) up to 100 %, or to the static ceiling. */
  setpoint: Power & { step?: number }
  /** What has to stand for the setpoint to count, in the order of writing, before it. */
  enable: readonly Setting[]
  /**
   * What says which limit is in force: the source that `selector` names, or the only one. Another
   * value of the selector is no limit that we can tell, and counts as none. The device wants
   * `read_along` in the same request, next to the others.
   */
  in_force: {
    selector?: NumberRegister
    read_along?: readonly NumberRegister[]
    sources: readonly (Power & { when?: number })[]
    /**
     * The setpoint as it is stored, in a unit of power: it counts after a write as long as none of
     * these registers ever showed anything but 0, so that they prove nothing.
     */
    stored?: NumberRegister
  }
  /** What it delivers at most without a limit: the least of these, times `ratio`. */
  ceilings: readonly (Power & { ratio?: number })[]
  /** Ends the limit after a time, and then nothing limits; the value here is "never". */
  timer: Setting | null
  fail_safe: FailSafe | null
  checks: readonly Check[]
  /** Only where a document says that it does; a limit that is forgotten counts as none. */
  survives_power_loss: boolean
  /** How far apart raises are: registers of settings wear out, and some devices need a pause. */
  min_interval_ms: number
  /** So long after a write was taken `in_force` may show what was before; 0: not at all. */
  applies_within_ms: number
  /**
   * How fast the power follows a lower limit: a register with the gradient in percent of the rated
   * power per second, or a document. null: not documented.
   */
  ramp: { gradient: NumberRegister } | { within_ms: number } | null
  /** The lowest setpoint, as in the register, known to keep it feeding in: what is below is 0. */
  raw_min: number
  /** It rounds a setpoint by so much at most, up or down, as in the register. */
  raw_tolerance?: number
}

/** Alike inputs in a row: voltage and current of the first, the next ones `stride` further on. */
interface Inputs {
  of: 'strings' | 'mppts'
  voltage: NumberRegister
  current: NumberRegister
  stride: number
  count_max: number
}

/** Columns that hold one number. */
type Column = {
  [Name in keyof InverterReading]: InverterReading[Name] extends number | null ? Name : never
}[keyof InverterReading]

export interface Maker {
  /** As site.yaml names it. */
  driver: string
  manufacturer: string
  family: string
  /** Where the facts are from. */
  sources: readonly string[]
  /** What is left out because nobody says it. */
  unknown: readonly string[]
  /** Of values that take several registers. */
  word_order: 'high_first' | 'low_first'
  limit: LimitProfile
}

export interface InverterProfile extends Maker {
  identity: { model?: Register; serial_number?: Register; firmware_version?: Register }
  /** `max_power` is what the reading's percentage of a limit is relative to. */
  ratings: { rated_power: NumberRegister; max_power: NumberRegister }
  readings: Partial<Record<Column, NumberRegister>>
  state: {
    register: NumberRegister
    codes: Partial<Record<InverterState, readonly number[]>>
  } | null
  inputs: Inputs | null
  /** The table of domain/alarms that decodes the words; `null` where its alarms are no bits. */
  alarms: { table_id: string; words: readonly NumberRegister[] } | null
}

/** A plant's own controller, which limits all of its inverters by one command. */
export interface ControllerProfile extends Maker {
  active_power: NumberRegister
  /** Who has the say: codes of others than the one who commands by Modbus. */
  control_mode: { register: NumberRegister; others: Readonly<Record<number, string>> }
}

const words: Readonly<Record<NumberType, number>> = { u16: 1, i16: 1, u32: 2, i32: 2, u64: 4 }

export function wordsOf(register: Register): number {
  return register.type === 'text' ? register.words : words[register.type]
}

/** Everything that is read to know the limit; what can only be written is not among it. */
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
