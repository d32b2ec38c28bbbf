import type { Admin } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import type { Queries } from '../storage/database.ts'
import { recordEvent } from '../storage/events.ts'

export interface WorkApproval {
  site_id: string
  /** A work order may not be approved by the key that completed it. */
  approver_not_completer: boolean
}

/** Defaults to approval by any key with the scope. */
export async function readWorkApproval(admin: Admin, site_id: string): Promise<WorkApproval> {
  await findSite(admin, site_id)
  return { site_id, approver_not_completer: await isApproverAnother(admin.db, site_id) }
}

export async function isApproverAnother(db: Queries, site_id: string): Promise<boolean> {
  const [settings] = await db.query<Pick<WorkApproval, 'approver_not_completer'>>(
    'select approver_not_completer from maintenance_settings where site_id = $1',
    [site_id],
  )
  return settings?.approver_not_completer ?? false
}

/** Applies from the next approval on. A change is recorded as an event of the site. */
export async function setWorkApproval(
  admin: Admin,
  { site_id, approver_not_completer }: WorkApproval,
): Promise<WorkApproval> {
  await findSite(admin, site_id)
  await admin.db.transaction(async (tx) => {
    const changed = await tx.execute(
      `insert into maintenance_settings as stored (site_id, approver_not_completer) values ($1, $2)
       on conflict (site_id) do update set approver_not_completer = $2
       where stored.approver_not_completer <> $2`,
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
        ? 'work orders must be approved by another key than the one that completed them'
        : 'work orders may be approved by the key that completed them',
    })
  })
  return readWorkApproval(admin, site_id)
}
