/** What those hear who tell people of alerts. */
import type { Queries } from '../storage/database.ts'
import type { Concerned, SourceContext, SourceType } from './finding.ts'
import type { AlertCategory, AlertSeverity, Suppressor } from './rule.ts'
import type { AlertSettings } from './settings.ts'

export const alertStatuses = ['active', 'acknowledged', 'resolved'] as const
export type AlertStatus = (typeof alertStatuses)[number]

export const resolutions = ['auto', 'manual'] as const
type Resolution = (typeof resolutions)[number]

/** An alert as it is stored. */
export interface StoredAlert extends Concerned {
  alert_id: number
  dedup_key: string
  /** Of `rules`, or of an older version of them. */
  code: string
  title: string
  message: string
  category: AlertCategory
  severity: AlertSeverity
  status: AlertStatus
  source_type: SourceType
  source_id: string
  part: string | null
  /** When the condition began, of the first occurrence. */
  started_at: Date
  detected_at: Date
  /** When it was known to hold last. */
  last_seen_at: Date
  /** Since when it is known to be gone; null while it holds or cannot be judged. */
  ended_at: Date | null
  occurrence_count: number
  /** Since when the present occurrence holds; null: it is the first. */
  reopened_at: Date | null
  /** How long the occurrences before held. */
  held_before_s: number
  value: number | null
  threshold: number | null
  unit: string | null
  affected_power_kw: number | null
  lost_energy_kwh: number | null
  lost_amount: number | null
  /** Of `lost_amount`. */
  currency: string | null
  /** The last time, also of an occurrence before: `status` says whether it is now. */
  acknowledged_at: Date | null
  acknowledged_by: string | null
  ack_note: string | null
  resolved_at: Date | null
  resolved_by: string | null
  resolution: Resolution | null
  resolution_note: string | null
  /** Resolved by hand while it may still hold: it is no new occurrence until it was gone. */
  awaits_end: boolean
  /** Since when it is critical and active and nothing explains it; null where it is not. */
  urgent_since: Date | null
  suppressed_reason: Suppressor | null
  vendor_codes: string[]
}

/**
 * What became of an alert in a round: `raised` and `reopened` may be suppressed, `unsuppressed` is
 * one that is not any more, `worsened` has a higher severity than before.
 */
const changeKinds = ['raised', 'reopened', 'unsuppressed', 'worsened', 'resolved'] as const
type ChangeKind = (typeof changeKinds)[number]

export interface AlertChange {
  kind: ChangeKind
  /** As it is now. */
  alert: StoredAlert
}

export interface FinishedRound {
  site: SourceContext['site'] & { name: string }
  settings: AlertSettings
  now: Date
  changes: readonly AlertChange[]
  /** All that are active or acknowledged after the round, suppressed ones among them. */
  open: readonly StoredAlert[]
}

/**
 * Called after each round of a site, in its transaction, also when nothing changed. One that throws
 * is rolled back alone and told; it hears of the same alerts in `open` again a minute later.
 */
export type AlertListener = (db: Queries, round: FinishedRound) => Promise<void>
