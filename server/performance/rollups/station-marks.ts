import { hour_ms } from '@heliograph/domain/durations'
import type { Transaction } from '../../storage/database.ts'
import { type Mark, touchHours } from '../../telemetry/touched-hours.ts'
import { stationsAround } from './plant-light.ts'
import { readLayout } from './raw.ts'

/** Turns marks of met stations into marks of the inverters that use the stations. */
export async function touchAround(
  transaction: Transaction,
  site_id: string,
  station_marks: readonly Mark[],
  now: Date,
): Promise<void> {
  const { inverters, stations } = await readLayout(transaction, site_id)
  const invertersOf = new Map<number, number[]>()
  for (const inverter of inverters) {
    for (const { station_id } of stationsAround(inverter, stations)) {
      const ids = invertersOf.get(station_id) ?? []
      invertersOf.set(station_id, ids)
      ids.push(inverter.inverter_id)
    }
  }
  for (const [hour_at_ms, marks] of Map.groupBy(station_marks, ({ hour_at }) =>
    hour_at.getTime(),
  )) {
    const ids = new Set(marks.flatMap(({ device_id }) => invertersOf.get(device_id) ?? []))
    const hour = hour_at_ms / hour_ms
    const touched = [...ids].map((device_id) => ({ kind: 'inverter', device_id, hour }))
    await touchHours(transaction, site_id, touched, now)
  }
}
