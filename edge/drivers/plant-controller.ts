/** The controller of a plant, which limits all of its inverters by one command. */
import type { Logger } from '@heliograph/domain/site'
import { type Bus, type ControllerDevice, type Driver, rejecting } from './driver.ts'
import { type ControllerProfile, limitRegisters } from './profile.ts'
import { createRegisterLimit } from './register-limit.ts'
import { createRegisterReader } from './register-reader.ts'

/** Rejects for devices that are no controllers. */
export function controllerDriver(profile: ControllerProfile): Driver {
  return {
    ...rejecting(`the driver ${profile.driver} has controllers of plants only`),
    openController: (bus, logger) => openController(profile, bus, logger),
  }
}

async function openController(
  profile: ControllerProfile,
  bus: Bus,
  { controller, inverters, logger_id }: Logger,
): Promise<ControllerDevice> {
  if (!controller) throw new Error(`logger ${logger_id} has no controller`)
  const { word_order, active_power, control_mode, manufacturer, family } = profile
  const place = { bus, unit_id: controller.unit_id, word_order }
  const rated_kw = inverters.reduce((sum, { rated_ac_power_kw }) => sum + rated_ac_power_kw, 0)
  const max_kw = inverters.reduce(
    (sum, { rated_ac_power_kw, max_ac_power_kw }) => sum + (max_ac_power_kw ?? rated_ac_power_kw),
    0,
  )
  const contact = () =>
    createRegisterLimit(profile.limit, {
      ...place,
      rated_w: Math.round(rated_kw * 1000),
      max_w: Math.round(max_kw * 1000),
    })
  const read = createRegisterReader(place, [
    active_power,
    control_mode.register,
    ...limitRegisters(profile.limit),
  ])
  let limit = contact()
  let doubted = false
  // So that its control is there from the first contact on.
  limit.onRead(await read())
  return {
    identity: { manufacturer, model: family, serial_number: null, firmware_version: null },
    get control() {
      return limit.control
    },
    async read() {
      try {
        const values = await read()
        // It may have started anew, and what it was armed with be gone.
        if (doubted) limit = contact()
        doubted = false
        const mode = values.number(control_mode.register)
        return {
          values: {
            limit: limit.onRead(values),
            active_power_kw: values.number(active_power),
            foreign_control: mode === null ? null : (control_mode.others[mode] ?? null),
          },
          complaints: [],
          missing: values.missing,
        }
      } catch (error) {
        doubted = true
        throw error
      }
    },
  }
}
