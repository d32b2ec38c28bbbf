import { invalid, unknownReference, type Violation, violation } from '../../http/errors.ts'
import type { Transaction } from '../../storage/database.ts'
import { type NotifiedDefect, notifyDefect } from '../defect-notifications.ts'
import { type DefectState, isFinal } from '../defect-states.ts'
import { touchOrders } from '../order-links.ts'
import type { WorkOrderState } from '../work-order-states.ts'

interface Linking {
  site_id: string
  wo_id: number
  now: Date
}

interface LinkedDefect extends NotifiedDefect {
  status: DefectState
  wo_id: number | null
  order_number: string | null
  order_status: WorkOrderState | null
}

/**
 * Replaces the linked defects; verified ones stay. Returns whether anything changed. Requires
 * `lockLinks`.
 * @throws ApiError invalid for a defect that is unknown, verified, or linked to another order
 */
export async function linkDefects(
  tx: Transaction,
  of: Linking,
  ids: readonly number[],
): Promise<boolean> {
  const { site_id, wo_id, now } = of
  const found = await lockDefects(tx, of, ids)
  const joining = found.filter((one) => one.wo_id !== wo_id)
  requireLinkable(ids, found, joining)
  const leaving = found.filter(
    (one) => one.wo_id === wo_id && !ids.includes(one.defect_id) && !isFinal(one.status),
  )
  for (const { moved, to } of [
    { moved: leaving, to: null },
    { moved: joining, to: wo_id },
  ]) {
    await tx.execute(
      `update defects set wo_id = $3, updated_at = $4, version = version + 1
       where site_id = $1 and defect_id = any($2)`,
      [site_id, moved.map(({ defect_id }) => defect_id), to, now],
    )
  }
  const givers = new Set(joining.map((one) => one.wo_id).filter((id) => id !== null))
  await touchOrders(tx, of, [...givers])
  for (const defect of [...leaving, ...joining]) await notifyDefect(tx, of, defect, 'was changed')
  return leaving.length + joining.length > 0
}

/** The given and the present defects, locked, with the order of each. */
async function lockDefects(tx: Transaction, { site_id, wo_id }: Linking, ids: readonly number[]) {
  const of = [site_id, wo_id, ids]
  const named = 'd.site_id = $1 and (d.wo_id = $2 or d.defect_id = any($3))'
  await tx.query(`select from defects d where ${named} order by d.defect_id for update`, of)
  // A second read sees what was committed while the lock was waited for.
  return await tx.query<LinkedDefect>(
    `select d.defect_id, d.number, d.title, d.severity, d.assigned_to, d.status, d.wo_id,
            w.number as order_number, w.status as order_status
     from defects d left join work_orders w on w.site_id = d.site_id and w.wo_id = d.wo_id
     where ${named} order by d.defect_id`,
    of,
  )
}

function requireLinkable(
  ids: readonly number[],
  found: readonly LinkedDefect[],
  joining: readonly LinkedDefect[],
): void {
  const known = new Set(found.map(({ defect_id }) => defect_id))
  const faults = ids.flatMap((id, index): Violation[] => {
    const field = `defect_ids.${index}`
    if (!known.has(id)) return [unknownReference(field, 'is not a defect of this site')]
    const message = refusalOf(joining.find(({ defect_id }) => defect_id === id))
    if (message === null) return []
    return [violation(field, 'not_allowed_value', message)]
  })
  if (faults.length > 0) throw invalid(...faults)
}

/** Why a defect cannot be linked; null where it can. */
function refusalOf(defect: LinkedDefect | undefined): string | null {
  if (!defect) return null
  const { number, status, order_number, order_status } = defect
  if (isFinal(status)) return `${number} is ${status} and cannot be changed`
  if (order_status === null || order_status === 'cancelled') return null
  return `belongs to ${order_number}, which is ${order_status}`
}

export async function requireDefect(tx: Transaction, site_id: string, defect_id: number) {
  const found = await tx.query('select from defects where site_id = $1 and defect_id = $2', [
    site_id,
    defect_id,
  ])
  if (found.length === 0)
    throw invalid(unknownReference('defect_id', 'is not a defect of this site'))
}
