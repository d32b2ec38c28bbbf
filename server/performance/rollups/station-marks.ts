/** Marks of met stations, turned into marks of the inverters whose sums they enter. */
import type { Transaction } from '../../storage/database.ts'
import { hour_ms, type Mark, touchHours } from '../../telemetry/touched-hours.ts'
import { stationsAround } from './plant-light.ts'
import { readLayout } from './raw.ts'

/** What a met station measured enters the sums of all inverters that look to it: it marks them. */
export async function touchAround(
  transaction: Transaction,
  site_id: string,
  heard: readonly Mark[],
  now: Date,
): Promise<void> {
  const { inverters, stations } = await readLayout(transaction, site_id)
  const lookingTo = new Map<number, number[]>()
  for (const inverter of inverters) {
    for (const { station_id } of stationsAround(inverter, stations)) {
      const ids = lookingTo.get(station_id) ?? []
      lookingTo.set(station_id, ids)
      ids.push(inverter.inverter_id)
    }
  }
  for (const [hour_at_ms, marks] of Map.groupBy(heard, ({ hour_at }) => hour_at.getTime())) {
    const ids = new Set(marks.flatMap(({ device_id }) => lookingTo.get(device_id) ?? []))
    const hour = hour_at_ms / hour_ms
    const touched = [...ids].map((device_id) => ({ kind: 'inverter', device_id, hour }))
    await touchHours(transaction, site_id, touched, now)
  }
}
