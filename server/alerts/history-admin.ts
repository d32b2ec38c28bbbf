import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import type { Transition } from './store.ts'

export interface AlertHistory {
  site_id: string
  alert_id: number
  title: string
  message: string
  /** Oldest first. */
  transitions: Transition[]
}

/** @throws AdminError not_found */
export async function showAlertHistory(
  { db }: Pick<Admin, 'db'>,
  { site_id, alert_id }: { site_id: string; alert_id: number },
): Promise<AlertHistory> {
  await findSite({ db }, site_id)
  const [alert] = await db.query<Pick<AlertHistory, 'title' | 'message'>>(
    'select title, message from alerts where site_id = $1 and alert_id = $2',
    [site_id, alert_id],
  )
  if (!alert) throw new AdminError('not_found', `site ${site_id} has no alert ${alert_id}`)
  const transitions = await db.query<Transition>(
    `select at, from_status, to_status, changed_by, note from alert_transitions
     where site_id = $1 and alert_id = $2 order by transition_id`,
    [site_id, alert_id],
  )
  return { site_id, alert_id, ...alert, transitions }
}
