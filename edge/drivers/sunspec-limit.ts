/** Limits the power of a SunSpec inverter by model 704 or, where it has none, 123. */
import { isKnownModel, models } from '@heliograph/domain/sunspec/models'
import { type Model, sizeOf } from '@heliograph/domain/sunspec/point'
import { BusError, isRefusal, refusalOf } from '../bus/bus-error.ts'
import { withUrgentReads } from '../bus/urgent-reads.ts'
import type { Bus } from './driver.ts'
import type { LimitControl, LimitState } from './limit-control.ts'
import {
  armingWrites,
  type LimitModel,
  type LimitRegisters,
  type LimitWrite,
  limitModels,
  limitParts,
  limitRegisters,
  limitState,
  limitWrites,
  rampMs,
  stepsAt,
  wattsOf,
} from './sunspec-limit-registers.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { createReader, type Snapshot } from './sunspec-snapshot.ts'

export interface LimitedDevice {
  bus: Bus
  unit_id: number
  models: readonly FoundModel[]
  manufacturer: string | null
  /** What it is built for; null where it does not tell. */
  nameplate_w: number | null
  /** What it may be set to at most. */
  rated_w: number
}

export interface SunspecLimit {
  /** Its models, to be read at each poll, of each what `limitParts` says. */
  models: readonly FoundModel[]
  /** Null as long as its registers tell of no limit that can be trusted. */
  readonly control: LimitControl | null
  /** Takes what a reading showed of the models of the limit. */
  onRead(snapshot: Snapshot): LimitState | null
  /** Reads it, so that `control` is known. Rejects when the device does not answer. */
  open(): Promise<void>
}

/** SunSpec means these controls to be volatile: they do not wear out, and go with the power. */
const traits = {
  survives_power_loss: false,
  min_interval_ms: 1000,
  applies_within_ms: 0,
  min_limit_w: 0,
} as const

/** Gen24 and Datamanager keep to the old limit until WMaxLim_Ena is written again. */
const makers_that_apply_by_enabling = ['fronius']

const local_control = 1

/** Null where the device has no model of a limit. */
export function createLimit(device: LimitedDevice): SunspecLimit | null {
  const has = (id: number) => device.models.some(({ model_id }) => model_id === id)
  const model_id: LimitModel | null = has(704) ? 704 : has(123) ? 123 : null
  if (model_id === null) return null
  const registers = createRegisters(device, model_id)
  const control = controlOf(device, registers)
  return {
    models: registers.wanted,
    get control() {
      return registers.known ? control : null
    },
    onRead(snapshot) {
      const found = registers.take(snapshot)
      return typeof found === 'string' ? null : limitState(found)
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

/** The registers of the limit, and what the newest reading showed in them. */
function createRegisters(device: LimitedDevice, model_id: LimitModel) {
  const { bus, unit_id, nameplate_w } = device
  const wanted = limitModels(model_id).flatMap((id) => firstOf(device, id) ?? [])
  const registers = {
    model_id,
    wanted,
    /** Null where they tell of no limit that can be trusted. */
    known: null as LimitRegisters | null,
    /** As known last. */
    latest: null as LimitRegisters | null,
    read: createReader(withUrgentReads(bus), unit_id, { wanted, parts: limitParts }),
    take(snapshot: Snapshot): LimitRegisters | string {
      const found = limitRegisters(snapshot, model_id, nameplate_w)
      registers.known = typeof found === 'string' ? null : found
      registers.latest = registers.known ?? registers.latest
      return found
    },
    async readNow(): Promise<LimitRegisters> {
      const found = registers.take(await registers.read())
      if (typeof found === 'string') throw new Error(`unit ${unit_id}: ${found}`)
      return found
    },
  }
  return registers
}

type Registers = ReturnType<typeof createRegisters>
type Writer = ReturnType<typeof createWriter>

function controlOf(device: LimitedDevice, registers: Registers): LimitControl {
  const { model_id } = registers
  const write = createWriter(device)
  const maker = device.manufacturer?.toLowerCase() ?? ''
  const applies_by_enabling = makers_that_apply_by_enabling.some((one) => maker.includes(one))
  return {
    get traits() {
      return { ...traits, ramp_ms: rampMs(registers.latest?.ramp_s ?? null) }
    },
    settable(limit_w) {
      const { known } = registers
      if (!known) throw new Error(`unit ${device.unit_id}: its limit cannot be read`)
      return wattsOf(stepsAt(limit_w, known), known)
    },
    async readLimit() {
      return limitState(await registers.readNow())
    },
    async writeLimit(limit_w, mayStill) {
      if (!Number.isInteger(limit_w) || limit_w < 0) throw new RangeError(`no limit: ${limit_w} W`)
      const now = await registers.readNow()
      const steps = stepsAt(limit_w, now)
      await write(model_id, limitWrites(model_id, now, { steps, applies_by_enabling }), mayStill)
    },
    arm: (share_w) => arm(share_w, { device, registers, write }),
  }
}

async function arm(
  share_w: number,
  { device, registers, write }: { device: LimitedDevice; registers: Registers; write: Writer },
): Promise<readonly string[]> {
  const { model_id } = registers
  const complaints: string[] = []
  const trying = async (id: number, writes: readonly LimitWrite[]) => {
    const refused = await refusalOf(write(id, writes))
    if (refused) complaints.push(`${refused}: is remote control allowed at the device?`)
  }
  if (await isLocal(device)) complaints.push('715.LocRemCtl: the device is set to local control')
  const found = await registers.readNow()
  const lowering = ceilingWrite(found, device.rated_w)
  if (typeof lowering === 'string') complaints.push(lowering)
  else if (lowering) await trying(limitModels(model_id)[0]!, [lowering])
  // In percent of what the ceiling is now.
  const now = lowering ? await registers.readNow() : found
  await trying(model_id, armingWrites(model_id, now, stepsAt(share_w, now)))
  if (!isArmed(await registers.readNow())) {
    complaints.push(`model ${model_id}: a timer ends its limit and leads to none`)
  }
  return complaints
}

function firstOf({ models: found }: LimitedDevice, id: number): FoundModel | undefined {
  return found.find(({ model_id }) => model_id === id)
}

/** The timer is off, or leads to a limit again. */
const isArmed = ({ revert_s, revert }: LimitRegisters) => !revert_s || (revert?.is_enabled ?? false)

/**
 * The persistent ceiling is what the operator set, and only comes down to what the device may
 * deliver at all; not under a limit, which is in percent of it. A string says why not.
 */
function ceilingWrite(
  { base_w, base_step_w, is_enabled }: LimitRegisters,
  rated_w: number,
): LimitWrite | string | null {
  if (base_step_w === null || base_w <= rated_w) return null
  const value = Math.floor(rated_w / base_step_w)
  if (is_enabled || value < 1) return 'WMax stands above the rated power of the site file'
  return { point: 'WMax', value }
}

async function isLocal(device: LimitedDevice): Promise<boolean> {
  const found = firstOf(device, 715)
  if (!found) return false
  const { bus, unit_id } = device
  try {
    const [word] = await bus.readHoldingRegisters(unit_id, found.address + 2, 1)
    return word === local_control
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

/** Writes points one after the other, as function 16 or, where a device has only that, 6. */
function createWriter(device: LimitedDevice) {
  const { bus, unit_id } = device
  let only_singly = false

  async function put(address: number, words: readonly number[], how: { mayStill?: () => boolean }) {
    if (!only_singly) {
      try {
        return await bus.writeRegisters(unit_id, address, words, how)
      } catch (error) {
        if (!isUnknownFunction(error)) throw error
      }
    }
    // The low word first: between the two a timer is never shorter than both.
    for (const [nth, word] of [...words.entries()].reverse()) {
      await bus.writeRegisters(unit_id, address + nth, [word], { ...how, single: true })
    }
    only_singly = true
  }

  return async (model_id: number, writes: readonly LimitWrite[], mayStill?: () => boolean) => {
    const found = firstOf(device, model_id)
    if (!found || !isKnownModel(model_id)) throw new Error(`there is no model ${model_id}`)
    const { points }: Model = models[model_id]
    for (const { point, value } of writes) {
      const [, offset, type] = points.find(([name]) => name === point)!
      const words = sizeOf(type) === 2 ? [value >>> 16, value & 0xffff] : [value]
      try {
        await put(found.address + offset, words, mayStill ? { mayStill } : {})
      } catch (error) {
        if (!(error instanceof BusError)) throw error
        const message = `${model_id}.${point}: ${error.message}`
        throw new BusError(error.kind, message, error.exception_code)
      }
    }
  }
}

/** Devices without function 16 say "illegal function", and some "illegal data address". */
function isUnknownFunction(error: unknown): boolean {
  return error instanceof BusError && [1, 2].includes(error.exception_code ?? 0)
}
