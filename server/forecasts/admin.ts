/** The forecasts of production as they were issued: every one stays as it was, and can be asked. */

import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { type ForecastRun, issuedRuns } from './run-store.ts'
import { targetOf } from './targets.ts'

export type { ForecastRun }

interface ForecastsAsked {
  site_id: string
  /** null: the site as a whole. */
  logger_id: number | null
  /** A day of UTC, `YYYY-MM-DD`. */
  date: string
  /** What was issued later was not known then; null: all that was issued until now. */
  as_of: Date | null
}

/**
 * The runs of a day that were known at an instant, by their issue. Hindcasts, which were made
 * afterwards, are not among them. `not_found` when there is no such site or plant.
 */
export async function listForecasts(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, logger_id, date, as_of }: ForecastsAsked,
): Promise<ForecastRun[]> {
  await findSite({ db }, site_id)
  if (logger_id !== null) {
    const [known] = await db.query(
      'select logger_id from loggers where site_id = $1 and logger_id = $2',
      [site_id, logger_id],
    )
    if (!known) {
      throw new AdminError('not_found', `logger_id: site ${site_id} has no logger ${logger_id}`)
    }
  }
  const of = { site_id, target: targetOf(logger_id) }
  return issuedRuns(db, of, { target_date: date, until: as_of ?? clock.now() })
}

/** The last of them: what was said of the day at that instant. `not_found` when none was issued. */
export async function findForecast(
  admin: Pick<Admin, 'db' | 'clock'>,
  asked: ForecastsAsked,
): Promise<ForecastRun> {
  const last = (await listForecasts(admin, asked)).at(-1)
  if (last) return last
  const { date, as_of } = asked
  const by = as_of === null ? '' : ` by ${as_of.toISOString()}`
  throw new AdminError('not_found', `no forecast was issued for ${date}${by}`)
}
