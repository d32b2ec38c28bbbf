/** Issued production forecasts, for the command line. */
import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { loggerExists } from '../plant/device-ids.ts'
import { type ForecastRun, issuedRuns } from './run-store.ts'
import { targetOf } from './targets.ts'

export type { ForecastRun }

interface ForecastsQuery {
  site_id: string
  /** null: the site as a whole. */
  logger_id: number | null
  /** UTC day, `YYYY-MM-DD`. */
  date: string
  /** Excludes runs issued later; null: now. */
  as_of: Date | null
}

/**
 * Runs for a day issued by an instant, by issue time, without hindcasts.
 *
 * @throws AdminError `not_found` without such a site or plant
 */
export async function listForecasts(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, logger_id, date, as_of }: ForecastsQuery,
): Promise<ForecastRun[]> {
  await findSite({ db }, site_id)
  if (logger_id !== null && !(await loggerExists(db, site_id, logger_id))) {
    throw new AdminError('not_found', `logger_id: site ${site_id} has no logger ${logger_id}`)
  }
  const of = { site_id, target: targetOf(logger_id) }
  return issuedRuns(db, of, { target_date: date, until: as_of ?? clock.now() })
}

/** The newest of these runs. @throws AdminError `not_found` without any */
export async function findForecast(
  admin: Pick<Admin, 'db' | 'clock'>,
  query: ForecastsQuery,
): Promise<ForecastRun> {
  const last = (await listForecasts(admin, query)).at(-1)
  if (last) return last
  const { date, as_of } = query
  const by = as_of === null ? '' : ` by ${as_of.toISOString()}`
  throw new AdminError('not_found', `no forecast was issued for ${date}${by}`)
}
