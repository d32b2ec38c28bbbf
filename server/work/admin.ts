import type { Admin } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { recordEvent } from '../storage/events.ts'

export interface WorkApproval {
  site_id: string
  /** The key that completed a work order may not approve it. */
  approver_not_completer: boolean
}

/** As it was set; anyone with the scope approves where nothing was. */
export async function readWorkApproval(admin: Admin, site_id: string): Promise<WorkApproval> {
  await findSite(admin, site_id)
  const [found] = await admin.db.query<Omit<WorkApproval, 'site_id'>>(
    'select approver_not_completer from maintenance_settings where site_id = $1',
    [site_id],
  )
  return { site_id, approver_not_completer: found?.approver_not_completer ?? false }
}

/** Holds from the next approval on. A change is kept as an event of the site. */
export async function setWorkApproval(
  admin: Admin,
  { site_id, approver_not_completer }: WorkApproval,
): Promise<WorkApproval> {
  await findSite(admin, site_id)
  await admin.db.transaction(async (tx) => {
    const changed = await tx.execute(
      `insert into maintenance_settings as kept (site_id, approver_not_completer) values ($1, $2)
       on conflict (site_id) do update set approver_not_completer = $2
       where kept.approver_not_completer <> $2`,
      [site_id, approver_not_completer],
    )
    if (changed === 0) return
    await recordEvent(tx, {
      site_id,
      at: admin.clock.now(),
      source_kind: 'site',
      source_id: site_id,
      code: 'work_approval',
      edge: approver_not_completer ? 'rising' : 'falling',
      severity: 'info',
      message: approver_not_completer
        ? 'work orders are approved by another key than completed them'
        : 'work orders may be approved by the key that completed them',
    })
  })
  return readWorkApproval(admin, site_id)
}
