/** Limits a device by its profile. */
import {
  type Check,
  type FailSafe,
  fractionOf,
  isPercent,
  type LimitProfile,
  limitRegisters,
  type NumberRegister,
  type Power,
  type Profile,
  type Setting,
  units,
  type WordOrder,
} from '@heliograph/domain/profile'
import { refusalOf } from '../bus/bus-error.ts'
import { withUrgentReads } from '../bus/urgent-reads.ts'
import type { Bus } from './driver.ts'
import type { LimitControl, LimitState } from './limit-control.ts'
import { isAbsent, wordsOfNumber } from './register-codec.ts'
import { createRegisterReader, describeRegister, type RegisterValues } from './register-reader.ts'

interface LimitedDevice {
  bus: Bus
  unit_id: number
  word_order: WordOrder
  requests?: Profile['requests']
  /** Power of `% rated`, and the highest possible ceiling. */
  rated_w: number
  max_w: number
}

export interface RegisterLimit {
  /** Null while its registers do not show the limit in force. */
  readonly control: LimitControl | null
  readonly reason: string
  /** Warning that the read-back proves nothing; null if it does. */
  readonly warning: string | null
  /** Limit in a reading; `null` if it cannot be trusted. */
  onRead(values: RegisterValues): LimitState | null
}

/** Scale of a register: `raw` is `raw × times / per` W. Both are whole numbers. */
interface Scale {
  times: number
  per: number
}

interface Known {
  state: LimitState
  scale: Scale
  ramp_ms: number | null
}

export function createRegisterLimit(limit: LimitProfile, device: LimitedDevice): RegisterLimit {
  const access = createAccess(limit, device)
  const control = controlOf(limit, access)
  return {
    get control() {
      return access.known ? control : null
    },
    get reason() {
      return access.reason
    },
    get warning() {
      if (!access.is_mute) return null
      const { address } = limit.in_force.selector ?? limit.setpoint.register
      return `${address} never shows a limit: what was stored counts, and only the power proves it`
    },
    onRead: (values) => access.look(values)?.state ?? null,
  }
}

interface Access {
  device: LimitedDevice
  readonly known: Known | null
  readonly reason: string
  /** A limit was written, and the registers that should show it never showed anything. */
  readonly is_mute: boolean
  wrote(): void
  look(values: RegisterValues): Known | null
  /** Rejects if the registers do not show the limit in force. */
  readNow(): Promise<{ values: RegisterValues; known: Known }>
  set(setting: Setting, mayStill?: () => boolean): Promise<void>
  /** Writes a setting unless it is read back as set. */
  setIfOther(setting: Setting, values: RegisterValues, mayStill?: () => boolean): Promise<void>
}

function createAccess(limit: LimitProfile, device: LimitedDevice): Access {
  const { bus, unit_id, word_order } = device
  const registers = limitRegisters(limit)
  const required = registers.filter(({ optional }) => !optional)
  const read = createRegisterReader({ ...device, bus: withUrgentReads(bus) }, registers)
  const { selector, read_along = [], sources, stored } = limit.in_force
  const shown = [
    ...(selector ? [selector] : []),
    ...read_along,
    ...sources.map((one) => one.register),
  ]
  const by_stored = stored && { ...limit, in_force: { sources: [{ register: stored }] } }
  let has_shown = false
  let is_written = false
  const access: Access & { known: Known | null; reason: string } = {
    device,
    known: null,
    reason: untold,
    get is_mute() {
      return by_stored !== undefined && is_written && !has_shown
    },
    wrote() {
      is_written = true
    },
    look(values) {
      has_shown ||= shown.some((register) => (values.raw(register) ?? 0) !== 0)
      const missing = required.filter((register) => values.isMissing(register))
      const scale = scaleOf(limit.setpoint, values, device)
      const state = stateOf((access.is_mute && by_stored) || limit, values, device)
      const ramp_ms = rampOf(limit, values)
      access.known = missing.length === 0 && scale && state ? { scale, state, ramp_ms } : null
      const names = missing.map(describeRegister).join(', ')
      access.reason = missing.length > 0 ? `it does not serve ${names}: no control` : untold
      return access.known
    },
    async readNow() {
      const values = await read()
      access.look(values)
      return { values, known: orSay(access) }
    },
    async set({ register, raw }, mayStill) {
      const words = wordsOfNumber(register, raw, word_order)
      const { single_writes: single = false } = limit
      const how = { ...(single && { single }), ...(mayStill && { mayStill }) }
      await bus.writeRegisters(unit_id, register.address, words, how)
    },
    async setIfOther(setting, values, mayStill) {
      if (values.raw(setting.register) !== setting.raw) await access.set(setting, mayStill)
    },
  }
  return access
}

const untold = 'it does not tell what limits it'

function orSay({ known, reason, device }: Access): Known {
  if (known) return known
  throw new Error(`unit ${device.unit_id}: ${reason}`)
}

function controlOf(limit: LimitProfile, access: Access): LimitControl {
  return {
    get traits() {
      const { survives_power_loss, min_interval_ms, applies_within_ms } = limit
      const { raw_min = 0, raw_tolerance = 0 } = limit
      const { known } = access
      return {
        survives_power_loss,
        min_interval_ms,
        applies_within_ms,
        ramp_ms: known?.ramp_ms ?? null,
        min_limit_w: known ? wattsOf(raw_min, known.scale) : 0,
        tolerance_w: known ? wattsOf(raw_tolerance, known.scale) : 0,
      }
    },
    settable(limit_w) {
      const known = orSay(access)
      return wattsOf(rawAt(limit_w, limit, known), known.scale)
    },
    async readLimit() {
      return (await access.readNow()).known.state
    },
    async writeLimit(limit_w, mayStill) {
      if (!Number.isInteger(limit_w) || limit_w < 0) throw new RangeError(`no limit: ${limit_w} W`)
      const { values, known } = await access.readNow()
      if (limit.timer) await access.setIfOther(limit.timer, values, mayStill)
      for (const setting of limit.enable ?? []) await access.setIfOther(setting, values, mayStill)
      const raw = rawAt(limit_w, limit, known)
      await access.set({ register: limit.setpoint.register, raw }, mayStill)
      access.wrote()
    },
    async arm(share_w) {
      const { values } = await access.readNow()
      const complaints = (limit.checks ?? []).flatMap((check) => complaintOf(check, values))
      if (limit.timer) {
        const { name } = limit.timer.register
        const refused = await refusalOf(access.setIfOther(limit.timer, values))
        if (refused) complaints.push(`${name} ends the limit and cannot be set: ${refused}`)
      }
      if (!limit.fail_safe) return complaints
      return [...complaints, ...(await armFailSafe(limit.fail_safe, share_w, access))]
    },
  }
}

function complaintOf(check: Check, values: RegisterValues): string[] {
  const { register, right, wrong = [], otherwise } = check
  const found = values.raw(register)
  if (found === null) return []
  const is_right = right ? right.includes(found) : !wrong.includes(found)
  return is_right ? [] : [otherwise]
}

/** Lowers the fallback to the share, never raises it: the device may apply it at any time. */
async function armFailSafe(
  fail_safe: FailSafe,
  share_w: number,
  access: Access,
): Promise<string[]> {
  const { limits, mode } = fail_safe
  const before = (await access.readNow()).values
  const does = failSafeDoes(fail_safe, before)
  if (does === 'keeps') return []
  if (does === 'unknown') return [`${mode?.register.name} holds no code that is known`]
  const complaints: string[] = []
  let is_shown = false
  for (const limit of limits) {
    const scale = scaleOf(limit, before, access.device)
    const found_w = powerOf(limit, before, access.device)
    if (!scale || found_w === null) continue
    is_shown = true
    if (found_w <= share_w) continue
    const raw = Math.floor((share_w * scale.per) / scale.times)
    const refused = await refusalOf(access.set({ register: limit.register, raw }))
    const now_w = powerOf(limit, (await access.readNow()).values, access.device)
    if (refused || now_w === null || now_w > share_w) {
      const { name } = limit.register
      complaints.push(`${name} is above the share of the device and cannot be lowered`)
    }
  }
  // Without a register that shows the fallback, the device may have none.
  if (!is_shown) return mode ? [`${limits[0]!.register.name} cannot be read`] : []
  if (fail_safe.after === 'no_setpoint') {
    complaints.push(`${mode?.register.name}: limits below the fallback end by themselves`)
  }
  return complaints
}

/**
 * `null` while a ceiling is not readable or 0: a zero was never set, and would hide the true one.
 */
function stateOf(
  limit: LimitProfile,
  values: RegisterValues,
  device: LimitedDevice,
): LimitState | null {
  const ceilings = (limit.ceilings ?? []).map((power) => {
    const found_w = powerOf(power, values, device)
    return found_w === null || found_w <= 0 ? null : Math.ceil(found_w * (power.ratio ?? 1))
  })
  if (ceilings.includes(null)) return null
  const static_max_w = ceilings.length > 0 ? Math.min(...(ceilings as number[])) : device.max_w
  const { selector, sources } = limit.in_force
  const selected = selector ? values.raw(selector) : undefined
  const source = sources.find(({ when }) => when === undefined || when === selected)
  const limit_w = source ? powerOf(source, values, device) : null
  if (limit_w !== null && limit_w < 0) return null
  return {
    limit_w,
    static_max_w,
    revert: revertOf(limit, values, { limit_w, static_max_w, device }),
  }
}

/** The timer that ends the limit. No register shows the time left, so that it counts as due. */
function revertOf(
  { timer, fail_safe }: LimitProfile,
  values: RegisterValues,
  now: { limit_w: number | null; static_max_w: number; device: LimitedDevice },
): LimitState['revert'] {
  if (now.limit_w === null) return null
  if (timer && (values.raw(timer.register) ?? timer.raw) !== timer.raw) {
    return { in_ms: 0, to_w: now.static_max_w }
  }
  if (fail_safe?.after !== 'no_setpoint') return null
  const does = failSafeDoes(fail_safe, values)
  if (does === 'keeps') return null
  const fallbacks = fail_safe.limits
    .map((limit) => powerOf(limit, values, now.device))
    .filter((power_w) => power_w !== null)
  const is_known = does === 'applies' && fallbacks.length > 0
  return { in_ms: 0, to_w: is_known ? Math.max(...fallbacks) : now.static_max_w }
}

function failSafeDoes({ mode }: FailSafe, values: RegisterValues): 'keeps' | 'applies' | 'unknown' {
  if (!mode) return 'applies'
  const code = values.raw(mode.register)
  if (code !== null && mode.keeps.includes(code)) return 'keeps'
  return code !== null && mode.applies.includes(code) ? 'applies' : 'unknown'
}

/** A gradient of 0 was never set. The ramp may start as late as a limit may take to apply. */
function rampOf(limit: LimitProfile, values: RegisterValues): number | null {
  const { ramp_gradient, ramp_within_ms = null, applies_within_ms } = limit
  if (!ramp_gradient) return ramp_within_ms
  const pct_per_s = values.number(ramp_gradient)
  return pct_per_s ? Math.ceil((100 * 1000) / pct_per_s) + applies_within_ms : null
}

/** The register value in watts, rounded up. */
function powerOf(power: Power, values: RegisterValues, device: LimitedDevice): number | null {
  const raw = values.raw(power.register)
  const scale = scaleOf(power, values, device)
  if (raw === null || scale === null || isAbsent(power.register.type, raw)) return null
  return wattsOf(raw, scale)
}

function scaleOf(
  { register, base }: Power,
  values: RegisterValues,
  device: LimitedDevice,
): Scale | null {
  if (!isPercent(register)) return wattScale(register)
  const { times, per } = fractionOf(register)
  if (!base) return { times: device.rated_w * times, per: 100 * per }
  const raw = values.raw(base)
  if (!raw || isAbsent(base.type, raw)) return null
  const full = wattScale(base)
  return { times: raw * full.times * times, per: full.per * 100 * per }
}

/** Scale of a register in a unit of power. */
function wattScale(register: NumberRegister): Scale {
  const { multiply, divide } = units[register.unit ?? 'W']
  const { times, per } = fractionOf(register)
  return { times: (multiply * 1000 * times) / divide, per }
}

const wattsOf = (raw: number, { times, per }: Scale): number => Math.ceil((raw * times) / per)

/** The highest valid setpoint that allows at most `limit_w`. */
function rawAt(
  limit_w: number,
  { setpoint, raw_min = 0 }: LimitProfile,
  { scale, state }: Known,
): number {
  const { register, step = 1 } = setpoint
  const { times, per } = fractionOf(register)
  const most = isPercent(register) ? (100 * per) / times : Number.POSITIVE_INFINITY
  const bound_w = Math.max(0, Math.min(limit_w, state.static_max_w))
  // Whole numbers: where a step fits exactly, the quotient is exact.
  const steps = Math.floor((bound_w * scale.per) / (scale.times * step))
  const raw = Math.min(steps * step, Math.floor(most / step) * step)
  return raw < raw_min ? 0 : raw
}
