import { type Database, type Log, prepared } from '../storage/database.ts'
import { alertSources, readSuppression } from './alert-sources.ts'
import { notifyCritical } from './critical-notices.ts'
import { evaluateAlerts, type RoundParts, shareAlerts } from './evaluate.ts'
import type { ListedListener } from './listener.ts'
import { mailAlerts } from './mail-alerts.ts'
import { publishDeviations } from './schedule-deviations.ts'

/** In the order in which they are called. */
export const alertListeners: readonly ListedListener[] = [
  { name: 'mail', handle: mailAlerts },
  { name: 'notifications', handle: notifyCritical },
  { name: 'schedules', handle: publishDeviations },
]

const partsOf = ({ db, log }: { db: Database; log: Log }): RoundParts => ({
  db: prepared(db),
  log,
  sources: alertSources,
  listeners: alertListeners,
  readSuppression,
})

interface Times {
  now: () => Date
  signal: AbortSignal
}

export const evaluateEverySite = (needs: { db: Database; log: Log }, times: Times) =>
  evaluateAlerts(partsOf(needs), times)

/** Evaluates sites of a round that another server began. */
export const shareRoundOfAlerts = (needs: { db: Database; log: Log }, times: Times) =>
  shareAlerts(partsOf(needs), times)
