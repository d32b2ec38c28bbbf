import { ApiError } from '../../http/errors.ts'
import { requireMatch } from '../../http/etag.ts'
import type { Database, Queries, Transaction } from '../../storage/database.ts'
import { type Stored, served } from '../../storage/records.ts'
import type { Actor } from '../actor.ts'
import { withinLimits } from '../checklists.ts'
import { type ListFilter, requireFilters } from '../references.ts'
import { matchingRows, readPage } from '../rows.ts'
import { isBreached } from '../service-levels.ts'
import type { WorkOrderState } from '../work-order-states.ts'
import { ChecklistItem } from './item-schemas.ts'
import { type WholeWorkOrder, WorkOrder } from './schemas.ts'

export interface StoredWorkOrder extends Stored<Omit<WorkOrder, 'sla_breached'>> {
  completed_by_key_id: string | null
  last_attachment_id: number
}
export interface StoredItem extends Stored<Omit<ChecklistItem, 'within_limits'>> {
  is_limit_open: boolean
}

export async function readWorkOrder(
  db: Database,
  of: { site_id: string; wo_id: number },
  now: Date,
): Promise<WholeWorkOrder | null> {
  const snapshot = { isolation: 'repeatable read', read_only: true } as const
  const stored = await db.transaction((tx) => readStored(tx, of), snapshot)
  return stored && wholeRecord(stored, now)
}

/** A work order of site $1. */
const record = `select w.*, i.*,
    array(select alert_id from work_order_alerts a
          where a.site_id = $1 and a.wo_id = w.wo_id order by alert_id) as alert_ids,
    array(select defect_id from defects d
          where d.site_id = $1 and d.wo_id = w.wo_id order by defect_id) as defect_ids
  from work_orders w cross join lateral (
    select count(*) as checklist_total,
           count(*) filter (where status <> 'pending') as checklist_done,
           count(*) filter (where status = 'failed') as checklist_failed
    from work_order_items i where i.site_id = $1 and i.wo_id = w.wo_id) i`

interface WorkOrderFilter extends ListFilter {
  status?: WorkOrderState
  assigned_to?: string
  /** Created in [start, end). */
  start: string | null
  end: string | null
}

/** @throws ApiError not_found for an unknown location or logger */
export async function readWorkOrders(db: Queries, filter: WorkOrderFilter, now: Date) {
  await requireFilters(db, filter)
  const found = matchingRows('work_orders', filter.site_id, {
    'status =': filter.status,
    'location_id =': filter.location_id,
    'logger_id =': filter.logger_id,
    'assigned_to =': filter.assigned_to,
    'created_at >=': filter.start,
    'created_at <': filter.end,
  })
  const listed = { ...found, record, alias: 'w', id: 'wo_id' } as const
  const { rows, meta } = await readPage<StoredWorkOrder>(db, listed, filter)
  return { data: rows.map((row) => workOrderRecord(row, now)), meta }
}

export interface StoredWhole {
  order: StoredWorkOrder
  items: StoredItem[]
}

/**
 * null for an unknown id. The two statements are consistent within a snapshot, or with the work
 * order locked.
 */
export async function readStored(
  db: Queries,
  { site_id, wo_id }: { site_id: string; wo_id: number },
): Promise<StoredWhole | null> {
  const [order] = await db.query<StoredWorkOrder>(
    `${record} where w.site_id = $1 and w.wo_id = $2`,
    [site_id, wo_id],
  )
  if (!order) return null
  const items = await db.query<StoredItem>(
    `select * from work_order_items where site_id = $1 and wo_id = $2 order by position, item_id`,
    [site_id, wo_id],
  )
  return { order, items }
}

/**
 * Locks and reads a work order. Defects may still be linked to it meanwhile.
 * @throws ApiError not_found; precondition_failed for another version than `If-Match`
 */
export async function lockWorkOrder(
  tx: Transaction,
  { site_id, if_match, now }: Actor,
  wo_id: number,
): Promise<StoredWhole> {
  await tx.query('select from work_orders where site_id = $1 and wo_id = $2 for no key update', [
    site_id,
    wo_id,
  ])
  const stored = await readStored(tx, { site_id, wo_id })
  if (stored === null) throw new ApiError('not_found', { wo_id })
  requireMatch(if_match, wholeRecord(stored, now))
  return stored
}

export const wholeRecord = ({ order, items }: StoredWhole, now: Date): WholeWorkOrder => ({
  ...workOrderRecord(order, now),
  checklist: items.map(itemRecord),
})

const workOrderRecord = (row: StoredWorkOrder, now: Date) =>
  served(WorkOrder, { ...row, sla_breached: isBreached(row, now) })

const itemRecord = (row: StoredItem) =>
  served(ChecklistItem, { ...row, within_limits: withinLimits(row) })
