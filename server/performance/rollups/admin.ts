import { day_ms } from '@heliograph/domain/durations'
import type { Admin } from '../../access/admin.ts'
import { findSite } from '../../access/sites.ts'
import { readFinalWeeks } from '../../telemetry/final-weeks.ts'
import { touchReadingsSince } from '../../telemetry/touched-hours.ts'

/**
 * Marks the last `days` days of a site for recomputation of their sums, for example after a
 * correction of the inventory. A running server starts within seconds. Sums of weeks with thinned
 * readings are final and stay. Returns the number of marked device hours, and the time before
 * which sums are final; null when the days do not reach into final weeks. Rejects (`not_found`) an
 * unknown site.
 */
export async function sumAgain(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  site_id: string,
  days: number,
) {
  await findSite({ db }, site_id)
  const now_ms = clock.now().getTime()
  const since_ms = now_ms - days * day_ms
  return db.transaction(async (transaction) => {
    const final_ms = (await readFinalWeeks(transaction)).endBefore(now_ms)
    const hours = await touchReadingsSince(transaction, site_id, new Date(since_ms))
    const is_within = final_ms !== null && final_ms > since_ms
    return { hours, final_before_at: is_within ? new Date(final_ms) : null }
  })
}
