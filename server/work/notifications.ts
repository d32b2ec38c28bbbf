import { day_ms } from '@heliograph/domain/durations'
import type { Database, Queries } from '../storage/database.ts'
import { insertRow } from '../storage/rows.ts'
import { takeSequenceId } from '../storage/site-ids.ts'

export const notificationTypes = [
  'work_order_assigned',
  'work_order_overdue',
  'work_order_completed',
  'work_order_approved',
  'defect_created',
  'defect_updated',
  'alert_raised',
  'alert_escalated',
  'report_ready',
  'comment',
  'system',
] as const
export type NotificationType = (typeof notificationTypes)[number]

export const notificationSeverities = ['info', 'warning', 'major', 'critical'] as const
export type NotificationSeverity = (typeof notificationSeverities)[number]

export const notifiedResources = ['work_order', 'defect', 'alert', 'report_run'] as const

/** A notification is listed this long, read or unread. */
export const notification_days = 90

export interface NewNotification {
  site_id: string
  at: Date
  type: NotificationType
  title: string
  body: string
  severity: NotificationSeverity
  /** null: everybody at the site. */
  recipient: string | null
  resource_type?: (typeof notifiedResources)[number]
  resource_id?: string
}

/** The end of a title: `is in progress`. */
export const reached = (state: string) =>
  state === 'open' ? 'is open again' : `is ${state.replaceAll('_', ' ')}`

/** Stores an unread notification for the client of the site. */
export async function notify(db: Queries, notification: NewNotification): Promise<void> {
  const { at: created_at, ...columns } = notification
  const notification_id = await takeSequenceId(db, columns.site_id)
  const expires_at = new Date(created_at.getTime() + notification_days * day_ms)
  await insertRow(db, 'om_notifications', { ...columns, notification_id, created_at, expires_at })
  await db.execute(
    `insert into notification_reads (site_id, client_id, notification_id, type, created_at,
       expires_at)
     select site_id, client_id, $2, $3, $4::timestamptz, $5::timestamptz
     from sites where site_id = $1`,
    [columns.site_id, notification_id, columns.type, created_at, expires_at],
  )
}

/** Deletes expired notifications, at most `rows_max` at once; returns the number. */
export async function deleteExpired(
  db: Database,
  { now, rows_max = 5000 }: { now: Date; rows_max?: number },
): Promise<number> {
  const expired = await db.query<{ site_id: string; notification_id: number }>(
    `select site_id, notification_id from om_notifications where expires_at <= $1
     order by site_id, notification_id limit ${rows_max}`,
    [now],
  )
  for (const [site_id, rows] of Map.groupBy(expired, (row) => row.site_id)) {
    const ids = rows.map(({ notification_id }) => notification_id)
    await db.transaction(async (tx) => {
      for (const table of ['notification_reads', 'om_notifications']) {
        await tx.execute(`delete from ${table} where site_id = $1 and notification_id = any ($2)`, [
          site_id,
          ids,
        ])
      }
    })
  }
  return expired.length
}
