/** Publishes that a battery deviates from its approved schedule, when an alert says so. */
import { utcDate } from '@heliograph/domain/utc-day'
import { publishStored } from '../batteries/published.ts'
import { schedulesIn } from '../batteries/schedules.ts'
import type { Transaction } from '../storage/database.ts'
import type { FinishedRound } from './listener.ts'

/** An alert listener. */
export async function publishDeviations(
  tx: Transaction,
  { site: { site_id }, now, changes }: FinishedRound,
): Promise<void> {
  for (const { kind, alert } of changes) {
    const { code, bess_id } = alert
    const has_begun = kind === 'raised' || kind === 'reopened'
    if (code !== 'dispatch_deviation' || bess_id === null || !has_begun) continue
    const of = { site_id, bess_id, date: utcDate(now), state: 'approved' } as const
    for (const row of await schedulesIn(tx, of)) {
      await publishStored(tx, { site_id, now }, 'deviated', row)
    }
  }
}
