/** What is limited by commands of its own, by what site.yaml says of it. */
import type { Logger } from '@heliograph/domain/site'
import { controllerKey } from './controlled-device.ts'
import { type DeclaredTraits, declaredOf } from './declared-traits.ts'
import type { Place } from './device-record.ts'

interface LimitedDevice {
  key: number
  place: Place
  declared: DeclaredTraits
}

/** The inverters of a plant, or what limits all of them by one command. By their keys. */
export function limitedIn({ logger_id, controller, inverters }: Logger): LimitedDevice[] {
  const each = inverters.map(({ inverter_id, rated_ac_power_kw, max_ac_power_kw = 0, limit }) => ({
    key: inverter_id,
    rated_kw: rated_ac_power_kw,
    max_kw: Math.max(max_ac_power_kw, rated_ac_power_kw),
    declared: declaredOf(limit, watts(rated_ac_power_kw)),
  }))
  const placeOf = (rated_kw: number, max_kw: number) => {
    return { logger_id, rated_w: watts(rated_kw), max_w: Math.ceil(max_kw * 1000) }
  }
  if (!controller) {
    return each.map(({ key, rated_kw, max_kw, declared }) => {
      return { key, place: placeOf(rated_kw, max_kw), declared }
    })
  }
  const rated_kw = each.reduce((sum, one) => sum + one.rated_kw, 0)
  const max_kw = each.reduce((sum, one) => sum + one.max_kw, 0)
  const place = { ...placeOf(rated_kw, max_kw), inverters: each.map(({ key }) => key) }
  return [
    { key: controllerKey(logger_id), place, declared: declaredOf(controller.limit, place.rated_w) },
  ]
}

export const watts = (power_kw: number) => Math.floor(power_kw * 1000)
