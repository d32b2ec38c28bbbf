/**
 * Weeks whose hourly sums and gaps are final, because their readings are thinned or deleted. Sums
 * computed from thinned readings would be wrong.
 */

import { hour_ms, week_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import type { Queries, Transaction } from '../storage/database.ts'
import type { Week } from '../storage/partitions.ts'
import { hasRow } from '../storage/rows.ts'

export type FinalWeeks = Awaited<ReturnType<typeof readFinalWeeks>>

/** `holds` as an SQL condition on a column `hour_at`. */
export const in_final_week = `exists (
  select from final_weeks
  where hour_at + interval '${hour_ms + reach_ms} milliseconds' > week_at
    and hour_at - interval '${week_ms + reach_ms} milliseconds' < week_at)`

/** Stays valid until the transaction ends: `makeFinal` waits for its readers. */
export async function readFinalWeeks(db: Queries) {
  const rows = await db.query<{ week_at: Date }>('select week_at from final_weeks order by 1')
  const starts_ms = rows.map(({ week_at }) => week_at.getTime())
  return {
    /** Whether the sums of the hour that starts at this instant depend on a final week. */
    holds: (hour_at_ms: number) =>
      starts_ms.some(
        (start_ms) =>
          hour_at_ms + hour_ms + reach_ms > start_ms && hour_at_ms - reach_ms < start_ms + week_ms,
      ),
    /** The end of the last final week that ends by this instant, Unix ms; null without one. */
    endBefore(at_ms: number): number | null {
      const start_ms = starts_ms.findLast((start_ms) => start_ms + week_ms <= at_ms)
      return start_ms === undefined ? null : start_ms + week_ms
    },
  }
}

export const isFinal = (db: Queries, { start }: Week) =>
  hasRow(db, 'select from final_weeks where week_at = $1', [start.toISOString()])

/**
 * Makes a week final, unless `findUnsummed` returns which of its readings are not summed yet;
 * returns that text. No sums or gaps change meanwhile. The caller limits the wait for the lock.
 */
export async function makeFinal(
  transaction: Transaction,
  { start }: Week,
  findUnsummed: (db: Queries) => Promise<string | null>,
): Promise<string | null> {
  await transaction.execute('lock table final_weeks in access exclusive mode')
  const unsummed = await findUnsummed(transaction)
  if (unsummed === null) {
    await transaction.execute(
      'insert into final_weeks (week_at) values ($1) on conflict do nothing',
      [start.toISOString()],
    )
  }
  return unsummed
}
