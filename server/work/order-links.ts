/** Links between work orders and defects. A changed link increments the version of the order. */
import type { Transaction } from '../storage/database.ts'
import type { WorkOrderState } from './work-order-states.ts'

/** Class of the PostgreSQL advisory lock for links between orders and defects: `hgol`. */
const advisory_class = 0x68676f6c

/**
 * Serialises changes of links at a site. Must be taken before any order or defect is locked: a
 * change locks several orders, and two changes could deadlock.
 */
export async function lockLinks(tx: Transaction, site_id: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, hashtext($2))', [advisory_class, site_id])
}

export interface LinkedOrder {
  wo_id: number
  number: string
  status: WorkOrderState
}

/** Locks the status of the existing orders, by id. */
export async function lockOrders(
  tx: Transaction,
  site_id: string,
  ids: readonly number[],
): Promise<Map<number, LinkedOrder>> {
  const rows = await tx.query<LinkedOrder>(
    `select wo_id, number, status from work_orders where site_id = $1 and wo_id = any($2)
     order by wo_id for no key update`,
    [site_id, ids],
  )
  return new Map(rows.map((order) => [order.wo_id, order]))
}

/** Increments the version of orders whose defects have changed. */
export async function touchOrders(
  tx: Transaction,
  { site_id, now }: { site_id: string; now: Date },
  ids: readonly number[],
): Promise<void> {
  await tx.execute(
    `update work_orders set updated_at = $3, version = version + 1
     where site_id = $1 and wo_id = any($2)`,
    [site_id, ids, now],
  )
}
