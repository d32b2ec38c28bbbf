/** Notifies of overdue work orders, and deletes expired notifications. */
import type { Database } from '../storage/database.ts'
import { deleteExpired, notify } from './notifications.ts'
import { workingStates } from './work-order-states.ts'

/** Orders that are found at once. */
const batch = 200

/**
 * Notifies once of every work order that missed a time of its service level, then deletes expired
 * notifications. Can be interrupted and repeated at any point.
 */
export async function watchWorkOrders(
  db: Database,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted && (await notifyOverdue(db, now)) > 0);
  while (!signal.aborted && (await deleteExpired(db, { now })) > 0);
}

interface OrderKey {
  site_id: string
  wo_id: number
}

interface Overdue {
  number: string
  title: string
  recipient: string | null
  is_acknowledged: boolean
}

const is_overdue = `status = any($2) and overdue_notified_at is null
  and (resolution_due_at < $1 or due_at < $1
    or response_due_at < $1 and acknowledged_at is null)`

/** Returns the number of orders that were notified of. */
async function notifyOverdue(db: Database, now: Date): Promise<number> {
  const found = await db.query<OrderKey>(
    `select site_id, wo_id from work_orders where ${is_overdue}
     order by site_id, wo_id limit ${batch}`,
    [now, workingStates],
  )
  let notified = 0
  for (const order of found) if (await notifyOf(db, order, now)) notified += 1
  return notified
}

/** Skips a locked order: the next run finds it if it is still overdue. */
function notifyOf(db: Database, { site_id, wo_id }: OrderKey, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    const order = await tx.queryOne<Overdue>(
      `select number, title, coalesce(assigned_to, team, contractor) as recipient,
              acknowledged_at is not null as is_acknowledged
       from work_orders where site_id = $3 and wo_id = $4 and ${is_overdue}
       for no key update skip locked`,
      [now, workingStates, site_id, wo_id],
    )
    if (order === null) return false
    const { number, title, recipient, is_acknowledged } = order
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
    return true
  })
}
