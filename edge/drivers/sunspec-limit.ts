/** Limits the power of a SunSpec inverter by model 704 or, if it has none, 123. */
import { type ModelId, models } from '@heliograph/domain/sunspec/models'
import { type Model, sizeOf } from '@heliograph/domain/sunspec/point'
import { isRefusal, refusalOf } from '../bus/bus-error.ts'
import type { LimitControl, LimitState } from './limit-control.ts'
import {
  type ControlledUnit,
  createRegisters,
  createWriter,
  firstOf,
  local_control,
  type PointWrite,
  type SunspecControl,
} from './sunspec-control.ts'
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
  toleranceOf,
  wattsOf,
} from './sunspec-limit-registers.ts'

export interface LimitedDevice extends ControlledUnit {
  manufacturer: string | null
  /** Rated power; null if the device does not report it. */
  nameplate_w: number | null
  rated_w: number
}

/** SunSpec controls are volatile: they do not wear out, and are lost with the supply. */
const traits = {
  survives_power_loss: false,
  min_interval_ms: 1000,
  applies_within_ms: 0,
  min_limit_w: 0,
} as const

/** Gen24 and Datamanager apply a new limit only when WMaxLim_Ena is written again. */
const makers_that_apply_by_enabling = ['fronius']

export type SunspecLimit = SunspecControl<LimitState, LimitControl>

/** Null if the device has no limit model. */
export function createLimit(device: LimitedDevice): SunspecLimit | null {
  const model_id = ([704, 123] as const).find((id) => firstOf(device, id))
  if (model_id === undefined) return null
  const registers = registersOf(device, model_id)
  return registers.control(controlOf(device, { model_id, registers }), limitState)
}

const registersOf = (device: LimitedDevice, model_id: LimitModel) =>
  createRegisters<LimitRegisters>(device, limitModels(model_id), {
    parts: limitParts,
    read: (snapshot) => limitRegisters(snapshot, model_id, device.nameplate_w),
  })

interface Limit {
  model_id: LimitModel
  registers: ReturnType<typeof registersOf>
}

type Write = ReturnType<typeof createWriter>

function controlOf(device: LimitedDevice, limit: Limit): LimitControl {
  const { model_id, registers } = limit
  const write = createWriter(device)
  const maker = device.manufacturer?.toLowerCase() ?? ''
  const applies_by_enabling = makers_that_apply_by_enabling.some((one) => maker.includes(one))
  return {
    get traits() {
      const { latest } = registers
      const tolerance_w = latest ? toleranceOf(latest) : 0
      return { ...traits, tolerance_w, ramp_ms: rampMs(latest?.ramp_s ?? null) }
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
      const writes = limitWrites(model_id, now, { steps, applies_by_enabling })
      await write(model_id, writes.map(asWrite(model_id)), mayStill)
    },
    arm: (share_w) => arm(share_w, device, { ...limit, write }),
  }
}

async function arm(
  share_w: number,
  device: LimitedDevice,
  { model_id, registers, write }: Limit & { write: Write },
): Promise<readonly string[]> {
  const complaints: string[] = []
  const trying = async (id: ModelId, writes: readonly LimitWrite[]) => {
    const refused = await refusalOf(write(id, writes.map(asWrite(id))))
    if (refused) complaints.push(`${refused}: is remote control allowed at the device?`)
  }
  if (await isLocal(device)) complaints.push('715.LocRemCtl: the device is set to local control')
  const found = await registers.readNow()
  const lowering = ceilingWrite(found, device.rated_w)
  if (typeof lowering === 'string') complaints.push(lowering)
  else if (lowering) await trying(limitModels(model_id)[0]!, [lowering])
  // In percent of the present ceiling.
  const now = lowering ? await registers.readNow() : found
  await trying(model_id, armingWrites(model_id, now, stepsAt(share_w, now)))
  if (!isArmed(await registers.readNow())) {
    complaints.push(`model ${model_id}: a timer ends its limit and leads to none`)
  }
  return complaints
}

/** The low word of a timer goes first: in between, the timer is never shorter than both values. */
function asWrite(model_id: ModelId) {
  const { points }: Model = models[model_id]
  return ({ point, value }: LimitWrite): PointWrite => {
    const [, , type] = points.find(([name]) => name === point)!
    if (sizeOf(type) === 1) return { point, words: [value] }
    return { point, words: [value >>> 16, value & 0xffff], singly: [1, 0] }
  }
}

/** The timer is off, or ends in a limit. */
const isArmed = ({ revert_s, revert }: LimitRegisters) => !revert_s || (revert?.is_enabled ?? false)

/**
 * Lowers the persistent ceiling, which the operator set, to the rated power at most; not while a
 * limit is enabled, as that is a percentage of it. A string is the reason why not.
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
