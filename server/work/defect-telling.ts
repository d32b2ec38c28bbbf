/** What people are told of defects, by whatever they change. */
import type { Transaction } from '../storage/database.ts'
import type { DefectSeverity } from './defect-states.ts'
import { type NewNotification, type NotificationSeverity, notify } from './notifications.ts'

const severities: Readonly<Record<DefectSeverity, NotificationSeverity>> = {
  low: 'info',
  medium: 'warning',
  high: 'major',
  critical: 'critical',
}

export interface ToldDefect {
  defect_id: number
  number: string
  title: string
  severity: DefectSeverity
  assigned_to: string | null
}

export function tellDefect(
  tx: Transaction,
  { site_id, now }: { site_id: string; now: Date },
  defect: ToldDefect,
  told: Pick<NewNotification, 'type' | 'title'>,
): Promise<void> {
  return notify(tx, {
    site_id,
    at: now,
    severity: severities[defect.severity],
    body: defect.title,
    recipient: defect.assigned_to,
    resource_type: 'defect',
    ...told,
    resource_id: String(defect.defect_id),
  })
}

export const tellDefectChanged = (
  tx: Transaction,
  of: { site_id: string; now: Date },
  defect: ToldDefect,
  what = 'was changed',
): Promise<void> =>
  tellDefect(tx, of, defect, { type: 'defect_updated', title: `${defect.number} ${what}` })
