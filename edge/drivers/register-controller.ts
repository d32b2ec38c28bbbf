/** The controller of a plant, which limits all of its inverters by one command. */
import { limitRegisters, type Profile } from '@heliograph/domain/profile'
import type { Logger } from '@heliograph/domain/site'
import { wattsCovering } from '@heliograph/domain/watts'
import type { Bus, ControllerDevice } from './driver.ts'
import { alarmRegisters, alarmsIn, identify } from './register-answer.ts'
import { createRegisterLimit } from './register-limit.ts'
import { createRegisterReader, placeOf } from './register-reader.ts'

export async function openController(
  profile: Profile,
  bus: Bus,
  { controller, inverters, logger_id }: Logger,
): Promise<ControllerDevice> {
  if (!controller) throw new Error(`logger ${logger_id} has no controller`)
  const { active_power, control_mode, alarms, limit: limits } = profile.controller!
  const place = placeOf(profile, bus, controller.unit_id)
  const sum = (powers_w: number[]) => powers_w.reduce((sum_w, power_w) => sum_w + power_w, 0)
  // The base of percentages: a base below the rating would let a percentage mean more than it says.
  const rated_w = sum(inverters.map(({ rated_ac_power_kw }) => wattsCovering(rated_ac_power_kw)))
  const max_w = sum(
    inverters.map(({ rated_ac_power_kw: rated_kw, max_ac_power_kw = rated_kw }) =>
      wattsCovering(max_ac_power_kw),
    ),
  )
  const contact = () =>
    createRegisterLimit(limits, {
      ...place,
      rated_w,
      max_w,
    })
  const read = createRegisterReader(place, [
    active_power,
    ...(control_mode ? [control_mode.register] : []),
    ...alarmRegisters(alarms),
    ...limitRegisters(limits),
  ])
  const identity = await identify(profile, place)
  let limit = contact()
  let doubted = false
  // Makes the control available from the first contact on.
  limit.onRead(await read())
  return {
    identity: { ...identity, model: identity.model ?? profile.identity.family },
    get control() {
      return limit.control
    },
    async read() {
      try {
        const values = await read()
        // The device may have restarted and lost what was set at arming.
        if (doubted) limit = contact()
        doubted = false
        const mode = control_mode ? values.number(control_mode.register) : null
        const other = control_mode?.others.find(({ code }) => code === mode)
        return {
          values: {
            limit: limit.onRead(values),
            active_power_kw: values.inColumn(active_power),
            foreign_control: other?.name ?? null,
            alarms: alarms ? { table: alarms.table_id, words: alarmsIn(alarms, values) } : null,
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
