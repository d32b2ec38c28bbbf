/** The interface of what reacts to alerts: mails and notifications. */
import type { Transaction } from '../storage/database.ts'
import type { SourceContext } from './finding.ts'
import type { StoredAlert } from './record.ts'
import type { AlertSettings } from './settings.ts'

export interface AlertChange {
  /** `raised` and `reopened` alerts may be suppressed; `worsened` means a higher severity. */
  kind: 'raised' | 'reopened' | 'unsuppressed' | 'worsened' | 'resolved'
  /** The alert after the change. */
  alert: StoredAlert
}

export interface FinishedRound {
  site: SourceContext['site'] & { name: string }
  settings: AlertSettings
  now: Date
  changes: readonly AlertChange[]
  /** All unresolved alerts after the round, suppressed ones included. */
  open: readonly StoredAlert[]
}

export interface ListedListener {
  name: string
  handle: AlertListener
}

/**
 * Called after each round of a site, in the transaction of the round, also without changes. When a
 * listener throws, its own writes are rolled back and the error is logged; the next round calls it
 * again with the same alerts in `open`.
 */
type AlertListener = (tx: Transaction, round: FinishedRound) => Promise<void>
