/** The events of schedules. */
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'
import { readActuals, type Schedule, type StoredSchedule, scheduleOf } from './schedules.ts'

export const publishSchedule = (
  tx: Transaction,
  { site_id, now: at }: { site_id: string; now: Date },
  verb: 'proposed' | 'revised' | 'approved' | 'rejected' | 'started' | 'deviated' | 'ended',
  record: Schedule,
): void =>
  publish(tx, {
    site_id,
    at,
    type: `schedule.${verb}`,
    subject: `schedule/${record.schedule_id}`,
    link: `/bess/schedules/${record.schedule_id}`,
    record,
  })

/** Publishes a stored schedule, with its measured power. */
export async function publishStored(
  tx: Transaction,
  { site_id, now }: { site_id: string; now: Date },
  verb: 'started' | 'deviated' | 'ended',
  row: StoredSchedule,
): Promise<void> {
  const actuals = await readActuals(tx, site_id, row, now)
  publishSchedule(tx, { site_id, now }, verb, scheduleOf(row, now, actuals))
}
