/** One site and one device of each kind, for the API reference. */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { exampleOf } from '../http/example.ts'
import { Inverter } from './inverter.ts'
import { Logger } from './logger.ts'
import { PvString, StringGlance, StringNow } from './pv-string.ts'
import { SensorNow } from './sensor-node.ts'
import { Site } from './site.ts'

export const siteExample = exampleOf(Site)

export const inverterExample = exampleOf(Inverter, {
  inverter_id: 7,
  logger_id: 2,
  location_id: 3,
  energy_today_kwh: 102.4,
})

export const loggerExample = exampleOf(Logger, {
  logger_id: 2,
  location_id: 3,
  ac_power_kw: 342.6,
  dc_power_kw: 349.2,
  reactive_power_kvar: -2.1,
  apparent_power_kva: 342.6,
  energy_total_kwh: 1421870.2,
})

export const stringExample = exampleOf(PvString, { inverter_id: 7 })
export const stringGlanceExample = exampleOf(StringGlance, { inverter_id: 7 })
export const stringNowExample = exampleOf(StringNow, { inverter_id: 7 })
export const nodeNowExample = exampleOf(SensorNow)

/** The measured columns of a live example, for the example of its history. */
export function measuredIn<Kind extends ReadingKind, Example extends object>(
  kind: Kind,
  example: Example,
) {
  const measured = Object.entries(example).filter(([name]) => name in readingKinds[kind].columns)
  return Object.fromEntries(measured) as Pick<
    Example,
    keyof Example & keyof (typeof readingKinds)[Kind]['columns']
  >
}
