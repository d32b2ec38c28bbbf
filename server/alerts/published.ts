/** The events of alerts. */
import { isEventType } from '../events/event-types.ts'
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'
import { readListedAlerts } from './listed.ts'
import type { AlertChange } from './listener.ts'
import { alertRecord } from './record.ts'

interface Published {
  kind: AlertChange['kind'] | 'acknowledged'
  alert: { alert_id: number }
}

/**
 * Publishes changed alerts, without amounts, which need a further scope. A change of severity or
 * suppression is no event.
 */
export async function publishAlerts(
  tx: Transaction,
  { site_id, now }: { site_id: string; now: Date },
  changes: readonly Published[],
): Promise<void> {
  const types = new Map(changes.map(({ kind, alert }) => [alert.alert_id, `alert.${kind}`]))
  if (types.size === 0) return
  for (const alert of await readListedAlerts(tx, site_id, [...types.keys()])) {
    const type = types.get(alert.alert_id)!
    const record = alertRecord(alert, { now, has_money: false })
    const subject = `alert/${alert.alert_id}`
    if (isEventType(type)) publish(tx, { site_id, at: now, type, subject, link: '/alerts', record })
  }
}
