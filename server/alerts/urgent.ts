import type { StoredAlert } from './listener.ts'

/**
 * Since when an alert has been critical and active and nothing explained it, all at once; null
 * where it is not. Whoever is to see to it has so long been able to know.
 *
 * @param before since when it was so until now
 */
export const urgentSince = (
  before: Date | null,
  after: Pick<StoredAlert, 'severity' | 'status' | 'suppressed_reason'>,
  now: Date,
): Date | null => {
  const { severity, status, suppressed_reason } = after
  const is_urgent = severity === 'critical' && status === 'active' && suppressed_reason === null
  return is_urgent ? (before ?? now) : null
}
