/**
 * A device served straight from its profile. Its registers are written by a codec of its own, so
 * that a fault of the driver's codec shows. A write is kept as written; a limit is in force while
 * everything that enables it holds.
 */
import {
  type Inputs,
  inputRegisters,
  isPercent,
  type LimitProfile,
  type NumberRegister,
  type Power,
  type Profile,
  type Register,
  type Setting,
  units,
  wordsOf,
} from '@heliograph/domain/profile'
import { type RegisterDevice, stateIf } from './register-device.ts'
import { Refusal } from './unit.ts'

/** What the device measures, in the units and signs of readings; `null` for what it does not. */
export interface ProfileNow {
  columns: Readonly<Record<string, number | null>>
  state: string | null
  strings: InputsNow
  mppts: InputsNow
}

interface InputsNow {
  voltage_v: readonly (number | null)[]
  current_a: readonly (number | null)[]
}

/** Raw values by register, as written. */
type Written = Readonly<Record<string, number>>

interface Nameplate {
  serial: number
  /** 100 % of its limit, and its ceiling. */
  rated_w: number
}

export function profileDevice(
  profile: Profile,
  nameplate: Nameplate,
): RegisterDevice<Written, ProfileNow> {
  const limit = profile.inverter?.limit ?? profile.controller?.limit
  const own = limit ? ownLimit(limit, nameplate) : null
  return {
    initial: own?.initial ?? {},
    registers(now, state) {
      const image = { holding: new Map<number, number>(), input: new Map<number, number>() }
      const put = (register: Register, raw: number | string) => {
        const table = image[register.table ?? 'holding']
        for (const [nth, word] of wordsAs(register, raw, profile).entries()) {
          table.set(register.address + nth, word)
        }
      }
      for (const register of ratingsOf(profile)) {
        put(register, rawOf(register, nameplate.rated_w / 1000))
      }
      measure(profile, now, put)
      identify(profile, nameplate, put)
      mark(profile, (register) => !image[register.table ?? 'holding'].has(register.address), put)
      for (const [register, raw] of own?.registers(state) ?? []) put(register, raw)
      return image
    },
    write(state, { address, values }) {
      const register = own?.writable.find((one) => one.address === address)
      if (!register || wordsOf(register) !== values.length) {
        return new Refusal('illegal data address')
      }
      const raw = rawIn(register, values, profile)
      const is_valid = raw >= 0 && (!isPercent(register) || raw * scaleOf(register) <= 100)
      return stateIf(is_valid, { ...state, [keyOf(register)]: raw })
    },
    limit_w: (state) => own?.limit_w(state) ?? null,
  }
}

const keyOf = ({ table = 'holding', address }: Register) => `${table} ${address}`
const scaleOf = ({ scale = 1 }: NumberRegister) => scale

const ratingsOf = ({ inverter }: Profile): NumberRegister[] =>
  Object.values(inverter?.ratings ?? {}).flatMap((register) => register ?? [])

function measure(
  profile: Profile,
  now: ProfileNow,
  put: (register: Register, raw: number) => void,
): void {
  const { inverter, meter, weather, pcs, controller } = profile
  const readings = (inverter ?? meter ?? pcs)?.readings ?? weather?.points ?? {}
  const turned = meter?.positive_power === 'import' ? -1 : 1
  for (const [column, register] of Object.entries(readings)) {
    const value = now.columns[column]
    if (!register || value === null || value === undefined) continue
    const is_directed = column === 'active_power_kw' || column === 'reactive_power_kvar'
    put(register, rawOf(register, is_directed ? turned * value : value))
    const { scale_register } = register
    if (scale_register) put(scale_register, exponentOf(register) / scaleOf(scale_register))
  }
  if (controller)
    put(controller.active_power, rawOf(controller.active_power, now.columns['ac_power_kw'] ?? 0))
  const state = inverter?.state ?? pcs?.state
  if (state && now.state !== null) {
    const bit = state.flags?.find((flag) => flag.state === now.state)?.bit
    put(state.register, bit === undefined ? (state.codes?.[now.state]?.[0] ?? 0) : 2 ** bit)
  }
  for (const register of (inverter ?? controller ?? pcs)?.alarms?.words.flat() ?? [])
    put(register, 0)
  if (pcs) for (const register of [pcs.setpoint, pcs.watchdog]) put(register, 0)
  if (controller?.control_mode) put(controller.control_mode.register, 0)
  putInputs(inverter?.strings, now.strings, put)
  putInputs(inverter?.mppts, now.mppts, put)
}

function putInputs(
  rows: readonly Inputs[] | undefined,
  { voltage_v, current_a }: InputsNow,
  put: (register: Register, raw: number) => void,
): void {
  for (const [nth, { voltage, current, power }] of inputRegisters(rows).entries()) {
    const [v = null, a = null] = [voltage_v[nth], current_a[nth]]
    if (voltage) put(voltage, rawOf(voltage, v ?? 0))
    if (current) put(current, rawOf(current, a ?? 0))
    if (power) put(power, rawOf(power, ((v ?? 0) * (a ?? 0)) / 1000))
  }
}

function identify(
  { identity }: Profile,
  { serial }: Nameplate,
  put: (register: Register, raw: number | string) => void,
): void {
  const { model, serial_number, firmware_version } = identity
  if (model) put(model, model.type === 'text' ? 'SIM' : 1)
  if (serial_number) put(serial_number, serial_number.type === 'text' ? `SIM-${serial}` : serial)
  if (firmware_version) put(firmware_version, firmware_version.type === 'text' ? 'sim-1' : 1)
}

/** Recognisable by registers that it does not measure by; a text replaces the one of its model. */
function mark(
  { identity }: Profile,
  isFree: (register: Register) => boolean,
  put: (register: Register, raw: number | string) => void,
): void {
  for (const { register, values, ranges, begins_with } of identity.recognised_by ?? []) {
    if (begins_with) put(register, begins_with[0]!)
    else if (isFree(register)) put(register, values?.[0] ?? ranges![0]![0]!)
  }
}

/** Power of ten in the register that scales another: power in 16 bits needs larger steps. */
const exponentOf = ({ type, unit = 'ratio' }: NumberRegister): number =>
  type === 'i16' && units[unit].divide === 1000 ? 1 : -1

/** Raw value of a register for a value in the unit of columns. */
function rawOf(register: NumberRegister, value: number): number {
  const { multiply, divide } = units[register.unit ?? 'ratio']
  const ten = register.scale_register ? 10 ** exponentOf(register) : 1
  const raw = (value * divide) / (multiply * scaleOf(register) * ten)
  return register.type.startsWith('f') ? raw : Math.round(raw)
}

interface OwnLimit {
  initial: Written
  writable: readonly NumberRegister[]
  registers(state: Written): [NumberRegister, number][]
  limit_w(state: Written): number | null
}

function ownLimit(limit: LimitProfile, { rated_w }: Nameplate): OwnLimit {
  const { setpoint, enable = [], timer, fail_safe, in_force, checks = [], ceilings = [] } = limit
  const { sources, selector, read_along = [], stored } = in_force
  const rawFor = ({ register }: Power, power_w: number) =>
    isPercent(register)
      ? Math.round((100 * power_w) / rated_w / scaleOf(register))
      : rawOf(register, power_w / 1000)
  const settings: Setting[] = [...enable, ...(timer ? [timer] : [])]
  const holds = (state: Written, { register, raw }: Setting) => state[keyOf(register)] === raw
  const limit_w = (state: Written): number | null => {
    if (!enable.every((setting) => holds(state, setting))) return null
    const raw = state[keyOf(setpoint.register)] ?? 0
    const { multiply, divide } = units[setpoint.register.unit ?? 'W']
    return isPercent(setpoint.register)
      ? (raw * scaleOf(setpoint.register) * rated_w) / 100
      : (raw * scaleOf(setpoint.register) * multiply * 1000) / divide
  }
  const writable = [setpoint.register, ...settings.map(({ register }) => register)]
  const fallbacks = fail_safe?.limits ?? []
  writable.push(...fallbacks.map(({ register }) => register))
  const initial: Record<string, number> = {
    [keyOf(setpoint.register)]: rawFor(setpoint, rated_w),
  }
  for (const { register, raw } of enable) initial[keyOf(register)] = raw === 0 ? 1 : 0
  if (timer) initial[keyOf(timer.register)] = timer.raw
  for (const one of fallbacks) initial[keyOf(one.register)] = rawFor(one, rated_w)
  return {
    initial,
    writable,
    limit_w,
    registers(state) {
      const now_w = limit_w(state)
      const { when = 0 } = sources[0]!
      const bases = [setpoint, ...sources, ...ceilings, ...fallbacks]
      return [
        ...bases.flatMap(({ base }): [NumberRegister, number][] =>
          base ? [[base, rawOf(base, rated_w / 1000)]] : [],
        ),
        ...ceilings.map((power): [NumberRegister, number] => [
          power.register,
          rawFor(power, rated_w),
        ]),
        ...sources
          .slice(0, 1)
          .map((power): [NumberRegister, number] => [
            power.register,
            rawFor(power, now_w ?? rated_w),
          ]),
        ...(selector ? [[selector, now_w === null ? 0 : when] as [NumberRegister, number]] : []),
        ...read_along.map((register): [NumberRegister, number] => [register, 0]),
        ...(stored ? [[stored, 0] as [NumberRegister, number]] : []),
        ...checks.map(({ register, right, wrong = [] }): [NumberRegister, number] => [
          register,
          right?.[0] ?? Math.max(...wrong) + 1,
        ]),
        ...(fail_safe?.mode
          ? [[fail_safe.mode.register, fail_safe.mode.keeps[0]!] as [NumberRegister, number]]
          : []),
        ...(limit.ramp_gradient ? [[limit.ramp_gradient, 0] as [NumberRegister, number]] : []),
        ...writable.map((register): [NumberRegister, number] => [
          register,
          state[keyOf(register)] ?? 0,
        ]),
      ]
    },
  }
}

function isLowFirst({ word_order }: Register, profile: Profile): boolean {
  return (word_order ?? profile.word_order) === 'low_first'
}

function wordsAs(register: Register, raw: number | string, profile: Profile): number[] {
  const count = wordsOf(register)
  const bytes = Buffer.alloc(2 * count)
  if (typeof raw === 'string') bytes.write(raw, 'latin1')
  else if (register.type === 'f32') bytes.writeFloatBE(raw)
  else if (register.type === 'f64') bytes.writeDoubleBE(raw)
  else {
    const digits = register.type.startsWith('bcd') ? `0x${Math.round(raw)}` : Math.round(raw)
    const bits = BigInt.asUintN(16 * count, BigInt(digits))
    bytes.write(bits.toString(16).padStart(4 * count, '0'), 'hex')
  }
  if (register.swap_bytes) bytes.swap16()
  const words = Array.from({ length: count }, (_, nth) => bytes.readUInt16BE(2 * nth))
  return typeof raw === 'number' && isLowFirst(register, profile) ? words.reverse() : words
}

function rawIn(register: NumberRegister, values: readonly number[], profile: Profile): number {
  const words = isLowFirst(register, profile) ? [...values].reverse() : values
  const bytes = Buffer.alloc(2 * words.length)
  for (const [nth, word] of words.entries()) bytes.writeUInt16BE(word, 2 * nth)
  if (register.swap_bytes) bytes.swap16()
  if (register.type === 'f32') return bytes.readFloatBE()
  return bytes.readUIntBE(0, bytes.length > 4 ? 6 : bytes.length)
}
