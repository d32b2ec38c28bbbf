/** Who is told what became of alerts, in this order. */
import { notifyCritical } from './critical-notices.ts'
import type { AlertListener } from './listener.ts'
import { mailAlerts } from './mail-alerts.ts'

export interface ListedListener {
  /** For the log. */
  name: string
  hear: AlertListener
}

export const alertListeners: readonly ListedListener[] = [
  { name: 'mail', hear: mailAlerts },
  { name: 'notifications', hear: notifyCritical },
]
