/**
 * Power conversion systems by the profiles of their makers, as `register-driver.ts` for inverters.
 */
import type { Pcs, PcsState } from '@heliograph/domain/battery'
import { emptyReading, type PcsReading } from '@heliograph/domain/readings'
import { wattsCovering, wattsWithin } from '@heliograph/domain/watts'
import { BusError } from '../bus/bus-error.ts'
import { withUrgentReads } from '../bus/urgent-reads.ts'
import type { Answer, Bus, Complaint, DeviceIdentity, Driver, PcsAnswer } from './driver.ts'
import { rejecting } from './driver.ts'
import { plausible } from './plausible.ts'
import type { PowerControl, PowerState } from './power-control.ts'
import type { Maker, NumberRegister, Register } from './profile.ts'
import { wordsOfNumber } from './register-codec.ts'
import { identityOf, inColumn } from './register-driver.ts'
import { createRegisterReader, type RegisterValues } from './register-reader.ts'
import { pcsRanges } from './sunspec-pcs.ts'

type Column = {
  [Name in keyof PcsReading]: PcsReading[Name] extends number | null ? Name : never
}[keyof PcsReading]

export interface PcsProfile extends Omit<Maker, 'limit'> {
  driver: Pcs['driver']
  identity: { model?: Register; serial_number?: Register; firmware_version?: Register }
  readings: Partial<Record<Column, NumberRegister>>
  /** The first set bit decides. */
  state: {
    register: NumberRegister
    flags: readonly (readonly [bit: number, state: PcsState])[]
    otherwise: PcsState
  }
  /** Words of the table by their registers, the lowest 16 bits first. */
  alarms: { table_id: string; words: readonly (readonly AlarmRegister[])[] }
  power: {
    /** 16 bits in W or kW, positive towards the grid; 0 stops. Written by function 6. */
    setpoint: NumberRegister
    /** Time without communication after which the device stops; 0: never. */
    watchdog: NumberRegister
  }
}

/** Bits outside of `mask` are no alarms. */
type AlarmRegister = NumberRegister & { mask?: number }

/** Rejects for batteries, which have other drivers. */
export function pcsDriver(profile: PcsProfile): Driver {
  return {
    ...rejecting(`the driver ${profile.driver} reads power conversion systems only`),
    openPcs: (bus, pcs) => openPcs(profile, bus, pcs),
  }
}

async function openPcs(profile: PcsProfile, bus: Bus, pcs: Pcs) {
  const { word_order, power } = profile
  const place = { bus, unit_id: pcs.unit_id, word_order }
  const identify = createRegisterReader(place, Object.values(profile.identity))
  const read = createRegisterReader(place, pcsRegisters(profile))
  const readPower = createRegisterReader({ ...place, bus: withUrgentReads(bus) }, [power.setpoint])
  let identity = identityOf(profile, await identify())
  let is_doubted = false
  let has_setpoint = true
  const control = controlOf(profile, pcs, { bus, readPower, readAll: read })
  return {
    get control() {
      return has_setpoint ? control : null
    },
    get identity() {
      return identity
    },
    async read(): Promise<Answer<PcsAnswer>> {
      try {
        // After communication loss another device may answer at this address.
        if (is_doubted) identity = sameAs(identity, identityOf(profile, await identify()))
        const values = await read()
        has_setpoint = !values.isMissing(power.setpoint)
        is_doubted = false
        return pcsAnswer(profile, pcs, values)
      } catch (error) {
        is_doubted = true
        throw error
      }
    },
  }
}

/** @throws for another device, which is opened again after some polls */
function sameAs(before: DeviceIdentity, now: DeviceIdentity): DeviceIdentity {
  if (now.serial_number === before.serial_number) return now
  throw new Error(`expected serial number ${before.serial_number}, found ${now.serial_number}`)
}

export function pcsRegisters({ readings, state, alarms, power }: PcsProfile): NumberRegister[] {
  return [
    ...Object.values(readings),
    state.register,
    ...alarms.words.flat(),
    power.setpoint,
    power.watchdog,
  ]
}

function pcsAnswer(profile: PcsProfile, pcs: Pcs, values: RegisterValues): Answer<PcsAnswer> {
  const complaints: Complaint[] = []
  const { state, alarms } = profile
  const status = values.number(state.register)
  const power = powerState(profile, pcs, values)
  if (!power) complaints.push({ point: 'setpoint', reason: 'it does not tell what it is set to' })
  const readings = Object.entries(profile.readings)
  const measured: PcsAnswer['pcs'] = {
    ...emptyReading('pcs'),
    ...Object.fromEntries(readings.map(([name, one]) => [name, inColumn(one, values)])),
    ...Object.fromEntries(
      alarms.words.map((parts, nth) => [`alarm_${nth + 1}`, wordOf(parts, values)]),
    ),
    state: status === null ? null : stateOf(profile, status),
    state_vendor_code: status,
    setpoint_kw: power?.setpoint_w == null ? null : power.setpoint_w / 1000,
  }
  return {
    values: {
      pcs: plausible(measured, complaints, pcsRanges(pcs)),
      alarm_table: alarms.table_id,
      heartbeat: null,
      power,
    },
    complaints,
    missing: values.missing,
  }
}

function stateOf({ state }: PcsProfile, status: number): PcsState {
  const flag = state.flags.find(([bit]) => (status >> bit) & 1)
  return flag ? flag[1] : state.otherwise
}

/** Null if one of its registers is missing: an unread alarm is not clear. */
function wordOf(parts: readonly AlarmRegister[], values: RegisterValues): number | null {
  return parts.reduce<number | null>((word, part, nth) => {
    const raw = values.number(part)
    return word === null || raw === null
      ? null
      : word + (raw & (part.mask ?? 0xffff)) * 65536 ** nth
  }, 0)
}

/** Watts per step of the setpoint. */
const stepOf = ({ power: { setpoint } }: PcsProfile) =>
  (setpoint.unit === 'kW' ? 1000 : 1) / (setpoint.gain ?? 1)

function powerState(
  profile: PcsProfile,
  { rated_power_kw }: Pcs,
  values: RegisterValues,
): PowerState | null {
  const { setpoint } = profile.power
  const raw = values.number(setpoint) === null ? null : values.raw(setpoint)
  if (raw === null) return null
  const rated_w = wattsCovering(rated_power_kw)
  return {
    setpoint_w: Math.round(raw * stepOf(profile)),
    discharge_max_w: rated_w,
    charge_max_w: rated_w,
    revert: null,
    is_remote: true,
  }
}

interface Asking {
  bus: Bus
  readPower(): Promise<RegisterValues>
  readAll(): Promise<RegisterValues>
}

function controlOf(profile: PcsProfile, pcs: Pcs, asking: Asking): PowerControl {
  const { setpoint, watchdog } = profile.power
  const step_w = stepOf(profile)
  const rated_w = wattsWithin(pcs.rated_power_kw)
  const settable = (power_w: number) => {
    const most_w = Math.min(Math.abs(power_w), rated_w, 0x7ffe * step_w)
    const magnitude_w = Math.floor(most_w / step_w) * step_w
    return power_w < 0 ? 0 - magnitude_w : magnitude_w
  }
  return {
    // The action after its watchdog expires is not documented.
    traits: { stops_after_ms: null, applies_within_ms: 0, ramp_ms: null },
    settable,
    async readPower() {
      const state = powerState(profile, pcs, await asking.readPower())
      if (!state) throw new Error(`unit ${pcs.unit_id}: its setpoint cannot be read`)
      return state
    },
    async writePower(power_w, mayStill) {
      if (!Number.isInteger(power_w) || settable(power_w) !== power_w) {
        throw new RangeError(`cannot be set: ${power_w} W`)
      }
      const words = wordsOfNumber(setpoint, power_w / step_w, profile.word_order)
      try {
        const how = { single: true, ...(mayStill ? { mayStill } : {}) }
        await asking.bus.writeRegisters(pcs.unit_id, setpoint.address, words, how)
      } catch (error) {
        if (!(error instanceof BusError)) throw error
        throw new BusError(error.kind, `${setpoint.name}: ${error.message}`, error.exception_code)
      }
    },
    beat: async () => {},
    async arm() {
      const timeout_s = (await asking.readAll()).number(watchdog)
      return timeout_s ? [] : [`${watchdog.name}: it goes on when it hears nothing any more`]
    },
  }
}
