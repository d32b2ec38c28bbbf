import { silence_ms_max } from '@heliograph/domain/link'
import { closeWithoutEdge } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'
import { recordEvent } from '../storage/events.ts'
import { insertRow } from '../storage/rows.ts'
import { type Admin, AdminError, checkHexId, checkName, newHexId, newSecret } from './admin.ts'
import { findSite } from './sites.ts'

/** Notified when an edge is revoked or its agent connects; the payload is `site_id edge_id`. */
export const edges_channel = 'edge_changed'

export interface Edge {
  site_id: string
  /** 12 hex digits. */
  edge_id: string
  name: string
  created_at: Date
  revoked_at: Date | null
  last_seen_at: Date | null
  agent_version: string | null
}

const columns = 'site_id, edge_id, name, created_at, revoked_at, last_seen_at, agent_version'

/**
 * Enrols an edge agent of a site. `token` (`edge_<12 hex>_<64 hex>`) is returned only here: the
 * database stores the SHA-256 of its second half.
 */
export async function createEdge(
  admin: Admin,
  order: { site_id: string; name: string },
): Promise<Edge & { token: string }> {
  const name = checkName("the edge's name", order.name)
  const { site_id } = await findSite(admin, order.site_id)
  const edge_id = newHexId(admin)
  const { secret, secret_sha256 } = newSecret(admin)
  const created_at = admin.clock.now()
  const edge = await addEdge(admin.db, { site_id, edge_id, name, secret_sha256, created_at })
  return { ...edge, token: `edge_${edge_id}_${secret}` }
}

type NewEdge = Pick<Edge, 'site_id' | 'edge_id' | 'name' | 'created_at'> & {
  secret_sha256: Buffer
}

/** Adds an edge whose token exists already. */
export const addEdge = async (db: Queries, edge: NewEdge): Promise<Edge> =>
  (await insertRow<Edge>(db, 'edges', { ...edge }, `returning ${columns}`))!

/** An edge reports its status every 10 s while it is connected. */
export const isConnected = ({ last_seen_at }: Pick<Edge, 'last_seen_at'>, now: Date): boolean =>
  last_seen_at !== null && now.getTime() - last_seen_at.getTime() < silence_ms_max

/** The edges of one site or of all, revoked ones too, oldest first within a site. */
export async function listEdges(
  admin: Admin,
  { site_id }: { site_id?: string | undefined } = {},
): Promise<Edge[]> {
  const order = 'order by site_id, created_at, edge_id'
  if (site_id === undefined) return admin.db.query<Edge>(`select ${columns} from edges ${order}`)
  await findSite(admin, site_id)
  return admin.db.query<Edge>(`select ${columns} from edges where site_id = $1 ${order}`, [site_id])
}

interface EdgeName {
  site_id: string
  edge_id: string
}

/** The edge; `not_found` when the site has none of this id. */
export async function findEdge(admin: Admin, { site_id, edge_id }: EdgeName): Promise<Edge> {
  checkHexId('an edge', edge_id)
  const [edge] = await admin.db.query<Edge>(
    `select ${columns} from edges where site_id = $1 and edge_id = $2`,
    [site_id, edge_id],
  )
  if (!edge) {
    throw new AdminError('not_found', `site ${JSON.stringify(site_id)} has no edge ${edge_id}`)
  }
  return edge
}

/**
 * Revokes an edge for good; no effect on a revoked edge. When the site has no other edge, releases
 * of curtailment can no longer be confirmed, and their records are closed.
 */
export async function revokeEdge(admin: Admin, which: EdgeName): Promise<Edge> {
  const { site_id, edge_id } = await findEdge(admin, which)
  const at = admin.clock.now()
  await admin.db.transaction(async (transaction) => {
    const revoked = await transaction.execute(
      `update edges set revoked_at = $3
        where site_id = $1 and edge_id = $2 and revoked_at is null`,
      [site_id, edge_id, at],
    )
    if (revoked === 0) return
    await notifyOfEdge(transaction, { site_id, edge_id })
    await recordEvent(transaction, {
      site_id,
      at,
      source_kind: 'edge',
      source_id: edge_id,
      code: 'edge_token_revoked',
      edge: 'once',
      severity: 'warning',
      message: 'the token of the edge was revoked',
    })
    const others = await transaction.query(
      'select from edges where site_id = $1 and revoked_at is null limit 1',
      [site_id],
    )
    if (others.length === 0) await closeWithoutEdge(transaction, site_id, at)
  })
  return findEdge(admin, which)
}

/** Notifies all replicas on commit: another connection of the edge must end. */
export async function notifyOfEdge(tx: Queries, { site_id, edge_id }: EdgeName): Promise<void> {
  await tx.execute('select pg_notify($1, $2)', [edges_channel, `${site_id} ${edge_id}`])
}
