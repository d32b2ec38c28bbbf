import { rounded } from '@heliograph/domain/significant'
import type { StoredAlert } from './listener.ts'

type Lasting = Pick<StoredAlert, 'started_at' | 'reopened_at' | 'held_before_s'>

/** How long an alert held until an instant, to ms: all its occurrences, not what lay between. */
export function heldSeconds({ started_at, reopened_at, held_before_s }: Lasting, until: Date) {
  const from = reopened_at ?? started_at
  return rounded(held_before_s + Math.max(0, until.getTime() - from.getTime()) / 1000, 3)
}
