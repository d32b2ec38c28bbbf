/** Platform notifications of critical alerts, independent of mails. */
import type { Queries } from '../storage/database.ts'
import { notify } from '../work/notifications.ts'
import type { AlertChange, FinishedRound } from './listener.ts'

/** An alert listener. A suppressed alert is notified once it is no longer suppressed. */
export async function notifyCritical(db: Queries, round: FinishedRound): Promise<void> {
  for (const { alert } of round.changes.filter(isUrgent)) {
    await notify(db, {
      site_id: round.site.site_id,
      at: round.now,
      type: 'alert_raised',
      title: alert.title,
      body: alert.message,
      severity: alert.severity,
      recipient: null,
      resource_type: 'alert',
      resource_id: String(alert.alert_id),
    })
  }
}

const isUrgent = ({ kind, alert }: AlertChange) =>
  kind !== 'resolved' &&
  alert.severity === 'critical' &&
  alert.status === 'active' &&
  alert.suppressed_reason === null
