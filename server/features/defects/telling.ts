/** What people are told of defects: that there is one, and that it changed. */
import type { DefectState } from '../../maintenance/defect-states.ts'
import {
  type NewNotification,
  type NotificationSeverity,
  notify,
} from '../../maintenance/notifications.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Actor } from './commands.ts'
import type { DefectSeverity } from './schemas.ts'
import type { StoredDefect } from './store.ts'

const severities: Readonly<Record<DefectSeverity, NotificationSeverity>> = {
  ...{ low: 'info', medium: 'warning', high: 'major', critical: 'critical' },
}

function tell(
  tx: Transaction,
  { site_id, now }: Actor,
  defect: StoredDefect,
  told: Pick<NewNotification, 'type' | 'title'>,
) {
  return notify(tx, {
    ...{ site_id, at: now, severity: severities[defect.severity], body: defect.title },
    ...{ recipient: defect.assigned_to, resource_type: 'defect', ...told },
    resource_id: String(defect.defect_id),
  })
}

export const tellCreated = (tx: Transaction, actor: Actor, defect: StoredDefect) =>
  tell(tx, actor, defect, { type: 'defect_created', title: `${defect.number} was reported` })

const reached: Readonly<Record<DefectState, string>> = {
  open: 'is open again',
  in_progress: 'is in progress',
  resolved: 'is resolved',
  verified: 'is verified',
  dismissed: 'is dismissed',
}

export function tellChanged(
  tx: Transaction,
  actor: Actor,
  { before, after }: { before: StoredDefect; after: StoredDefect },
): Promise<void> {
  const what = after.status === before.status ? 'was changed' : reached[after.status]
  return tell(tx, actor, after, { type: 'defect_updated', title: `${after.number} ${what}` })
}
