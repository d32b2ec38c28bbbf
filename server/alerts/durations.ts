import { rounded } from '@heliograph/domain/significant'
import type { AlertSeverity, AlertStatus, Suppressor } from './rule.ts'

interface Occurrences {
  started_at: Date
  reopened_at: Date | null
  held_before_s: number
}

/** Seconds to ms precision that all occurrences of an alert lasted, without the time between. */
export function activeSeconds(alert: Occurrences, until: Date): number {
  const { started_at, reopened_at, held_before_s } = alert
  const from = reopened_at ?? started_at
  return rounded(held_before_s + Math.max(0, until.getTime() - from.getTime()) / 1000, 3)
}

/**
 * Since when an alert has been critical, active and not suppressed; null where it is not. The
 * delay of an escalation counts from here.
 *
 * @param before the value of the previous round
 */
export const urgentSince = (
  before: Date | null,
  after: { severity: AlertSeverity; status: AlertStatus; suppressed_reason: Suppressor | null },
  now: Date,
): Date | null => {
  const { severity, status, suppressed_reason } = after
  const is_urgent = severity === 'critical' && status === 'active' && suppressed_reason === null
  return is_urgent ? (before ?? now) : null
}
