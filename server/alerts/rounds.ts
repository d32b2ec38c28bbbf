import type { Database, Log } from '../storage/database.ts'
import { alertListeners } from './alert-listeners.ts'
import { alertSources, readSuppression } from './alert-sources.ts'
import { evaluateAlerts } from './evaluate.ts'

export function evaluateEverySite(
  { db, log }: { db: Database; log: Log },
  times: { now: () => Date; signal: AbortSignal },
): Promise<void> {
  const parts = { db, log, sources: alertSources, listeners: alertListeners, readSuppression }
  return evaluateAlerts(parts, times)
}
