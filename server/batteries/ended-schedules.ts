/** Publishes that the day of an approved schedule is over, once. */
import { utcDate } from '@heliograph/domain/utc-day'
import type { Database } from '../storage/database.ts'
import { publishSchedule } from './published.ts'
import { readActuals, scheduleById, scheduleOf } from './schedules.ts'

export async function endSchedules(db: Database, now: Date): Promise<void> {
  const ended = await db.query<{ site_id: string; schedule_id: number }>(
    `select site_id, schedule_id::int as schedule_id from battery_schedules
     where state = 'approved' and not end_published and target_date < $1
     order by site_id, schedule_id`,
    [utcDate(now)],
  )
  for (const one of ended) {
    await db.transaction(async (tx) => {
      const [first] = await tx.query(
        `update battery_schedules set end_published = true
         where site_id = $1 and schedule_id = $2 and not end_published returning schedule_id`,
        [one.site_id, one.schedule_id],
      )
      if (!first) return
      const row = (await scheduleById(tx, one))!
      const actuals = await readActuals(tx, one.site_id, row, now)
      publishSchedule(tx, { ...one, now }, 'ended', scheduleOf(row, now, actuals))
    })
  }
}
