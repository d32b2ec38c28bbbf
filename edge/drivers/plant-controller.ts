/** Plant controllers, which limit all inverters of a plant by one command. */
import type { Logger } from '@heliograph/domain/site'
import { wattsCovering } from '@heliograph/domain/watts'
import { type Bus, type ControllerDevice, type Driver, rejecting } from './driver.ts'
import { type ControllerProfile, limitRegisters } from './profile.ts'
import { createRegisterLimit } from './register-limit.ts'
import { createRegisterReader } from './register-reader.ts'

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
  const sum = (powers_w: number[]) => powers_w.reduce((sum_w, power_w) => sum_w + power_w, 0)
  // The base of percentages: a base below the rating would let a percentage mean more than it says.
  const rated_w = sum(inverters.map(({ rated_ac_power_kw }) => wattsCovering(rated_ac_power_kw)))
  const max_w = sum(
    inverters.map(({ rated_ac_power_kw: rated_kw, max_ac_power_kw = rated_kw }) =>
      wattsCovering(max_ac_power_kw),
    ),
  )
  const contact = () =>
    createRegisterLimit(profile.limit, {
      ...place,
      rated_w,
      max_w,
    })
  const read = createRegisterReader(place, [
    active_power,
    control_mode.register,
    ...limitRegisters(profile.limit),
  ])
  let limit = contact()
  let doubted = false
  // Makes the control available from the first contact on.
  limit.onRead(await read())
  return {
    identity: { manufacturer, model: family, serial_number: null, firmware_version: null },
    get control() {
      return limit.control
    },
    async read() {
      try {
        const values = await read()
        // The device may have restarted and lost what was set at arming.
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
