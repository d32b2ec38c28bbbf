/** Notifies of overdue work orders, and deletes expired notifications. */
import type { Database } from '../storage/database.ts'
import { deleteExpired, notify } from './notifications.ts'
import { workingStates } from './work-order-states.ts'

/** Orders per transaction; their rows stay locked meanwhile. */
const batch = 200

/**
 * Notifies once of every work order that missed a time of its service level, then deletes expired
 * notifications. Can be interrupted and repeated at any point.
 */
export async function watchWorkOrders(
  db: Database,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted && (await notifyOverdue(db, now)) === batch);
  while (!signal.aborted && (await deleteExpired(db, { now })) > 0);
}

interface Overdue {
  site_id: string
  wo_id: number
  number: string
  title: string
  recipient: string | null
  is_acknowledged: boolean
}

/** Skips locked orders: the next run finds them if they are still overdue. */
function notifyOverdue(db: Database, now: Date): Promise<number> {
  return db.transaction(async (tx) => {
    const orders = await tx.query<Overdue>(
      `select site_id, wo_id, number, title, coalesce(assigned_to, team, contractor) as recipient,
              acknowledged_at is not null as is_acknowledged
       from work_orders
       where status = any($2) and overdue_notified_at is null
         and (resolution_due_at < $1 or due_at < $1
           or response_due_at < $1 and acknowledged_at is null)
       order by site_id, wo_id limit ${batch} for no key update skip locked`,
      [now, workingStates],
    )
    for (const { site_id, wo_id, number, title, recipient, is_acknowledged } of orders) {
      await notify(tx, {
        site_id,
        at: now,
        type: 'work_order_overdue',
        severity: 'major',
        recipient,
        title: `${number} is overdue: ${is_acknowledged ? 'not completed' : 'not acknowledged'} in time`,
        body: title,
        resource_type: 'work_order',
        resource_id: String(wo_id),
      })
      await tx.execute(
        'update work_orders set overdue_notified_at = $3 where site_id = $1 and wo_id = $2',
        [site_id, wo_id, now],
      )
    }
    return orders.length
  })
}
