import { site_id_pattern } from '../http/authorize.ts'
import type { Queries } from '../storage/database.ts'
import { recordEvent } from '../storage/events.ts'
import { createSequenceOf } from '../storage/site-ids.ts'
import { type Admin, AdminError, checkName } from './admin.ts'
import { findClient } from './clients.ts'

export interface Site {
  site_id: string
  client: string
  name: string
  /** null when the site accepts writes. */
  safe_mode_since_at: Date | null
  /** When the edge last sent the inventory; null for never. */
  inventory_at: Date | null
  created_at: Date
}

const selectSites = `select site_id, c.name as client, s.name, safe_mode_since_at, inventory_at,
  s.created_at from sites s join clients c using (client_id)`

/**
 * Creates a site, by default in commissioning safe mode. Its devices come with the inventory of its
 * edge.
 */
export async function createSite(
  { db, clock }: Admin,
  order: { client: string; site_id: string; name: string; safe_mode?: boolean },
): Promise<Site> {
  const { site_id } = order
  if (!site_id_pattern.test(site_id)) {
    throw new AdminError(
      'invalid',
      'a site_id is 1 to 64 lower-case letters, digits, - and _, and begins with a letter or digit',
    )
  }
  const name = checkName("the site's name", order.name)
  const { client_id } = await findClient(db, order.client)
  const { safe_mode = true } = order
  const now = clock.now()
  await db.transaction(async (tx) => {
    const made = await tx.execute(
      `insert into sites (site_id, client_id, name, safe_mode_since_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $5) on conflict (site_id) do nothing`,
      [site_id, client_id, name, safe_mode ? now : null, now],
    )
    if (made === 0) throw new AdminError('conflict', `there is a site ${site_id} already`)
    await createSequenceOf(tx, 'site', site_id)
    if (safe_mode) await recordSafeMode(tx, { site_id, at: now, is_on: true })
  })
  return findSite({ db }, site_id)
}

/** The sites of one client or of all, by site_id. */
export async function listSites(
  { db }: Admin,
  { client }: { client?: string | undefined } = {},
): Promise<Site[]> {
  if (client === undefined) return db.query<Site>(`${selectSites} order by site_id`)
  const { client_id } = await findClient(db, client)
  return db.query<Site>(`${selectSites} where client_id = $1 order by site_id`, [client_id])
}

/** The site; `not_found` when there is none. */
export async function findSite({ db }: Pick<Admin, 'db'>, site_id: string): Promise<Site> {
  const [site] = await db.query<Site>(`${selectSites} where site_id = $1`, [site_id])
  if (!site) throw new AdminError('not_found', `there is no site ${JSON.stringify(site_id)}`)
  return site
}

/** Starts safe mode, which rejects all writes. A site in safe mode keeps its start time. */
export function setSafeMode(admin: Admin, site_id: string): Promise<Site> {
  return changeSafeMode(admin, site_id, admin.clock.now())
}

/** Ends safe mode: the site accepts writes. */
export function clearSafeMode(admin: Admin, site_id: string): Promise<Site> {
  return changeSafeMode(admin, site_id, null)
}

async function changeSafeMode(admin: Admin, site_id: string, since: Date | null): Promise<Site> {
  const at = admin.clock.now()
  await admin.db.transaction(async (transaction) => {
    const changed = await transaction.execute(
      `update sites set safe_mode_since_at = $2::timestamptz, updated_at = $3
        where site_id = $1 and (safe_mode_since_at is null) <> ($2::timestamptz is null)`,
      [site_id, since, at],
    )
    if (changed > 0) await recordSafeMode(transaction, { site_id, at, is_on: since !== null })
    await transaction.execute(`select pg_notify('site_changed', $1)`, [site_id])
  })
  return findSite(admin, site_id)
}

async function recordSafeMode(
  tx: Queries,
  { site_id, at, is_on }: { site_id: string; at: Date; is_on: boolean },
): Promise<void> {
  await recordEvent(tx, {
    site_id,
    at,
    source_kind: 'site',
    source_id: site_id,
    code: 'safe_mode',
    edge: is_on ? 'rising' : 'falling',
    severity: 'info',
    message: is_on ? 'the site rejects writes' : 'the site accepts writes again',
  })
}
