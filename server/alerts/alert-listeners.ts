/** The listeners, in the order in which they are called. */
import { notifyCritical } from './critical-notices.ts'
import type { AlertListener } from './listener.ts'
import { mailAlerts } from './mail-alerts.ts'

export interface ListedListener {
  /** For the log. */
  name: string
  handle: AlertListener
}

export const alertListeners: readonly ListedListener[] = [
  { name: 'mail', handle: mailAlerts },
  { name: 'notifications', handle: notifyCritical },
]
