/** What a work order is linked to: alerts and defects, which must be there. */
import { invalid } from '../../http/errors.ts'
import { linkAlerts as linkAlertsTo, unknown } from '../../maintenance/references.ts'
import { finalStates } from '../../maintenance/work-order-states.ts'
import type { Transaction } from '../../storage/database.ts'

interface Linking {
  site_id: string
  wo_id: number
  now: Date
}

export const linkAlerts = (
  tx: Transaction,
  { site_id, wo_id }: Linking,
  ids: readonly number[],
): Promise<void> => linkAlertsTo(tx, { site_id, table: 'work_order_alerts', of: { wo_id } }, ids)

/** These defects from now on; 422 for one that is not there, or that another is to see to still. */
export async function linkDefects(tx: Transaction, of: Linking, ids: readonly number[]) {
  const { site_id, wo_id, now } = of
  const found = await tx.query<{ defect_id: number; number: string | null; is_free: boolean }>(
    `select d.defect_id, w.number,
            d.wo_id is null or d.wo_id = $2 or w.status = any($4) as is_free
     from defects d left join work_orders w on w.site_id = d.site_id and w.wo_id = d.wo_id
     where d.site_id = $1 and d.defect_id = any($3)
     order by d.defect_id for update of d`,
    [site_id, wo_id, ids, finalStates],
  )
  const known = new Map(found.map((defect) => [defect.defect_id, defect]))
  const faults = ids.flatMap((id, index) => {
    const field = `defect_ids.${index}`
    const defect = known.get(id)
    if (!defect) return [unknown(field, 'is no defect of this site')]
    if (defect.is_free) return []
    const message = `belongs to ${defect.number}, which is not over`
    return [{ location: 'body' as const, field, code: 'not_allowed_value', message }]
  })
  if (faults.length > 0) throw invalid(...faults)
  await tx.execute(
    `update defects set wo_id = case when defect_id = any($3) then $2::bigint end,
       updated_at = $4, version = version + 1
     where site_id = $1 and (wo_id = $2 and defect_id <> all($3)
       or defect_id = any($3) and wo_id is distinct from $2)`,
    [site_id, wo_id, ids, now],
  )
}

export async function demandDefect(tx: Transaction, site_id: string, defect_id: number) {
  const found = await tx.query('select from defects where site_id = $1 and defect_id = $2', [
    site_id,
    defect_id,
  ])
  if (found.length === 0) throw invalid(unknown('defect_id', 'is no defect of this site'))
}
