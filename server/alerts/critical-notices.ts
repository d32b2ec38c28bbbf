/** Platform notifications of critical alerts, independent of mails. */
import type { Queries } from '../storage/database.ts'
import { notify } from '../work/notifications.ts'
import type { FinishedRound } from './listener.ts'
import type { StoredAlert } from './record.ts'

/** An alert listener. A suppressed alert is notified once it is no longer suppressed. */
export async function notifyCritical(db: Queries, round: FinishedRound): Promise<void> {
  for (const { kind, alert } of round.changes) {
    const is_urgent = alert.severity === 'critical' && alert.suppressed_reason === null
    if (kind !== 'resolved' && is_urgent && alert.status === 'active') {
      await notifyAlert(db, alert, round, { type: 'alert_raised', title: alert.title })
    }
  }
}

export const notifyAlert = (
  db: Queries,
  { message, severity, alert_id }: StoredAlert,
  { site, now }: FinishedRound,
  notice: { type: 'alert_raised' | 'alert_escalated'; title: string },
) =>
  notify(db, {
    site_id: site.site_id,
    at: now,
    ...notice,
    body: message,
    severity,
    recipient: null,
    resource_type: 'alert',
    resource_id: String(alert_id),
  })
