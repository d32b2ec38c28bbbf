import type { Transaction } from '../storage/database.ts'
import type { DefectSeverity } from './defect-states.ts'
import { type NotificationSeverity, notify } from './notifications.ts'

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

/** @param what the end of the title, such as `was changed` */
export const notifyDefect = (
  tx: Transaction,
  { site_id, now }: { site_id: string; now: Date },
  { defect_id, number, title, severity, assigned_to }: NotifiedDefect,
  what: string,
  type: 'defect_created' | 'defect_updated' = 'defect_updated',
) =>
  notify(tx, {
    site_id,
    at: now,
    type,
    severity: severities[severity],
    title: `${number} ${what}`,
    body: title,
    recipient: assigned_to,
    resource_type: 'defect',
    resource_id: String(defect_id),
  })
