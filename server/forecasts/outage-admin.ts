/** Planned outages of plants, as entered by the operator. */
import { day_ms } from '@heliograph/domain/durations'
import { type Admin, AdminError, checkName } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import type { Queries } from '../storage/database.ts'
import { insertRow } from '../storage/rows.ts'

export interface Outage {
  outage_id: number
  site_id: string
  /** null: every plant of the site. */
  logger_id: number | null
  start_at: Date
  /** Exclusive. */
  end_at: Date
  /** Share of the plant out of service: above 0, at most 100. */
  unavailable_pct: number
  reason: string | null
  created_at: Date
}

export type NewOutage = Omit<Outage, 'outage_id' | 'created_at'>

/** A longer outage is a typing error in its dates, or a plant to be retired. */
const days_max = 400

const columns =
  'outage_id, site_id, logger_id, start_at, end_at, unavailable_pct, reason, created_at'

/**
 * Adds an outage, which reduces forecasts from now on. Trainings exclude its time, so past outages
 * may be added too.
 *
 * @throws AdminError `invalid` with every fault, `conflict` for another outage of the same plant
 *   and time, `not_found` without such a site or plant in service
 */
export async function addOutage({ db, clock }: Pick<Admin, 'db' | 'clock'>, order: NewOutage) {
  checkOutage(order)
  const { site_id, logger_id, start_at, end_at } = order
  await findSite({ db }, site_id)
  if (logger_id !== null) await requireActiveLogger(db, site_id, logger_id)
  const [same] = await db.query<Outage>(
    `select ${columns} from planned_outages
     where site_id = $1 and logger_id is not distinct from $2 and start_at = $3 and end_at = $4`,
    [site_id, logger_id, start_at, end_at],
  )
  if (same) {
    const which = `outage ${same.outage_id} (${same.unavailable_pct} %)`
    throw new AdminError('conflict', `${which} has the same plant and time: remove it first`)
  }
  const outage = { ...order, created_at: clock.now() }
  const added = await insertRow<Outage>(db, 'planned_outages', outage, `returning ${columns}`)
  return added!
}

function checkOutage({ start_at, end_at, unavailable_pct, reason }: NewOutage): void {
  const faults: string[] = []
  const length_ms = end_at.getTime() - start_at.getTime()
  if (length_ms <= 0) faults.push('end_at must be after start_at')
  if (length_ms > days_max * day_ms) faults.push(`end_at is over ${days_max} days after start_at`)
  if (!(unavailable_pct > 0 && unavailable_pct <= 100)) {
    faults.push(`unavailable_pct must be above 0 and at most 100, not ${unavailable_pct}`)
  }
  if (faults.length > 0) throw new AdminError('invalid', faults.join('\n'))
  if (reason !== null) checkName('reason', reason)
}

async function requireActiveLogger(db: Queries, site_id: string, logger_id: number) {
  const loggers = await db.query<{ logger_id: number }>(
    'select logger_id from loggers where site_id = $1 and retired_at is null order by logger_id',
    [site_id],
  )
  const known = loggers.map((logger) => logger.logger_id)
  if (known.includes(logger_id)) return
  throw new AdminError(
    'not_found',
    `logger_id: site ${site_id} has no logger ${logger_id} in service ` +
      `(it has: ${known.join(', ') || 'none'})`,
  )
}

/** Current and future outages of a site by start; `with_past` includes past ones. */
export async function listOutages(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, with_past }: { site_id: string; with_past: boolean },
): Promise<Outage[]> {
  await findSite({ db }, site_id)
  return db.query<Outage>(
    `select ${columns} from planned_outages
     where site_id = $1 and ($2 or end_at > $3) order by start_at, outage_id`,
    [site_id, with_past, clock.now()],
  )
}

/** Deletes an outage, as if it had never been planned, and returns it. */
export async function removeOutage(
  { db }: Pick<Admin, 'db'>,
  { site_id, outage_id }: { site_id: string; outage_id: number },
): Promise<Outage> {
  await findSite({ db }, site_id)
  const [removed] = await db.query<Outage>(
    `delete from planned_outages where site_id = $1 and outage_id = $2 returning ${columns}`,
    [site_id, outage_id],
  )
  if (removed) return removed
  throw new AdminError('not_found', `site ${site_id} has no outage ${outage_id}`)
}
