/** The events of schedules. */
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'
import type { Schedule } from './schedules.ts'

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
