/**
 * Sets the power of a SunSpec power conversion system by model 704 or, if it has none, 124. Model
 * 123 is used only if `wmaxlimpct_is_setpoint` of site.yaml says that the device delivers its
 * limit.
 */
import { refusalOf } from '../bus/bus-error.ts'
import type { PowerControl, PowerState } from './power-control.ts'
import { createBeat } from './sunspec-battery.ts'
import {
  type ControlledUnit,
  createRegisters,
  createWriter,
  firstOf,
  local_control,
  type SunspecControl,
} from './sunspec-control.ts'
import {
  type PowerModel,
  type PowerRegisters,
  powerModels,
  powerParts,
  powerRegisters,
} from './sunspec-pcs-registers.ts'

interface CommandedDevice extends ControlledUnit {
  wmaxlimpct_is_setpoint: boolean
}

export type SunspecPower = SunspecControl<PowerState, PowerControl> & { can_charge: boolean }

type Known = PowerRegisters & Pick<PowerState, 'is_remote'>

/** Null if the device has no setpoint model. */
export function createPower(device: CommandedDevice): SunspecPower | null {
  const model_id = modelOf(device)
  if (model_id === null) return null
  const registers = registersOf(device, model_id)
  const control = controlOf(device, { model_id, registers })
  return Object.assign(registers.control(control, stateOf), { can_charge: model_id !== 123 })
}

function modelOf(device: CommandedDevice): PowerModel | null {
  if (firstOf(device, 704)) return 704
  if (firstOf(device, 124)) return 124
  return device.wmaxlimpct_is_setpoint && firstOf(device, 123) ? 123 : null
}

const stateOf = ({ state, is_remote }: Known): PowerState => ({ ...state, is_remote })

const registersOf = (device: CommandedDevice, model_id: PowerModel) =>
  createRegisters<Known>(device, powerModels[model_id], {
    parts: powerParts,
    read(snapshot) {
      const found = powerRegisters(snapshot, model_id)
      if (typeof found === 'string') return found
      const is_remote = snapshot.all(715)[0]?.values.LocRemCtl !== local_control
      return { ...found, is_remote }
    },
  })

interface Power {
  model_id: PowerModel
  registers: ReturnType<typeof registersOf>
}

function controlOf(device: CommandedDevice, { model_id, registers }: Power): PowerControl {
  const { bus, unit_id } = device
  const write = createWriter(device)
  const access = firstOf(device, 715)
  const beat = access && createBeat(bus, unit_id, { found: access, point: 'ControllerHb' })
  const known = () => {
    if (!registers.known) throw new Error(`unit ${unit_id}: its setpoint cannot be read`)
    return registers.known
  }
  return {
    get traits() {
      // The control is only given out once its registers are known.
      return registers.latest!.traits
    },
    settable: (power_w) => known().settable(power_w),
    readPower: async () => stateOf(await registers.readNow()),
    async writePower(power_w, mayStill) {
      if (!Number.isInteger(power_w)) throw new RangeError(`no setpoint: ${power_w} W`)
      const now = await registers.readNow()
      if (now.settable(power_w) !== power_w) throw new RangeError(`cannot be set: ${power_w} W`)
      await write(model_id, now.setting(power_w), mayStill)
    },
    beat: async () => void (await beat?.()),
    async arm() {
      const before = await registers.readNow()
      const refused = await refusalOf(write(model_id, before.arming()))
      const now = await registers.readNow()
      return [
        ...(refused ? [`${refused}: is remote control allowed at the device?`] : []),
        ...(now.is_remote ? [] : ['715.LocRemCtl: the device is set to local control']),
        ...now.faults,
      ]
    },
  }
}
