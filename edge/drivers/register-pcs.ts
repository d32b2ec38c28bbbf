/** Power conversion systems by the profiles of their makers, as `register-inverter.ts`. */
import type { Pcs, PcsState } from '@heliograph/domain/battery'
import { pcsStates } from '@heliograph/domain/battery'
import {
  fractionOf,
  type NumberRegister,
  type PcsPart,
  type Profile,
  units,
  type WordOrder,
} from '@heliograph/domain/profile'
import { emptyReading } from '@heliograph/domain/readings'
import { wattsCovering, wattsWithin } from '@heliograph/domain/watts'
import { BusError } from '../bus/bus-error.ts'
import { withUrgentReads } from '../bus/urgent-reads.ts'
import type { Answer, Bus, Complaint, DeviceIdentity, PcsAnswer } from './driver.ts'
import { plausible } from './plausible.ts'
import type { PowerControl, PowerState } from './power-control.ts'
import { alarmRegisters, alarmsIn, columnsIn, identify, stateIn } from './register-answer.ts'
import { wordsOfNumber } from './register-codec.ts'
import { createRegisterReader, placeOf, type RegisterValues } from './register-reader.ts'
import { pcsRanges } from './sunspec-pcs.ts'

export async function openPcs(profile: Profile, bus: Bus, pcs: Pcs) {
  const part = profile.pcs!
  const place = placeOf(profile, bus, pcs.unit_id)
  const { word_order } = place
  const read = createRegisterReader(place, pcsRegisters(part))
  const readPower = createRegisterReader({ ...place, bus: withUrgentReads(bus) }, [part.setpoint])
  let identity = await identify(profile, place)
  let is_doubted = false
  let has_setpoint = true
  const control = controlOf(part, pcs, { bus, word_order, readPower, readAll: read })
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
        if (is_doubted) identity = sameAs(identity, await identify(profile, place))
        const values = await read()
        has_setpoint = !values.isMissing(part.setpoint)
        is_doubted = false
        return pcsAnswer(part, pcs, values)
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

function pcsRegisters(part: PcsPart): NumberRegister[] {
  const { readings, state, alarms, setpoint, watchdog } = part
  return [
    ...Object.values(readings).flatMap((one) => one ?? []),
    state.register,
    ...alarmRegisters(alarms),
    setpoint,
    watchdog,
  ]
}

function pcsAnswer(part: PcsPart, pcs: Pcs, values: RegisterValues): Answer<PcsAnswer> {
  const complaints: Complaint[] = []
  const power = powerState(part, pcs, values)
  if (!power) complaints.push({ point: 'setpoint', reason: 'it does not tell what it is set to' })
  const measured: PcsAnswer['pcs'] = {
    ...emptyReading('pcs'),
    ...columnsIn(part.readings, values),
    ...alarmsIn(part.alarms, values),
    ...stateIn<PcsState>(part.state, values, { names: pcsStates, other: null }),
    setpoint_kw: power?.setpoint_w == null ? null : power.setpoint_w / 1000,
  }
  return {
    values: {
      pcs: plausible(measured, complaints, pcsRanges(pcs)),
      alarm_table: part.alarms?.table_id ?? null,
      heartbeat: null,
      power,
    },
    complaints,
    missing: values.missing,
  }
}

/** Watts per step of the setpoint. */
function stepOf({ setpoint }: PcsPart): number {
  const { multiply, divide } = units[setpoint.unit ?? 'W']
  const { times, per } = fractionOf(setpoint)
  return (multiply * 1000 * times) / (divide * per)
}

function powerState(
  part: PcsPart,
  { rated_power_kw }: Pcs,
  values: RegisterValues,
): PowerState | null {
  const { setpoint } = part
  const raw = values.number(setpoint) === null ? null : values.raw(setpoint)
  if (raw === null) return null
  const rated_w = wattsCovering(rated_power_kw)
  return {
    setpoint_w: Math.round(raw * stepOf(part)),
    discharge_max_w: rated_w,
    charge_max_w: rated_w,
    revert: null,
    is_remote: true,
  }
}

interface Asking {
  bus: Bus
  word_order: WordOrder
  readPower(): Promise<RegisterValues>
  readAll(): Promise<RegisterValues>
}

function controlOf(part: PcsPart, pcs: Pcs, asking: Asking): PowerControl {
  const { setpoint, watchdog } = part
  const step_w = stepOf(part)
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
      const state = powerState(part, pcs, await asking.readPower())
      if (!state) throw new Error(`unit ${pcs.unit_id}: its setpoint cannot be read`)
      return state
    },
    async writePower(power_w, mayStill) {
      if (!Number.isInteger(power_w) || settable(power_w) !== power_w) {
        throw new RangeError(`cannot be set: ${power_w} W`)
      }
      const words = wordsOfNumber(setpoint, power_w / step_w, asking.word_order)
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
