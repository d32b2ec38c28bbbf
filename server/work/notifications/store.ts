import type { Queries } from '../../storage/database.ts'
import { type Stored, served } from '../../storage/records.ts'
import {
  type NotificationType,
  notificationTypes,
  type notifiedResources,
} from '../notifications.ts'
import { readPage } from '../rows.ts'
import { OmNotification, type UnreadCount } from './schemas.ts'

type StoredNotification = Stored<Omit<OmNotification, 'is_read' | 'url'>> & { site_id: string }

export interface Reader {
  site_id: string
  client_id: number
  now: Date
}

/** A row of `n` with the time when the client read it. */
const record = `select n.*, r.read_at
  from om_notifications n
    join notification_reads r
      on r.site_id = n.site_id and r.notification_id = n.notification_id and r.client_id = $2`

/** Every site belongs to one client, so that all stored notifications of the site are listed. */
const all = 'om_notifications where site_id = $1 and expires_at > $3'
const unread = `notification_reads
  where site_id = $1 and client_id = $2 and read_at is null and expires_at > $3`

export async function readNotifications(
  db: Queries,
  { site_id, client_id, now }: Reader,
  { unread_only, ...page }: { unread_only?: boolean; offset?: number; limit?: number },
) {
  const matching = unread_only ? unread : all
  const values = [site_id, client_id, now]
  const listed = {
    matching,
    values,
    record,
    alias: 'n',
    id: 'notification_id',
    order: 'desc',
  } as const
  const { rows, meta } = await readPage<StoredNotification>(db, listed, page)
  return { data: rows.map(notificationRecord), meta }
}

export async function readUnreadCount(
  db: Queries,
  { site_id, client_id, now }: Reader,
): Promise<UnreadCount> {
  const rows = await db.query<{ type: NotificationType; count: number; oldest_at: Date }>(
    `select type, count(*) as count, min(created_at) as oldest_at from ${unread} group by type`,
    [site_id, client_id, now],
  )
  const counts = new Map(rows.map(({ type, count }) => [type, count]))
  const oldest_ms = Math.min(...rows.map(({ oldest_at }) => oldest_at.getTime()))
  return {
    unread_count: rows.reduce((sum, { count }) => sum + count, 0),
    by_type: Object.fromEntries(
      notificationTypes.map((type) => [type, counts.get(type) ?? 0]),
    ) as UnreadCount['by_type'],
    oldest_unread_at: rows.length === 0 ? null : new Date(oldest_ms).toISOString(),
  }
}

/** Keeps the time of an earlier read. null for an unknown id. */
export async function markRead(
  db: Queries,
  { site_id, client_id, now }: Reader,
  notification_id: number,
): Promise<OmNotification | null> {
  await db.execute(
    `update notification_reads set read_at = $4
     where site_id = $1 and client_id = $2 and notification_id = $3 and read_at is null
       and expires_at > $4`,
    [site_id, client_id, notification_id, now],
  )
  const [row] = await db.query<StoredNotification>(
    `${record} where n.site_id = $1 and n.notification_id = $3 and n.expires_at > $4`,
    [site_id, client_id, notification_id, now],
  )
  return row ? notificationRecord(row) : null
}

const paths: Readonly<Record<(typeof notifiedResources)[number], string | null>> = {
  work_order: 'work-orders',
  defect: 'defects',
  // These resources have no address of their own.
  alert: null,
  report_run: null,
}

function notificationRecord(row: StoredNotification): OmNotification {
  const { site_id, resource_type, resource_id, read_at } = row
  const path = resource_type && paths[resource_type]
  const url = path && resource_id && `/v1/sites/${site_id}/${path}/${resource_id}`
  return served(OmNotification, { ...row, is_read: read_at !== null, url })
}
