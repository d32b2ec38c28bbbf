import type { Database, Log } from '../storage/database.ts'
import { alertSources, readSuppression } from './alert-sources.ts'
import { notifyCritical } from './critical-notices.ts'
import { evaluateAlerts } from './evaluate.ts'
import type { ListedListener } from './listener.ts'
import { mailAlerts } from './mail-alerts.ts'

/** In the order in which they are called. */
export const alertListeners: readonly ListedListener[] = [
  { name: 'mail', handle: mailAlerts },
  { name: 'notifications', handle: notifyCritical },
]

export function evaluateEverySite(
  { db, log }: { db: Database; log: Log },
  times: { now: () => Date; signal: AbortSignal },
): Promise<void> {
  const parts = { db, log, sources: alertSources, listeners: alertListeners, readSuppression }
  return evaluateAlerts(parts, times)
}
