import type { Paged } from '../../http/cursor.ts'
import type { Queries } from '../../storage/database.ts'
import {
  type DayPage,
  readActuals,
  type Schedule,
  scheduleById,
  scheduleOf,
  schedulesOfDay,
} from '../schedules.ts'
import { presentOf, recordOf } from './commands.ts'

export interface ScheduleStore {
  /** See `schedulesOfDay`; null where the site has no such unit. */
  ofDay(of: DayPage, now: Date): Promise<(Paged<Schedule> & { count: number }) | null>
  /** null where the site has none of that id. */
  byId(of: { site_id: string; schedule_id: number }, now: Date): Promise<Schedule | null>
}

export function createScheduleStore(db: Queries): ScheduleStore {
  return {
    async ofDay(of, now) {
      const [unit] = await db.query('select from batteries where site_id = $1 and bess_id = $2', [
        of.site_id,
        of.bess_id,
      ])
      if (!unit) return null
      const { rows, next_cursor, count } = await schedulesOfDay(db, of)
      // The same of all that were ever approved.
      const approved = rows.find(({ approved_at }) => approved_at !== null)
      const actuals = approved && (await readActuals(db, of.site_id, approved, now))
      const shown: Schedule[] = []
      for (const row of rows) {
        const present = await presentOf(db, of.site_id, row, now)
        shown.push(scheduleOf(present, now, row.approved_at ? actuals : undefined))
      }
      return { rows: shown, next_cursor, count }
    },
    async byId(of, now) {
      const row = await scheduleById(db, of)
      return row && recordOf(db, of.site_id, row, now)
    },
  }
}
