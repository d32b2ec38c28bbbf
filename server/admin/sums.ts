import { touchReadingsSince } from '../storage/touched-hours.ts'
import type { Admin } from './admin.ts'
import { findSite } from './sites.ts'

const day_ms = 86_400_000

/**
 * Has the hourly sums of the last `days` days of a site made anew, as is due when the inventory was
 * wrong (panels, orientation, ratings): a running server begins within seconds. Returns how many
 * hours of devices that are; `not_found` when there is no such site.
 */
export async function sumAgain(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  site_id: string,
  days: number,
): Promise<number> {
  await findSite({ db }, site_id)
  const since = new Date(clock.now().getTime() - days * day_ms)
  return db.transaction((transaction) => touchReadingsSince(transaction, site_id, since))
}
