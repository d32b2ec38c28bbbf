/**
 * Sets the power of a SunSpec power conversion system by model 704 or, where it has none, 124; by
 * 123 only a device that site.yaml says to take that for its setpoint.
 */
import { models } from '@heliograph/domain/sunspec/models'
import type { Model } from '@heliograph/domain/sunspec/point'
import { BusError, isRefusal, refusalOf } from '../bus/bus-error.ts'
import { withUrgentReads } from '../bus/urgent-reads.ts'
import type { Bus } from './driver.ts'
import type { PowerControl, PowerState } from './power-control.ts'
import { createBeat } from './sunspec-battery.ts'
import {
  type PowerModel,
  type PowerRegisters,
  type PowerWrite,
  powerModels,
  powerParts,
  powerRegisters,
} from './sunspec-pcs-registers.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { createReader, type Snapshot } from './sunspec-snapshot.ts'

interface CommandedDevice {
  bus: Bus
  unit_id: number
  models: readonly FoundModel[]
  wmaxlimpct_is_setpoint: boolean
}

export interface SunspecPower {
  /** Its models, to be read at each poll, of each what `powerParts` says. */
  models: readonly FoundModel[]
  can_charge: boolean
  /** Null as long as its registers tell of no setpoint that can be trusted. */
  readonly control: PowerControl | null
  /** Takes what a reading showed of the models of the setpoint. */
  onRead(snapshot: Snapshot): PowerState | null
  /** Reads it, so that `control` is known. Rejects when the device does not answer. */
  open(): Promise<void>
}

type Known = PowerRegisters & Pick<PowerState, 'is_remote'>

/** Null where the device has no model of a setpoint. */
export function createPower(device: CommandedDevice): SunspecPower | null {
  const model_id = modelOf(device)
  if (model_id === null) return null
  const registers = createRegisters(device, model_id)
  const control = controlOf(device, registers)
  return {
    models: registers.wanted,
    can_charge: model_id !== 123,
    get control() {
      return registers.known ? control : null
    },
    onRead(snapshot) {
      const found = registers.take(snapshot)
      return typeof found === 'string' ? null : stateOf(found)
    },
    async open() {
      try {
        registers.take(await registers.read())
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
    },
  }
}

function modelOf({ models: found, wmaxlimpct_is_setpoint }: CommandedDevice): PowerModel | null {
  const has = (id: number) => found.some(({ model_id }) => model_id === id)
  if (has(704)) return 704
  if (has(124)) return 124
  return wmaxlimpct_is_setpoint && has(123) ? 123 : null
}

const stateOf = ({ state, is_remote }: Known): PowerState => ({ ...state, is_remote })

const local_control = 1

/** The registers of the setpoint, and what the newest reading showed in them. */
function createRegisters({ bus, unit_id, models: found }: CommandedDevice, model_id: PowerModel) {
  const wanted = powerModels[model_id].flatMap(
    (id) => found.find((one) => one.model_id === id) ?? [],
  )
  const registers = {
    model_id,
    wanted,
    /** Null where they tell of no setpoint that can be trusted. */
    known: null as Known | null,
    /** As known last. */
    latest: null as Known | null,
    read: createReader(withUrgentReads(bus), unit_id, { wanted, parts: powerParts }),
    take(snapshot: Snapshot): Known | string {
      const read = powerRegisters(snapshot, model_id)
      const access = snapshot.all(715)[0]?.values
      const is_remote = access?.LocRemCtl !== local_control
      const now = typeof read === 'string' ? read : { ...read, is_remote }
      registers.known = typeof now === 'string' ? null : now
      registers.latest = registers.known ?? registers.latest
      return now
    },
    async readNow(): Promise<Known> {
      const now = registers.take(await registers.read())
      if (typeof now === 'string') throw new Error(`unit ${unit_id}: ${now}`)
      return now
    },
  }
  return registers
}

type Registers = ReturnType<typeof createRegisters>

function controlOf(device: CommandedDevice, registers: Registers): PowerControl {
  const { bus, unit_id } = device
  const write = createWriter(device, registers.model_id)
  const access = device.models.find(({ model_id }) => model_id === 715)
  const beat = access && createBeat(bus, unit_id, { found: access, point: 'ControllerHb' })
  const known = () => {
    if (!registers.known) throw new Error(`unit ${unit_id}: its setpoint cannot be read`)
    return registers.known
  }
  return {
    get traits() {
      // Whoever has this control got it when its registers were known.
      return registers.latest!.traits
    },
    settable: (power_w) => known().settable(power_w),
    readPower: async () => stateOf(await registers.readNow()),
    async writePower(power_w, mayStill) {
      if (!Number.isInteger(power_w)) throw new RangeError(`no setpoint: ${power_w} W`)
      const now = await registers.readNow()
      if (now.settable(power_w) !== power_w) throw new RangeError(`cannot be set: ${power_w} W`)
      await write(now.setting(power_w), mayStill)
    },
    beat: async () => void (await beat?.()),
    async arm() {
      const before = await registers.readNow()
      const refused = await refusalOf(write(before.arming()))
      const now = await registers.readNow()
      return [
        ...(refused ? [`${refused}: is remote control allowed at the device?`] : []),
        ...(now.is_remote ? [] : ['715.LocRemCtl: the device is set to local control']),
        ...now.faults,
      ]
    },
  }
}

/** Writes in the order given, as function 16 or, where that is safe and a device has no more, 6. */
function createWriter({ bus, unit_id, models: found }: CommandedDevice, model_id: PowerModel) {
  const { address } = found.find((one) => one.model_id === model_id)!
  const { points }: Model = models[model_id]
  const at = (point: string) => address + points.find(([name]) => name === point)![1]
  let only_singly = false

  async function put({ point, words, singly }: PowerWrite, how: { mayStill?: () => boolean }) {
    const one_by_one = singly ?? (words.length === 1 ? [{ point, word: words[0]! }] : null)
    if (!only_singly || !one_by_one) {
      try {
        return await bus.writeRegisters(unit_id, at(point), words, how)
      } catch (error) {
        if (!one_by_one || !isUnknownFunction(error)) throw error
      }
    }
    for (const { point: name, word } of one_by_one) {
      await bus.writeRegisters(unit_id, at(name), [word], { ...how, single: true })
    }
    only_singly = true
  }

  return async (writes: readonly PowerWrite[], mayStill?: () => boolean) => {
    for (const one of writes) {
      try {
        await put(one, mayStill ? { mayStill } : {})
      } catch (error) {
        if (!(error instanceof BusError)) throw error
        const message = `${model_id}.${one.point}: ${error.message}`
        throw new BusError(error.kind, message, error.exception_code)
      }
    }
  }
}

/** Devices without function 16 say "illegal function", and some "illegal data address". */
function isUnknownFunction(error: unknown): boolean {
  return error instanceof BusError && [1, 2].includes(error.exception_code ?? 0)
}
