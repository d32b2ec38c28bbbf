/** Events of exchanged devices: from their instant on, another counter is counted. */
import type { LinkEvent } from '@heliograph/domain/link'
import { storeSerialChanges } from '../plant/device-exchanges.ts'
import { confirmNamedDevices } from '../plant/exchange-questions.ts'
import type { Transaction } from '../storage/database.ts'
import { markBatteryDays } from './battery-day-marks.ts'
import { addTouchedHours, touchHours } from './touched-hours.ts'

/**
 * Stores changes of serial numbers, and marks the hours of inverters and the days of batteries
 * whose energy must be summed again, since their readings may have come before the event.
 */
export async function storeExchangedDevices(
  transaction: Transaction,
  frame: { site_id: string; received_at: number },
  events: readonly LinkEvent[],
): Promise<void> {
  const changes = await storeSerialChanges(transaction, frame, events)
  if (changes.length === 0) return
  const { site_id, received_at } = frame
  await confirmNamedDevices(transaction, site_id, new Date(received_at))
  const marks = changes.flatMap(({ kind, device_id, changed_at }) => {
    const hours = new Set<number>()
    addTouchedHours(hours, changed_at.getTime())
    return [...hours].map((hour) => ({ site_id, kind, device_id: Number(device_id), hour }))
  })
  const touched = marks.filter(({ kind }) => kind === 'inverter')
  await touchHours(transaction, touched)
  // Parts of a battery have no energy counters.
  const ofUnits = marks.filter(
    ({ kind, device_id }) => kind === 'bess' && Number.isInteger(device_id),
  )
  const unit_hours = ofUnits.map(({ device_id: bess_id, hour }) => ({ bess_id, hour }))
  await markBatteryDays(transaction, site_id, unit_hours, new Date(received_at))
}
