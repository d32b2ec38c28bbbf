import { day_ms } from '@heliograph/domain/utc-day'
import type { Admin } from '../../access/admin.ts'
import { findSite } from '../../access/sites.ts'
import { readFinalWeeks } from '../../telemetry/final-weeks.ts'
import { touchReadingsSince } from '../../telemetry/touched-hours.ts'

interface SumAgain {
  /** Hours of devices that were marked. */
  hours: number
  /** Sums of weeks before this are final, where the days reach into such; else null. */
  final_before_at: Date | null
}

/**
 * Has the hourly sums of the last `days` days of a site made anew, as is due when the inventory was
 * wrong (panels, orientation, ratings): a running server begins within seconds. Those of weeks
 * whose readings were thinned stay as they are. `not_found` when there is no such site.
 */
export async function sumAgain(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  site_id: string,
  days: number,
): Promise<SumAgain> {
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
