/** What is limited by commands of its own, by what site.yaml says of it. */
import type { Logger } from '@heliograph/domain/site'
import { controllerKey } from './controlled-device.ts'
import type { Place } from './device-record.ts'

/** The inverters of a plant, or what limits all of them by one command. By their keys. */
export function limitedIn({ logger_id, controller, inverters }: Logger): [number, Place][] {
  const each = inverters.map(({ inverter_id, rated_ac_power_kw, max_ac_power_kw = 0 }) => ({
    key: inverter_id,
    rated_kw: rated_ac_power_kw,
    max_kw: Math.max(max_ac_power_kw, rated_ac_power_kw),
  }))
  const placeOf = (rated_kw: number, max_kw: number) => {
    return { logger_id, rated_w: watts(rated_kw), max_w: Math.ceil(max_kw * 1000) }
  }
  if (!controller) return each.map(({ key, rated_kw, max_kw }) => [key, placeOf(rated_kw, max_kw)])
  const rated_kw = each.reduce((sum, one) => sum + one.rated_kw, 0)
  const max_kw = each.reduce((sum, one) => sum + one.max_kw, 0)
  const place = { ...placeOf(rated_kw, max_kw), inverters: each.map(({ key }) => key) }
  return [[controllerKey(logger_id), place]]
}

export const watts = (power_kw: number) => Math.floor(power_kw * 1000)
