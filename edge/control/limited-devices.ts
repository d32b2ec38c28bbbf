/** What is limited by commands of its own, by what site.yaml says of it. */
import type { Logger } from '@heliograph/domain/site'
import { wattsCovering, wattsWithin } from '@heliograph/domain/watts'
import { type DeclaredTraits, declaredOf } from './declared-traits.ts'
import { controllerKey } from './device-name.ts'
import type { Place } from './device-record.ts'

export interface LimitedDevice {
  key: number
  place: Place
  declared: DeclaredTraits
}

/** The inverters of a plant, or what limits all of them by one command. By their keys. */
export function limitedIn({ logger_id, controller, inverters }: Logger): LimitedDevice[] {
  const each = inverters.map(({ inverter_id, rated_ac_power_kw, max_ac_power_kw = 0, limit }) => {
    const rated_w = wattsWithin(rated_ac_power_kw)
    const max_w = wattsCovering(Math.max(max_ac_power_kw, rated_ac_power_kw))
    const place = { logger_id, rated_w, max_w }
    return { key: inverter_id, place, declared: declaredOf(limit, rated_w) }
  })
  if (!controller) return each
  const place = {
    logger_id,
    rated_w: each.reduce((sum_w, one) => sum_w + one.place.rated_w, 0),
    max_w: each.reduce((sum_w, one) => sum_w + one.place.max_w, 0),
    inverters: each.map(({ key }) => key),
  }
  return [
    { key: controllerKey(logger_id), place, declared: declaredOf(controller.limit, place.rated_w) },
  ]
}
