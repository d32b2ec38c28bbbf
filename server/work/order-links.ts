/** Which order sees to which defect. An order that gets or gives one is another version of it. */
import type { Transaction } from '../storage/database.ts'
import type { WorkOrderState } from './work-order-states.ts'

/** Of PostgreSQL's advisory locks, ours for the links of orders and defects: `hgol`. */
const advisory_class = 0x68676f6c

/**
 * Until the transaction ends no other links orders and defects of the site. Taken before any of
 * them is held: who links changes several orders, and two could wait for each other for ever.
 */
export async function holdLinks(tx: Transaction, site_id: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, hashtext($2))', [advisory_class, site_id])
}

export interface LinkedOrder {
  wo_id: number
  number: string
  status: WorkOrderState
}

/** Those that are there, by their ids; their status stays until the transaction ends. */
export async function holdOrders(
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

/** Their defects are others now. */
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
