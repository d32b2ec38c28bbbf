/**
 * Weeks whose hourly sums and gaps are final, since their readings are about to be thinned or are
 * no more: made anew from what is left, an hour would count a reading a minute as all that came.
 */
import { reach_ms } from '@heliograph/domain/reach'
import { day_ms } from '@heliograph/domain/utc-day'
import type { Queries, Transaction } from '../storage/database.ts'
import type { Week } from '../storage/partitions.ts'

const hour_ms = 3_600_000
const week_ms = 7 * day_ms

export interface FinalWeeks {
  /** Whether a reading of a final week enters the sums of the hour that begins at this instant. */
  holds(hour_at_ms: number): boolean
  /** The end of the newest final week that ends by this instant, Unix ms; null where none does. */
  endBefore(at_ms: number): number | null
}

/** The same as a condition on a column `hour_at`. */
export const in_final_week = `exists (
  select from final_weeks
  where hour_at + interval '${hour_ms + reach_ms} milliseconds' > week_at
    and hour_at - interval '${week_ms + reach_ms} milliseconds' < week_at)`

/**
 * What is read here holds until the transaction ends: a week becomes final only when everyone who
 * read that it is not has finished.
 */
export async function readFinalWeeks(db: Queries): Promise<FinalWeeks> {
  const rows = await db.query<{ week_at: Date }>('select week_at from final_weeks order by 1')
  const starts_ms = rows.map(({ week_at }) => week_at.getTime())
  return {
    holds: (hour_at_ms) =>
      starts_ms.some(
        (start_ms) =>
          hour_at_ms + hour_ms + reach_ms > start_ms && hour_at_ms - reach_ms < start_ms + week_ms,
      ),
    endBefore(at_ms) {
      const start_ms = starts_ms.findLast((start_ms) => start_ms + week_ms <= at_ms)
      return start_ms === undefined ? null : start_ms + week_ms
    },
  }
}

export async function isFinal(db: Queries, { start }: Week): Promise<boolean> {
  const rows = await db.query('select from final_weeks where week_at = $1', [start.toISOString()])
  return rows.length > 0
}

/**
 * Makes a week final, unless `whatHolds`, asked while nobody makes sums or gaps, says in words what
 * is yet to be made of its readings; returns these. The caller bounds how long it waits for a lock.
 */
export async function makeFinal(
  transaction: Transaction,
  { start }: Week,
  whatHolds: (db: Queries) => Promise<string | null>,
): Promise<string | null> {
  await transaction.execute('lock table final_weeks in access exclusive mode')
  const held_by = await whatHolds(transaction)
  if (held_by === null) {
    await transaction.execute(
      'insert into final_weeks (week_at) values ($1) on conflict do nothing',
      [start.toISOString()],
    )
  }
  return held_by
}
