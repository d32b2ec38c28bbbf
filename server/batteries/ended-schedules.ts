/** Publishes that the day of an approved schedule is over, once. */
import { utcDate } from '@heliograph/domain/utc-day'
import type { Database } from '../storage/database.ts'
import { changeRows } from '../storage/rows.ts'
import { publishStored } from './published.ts'
import { scheduleById } from './schedules.ts'

export async function endSchedules(db: Database, now: Date): Promise<void> {
  const ended = await db.query<{ site_id: string; schedule_id: number }>(
    `select site_id, schedule_id::int as schedule_id from battery_schedules
     where state = 'approved' and not end_published and target_date < $1
     order by site_id, schedule_id`,
    [utcDate(now)],
  )
  for (const one of ended) {
    await db.transaction(async (tx) => {
      const open = { ...one, end_published: false }
      const changed = await changeRows(tx, 'battery_schedules', open, { end_published: true })
      if (changed === 0) return
      await publishStored(tx, { ...one, now }, 'ended', (await scheduleById(tx, one))!)
    })
  }
}
