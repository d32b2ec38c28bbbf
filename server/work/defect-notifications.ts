/** Notifications of defects. */
import type { Transaction } from '../storage/database.ts'
import type { DefectSeverity } from './defect-states.ts'
import { type NewNotification, type NotificationSeverity, notify } from './notifications.ts'

const severities: Readonly<Record<DefectSeverity, NotificationSeverity>> = {
  low: 'info',
  medium: 'warning',
  high: 'major',
  critical: 'critical',
}

export interface NotifiedDefect {
  defect_id: number
  number: string
  title: string
  severity: DefectSeverity
  assigned_to: string | null
}

interface At {
  site_id: string
  now: Date
}

function send(
  tx: Transaction,
  { site_id, now }: At,
  defect: NotifiedDefect,
  notification: Pick<NewNotification, 'type' | 'title'>,
): Promise<void> {
  return notify(tx, {
    site_id,
    at: now,
    severity: severities[defect.severity],
    body: defect.title,
    recipient: defect.assigned_to,
    resource_type: 'defect',
    resource_id: String(defect.defect_id),
    ...notification,
  })
}

export const notifyDefectCreated = (tx: Transaction, at: At, defect: NotifiedDefect) =>
  send(tx, at, defect, { type: 'defect_created', title: `${defect.number} was reported` })

export const notifyDefectChanged = (
  tx: Transaction,
  at: At,
  defect: NotifiedDefect,
  what = 'was changed',
) => send(tx, at, defect, { type: 'defect_updated', title: `${defect.number} ${what}` })
