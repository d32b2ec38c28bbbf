/** The job that queues runs of due subscriptions. */
import type { JobContext } from '../jobs/job.ts'
import type { Transaction } from '../storage/database.ts'
import { notify } from '../work/notifications.ts'
import { newestDue, nextRunAt } from './periods.ts'
import { endedNotice } from './report-mail.ts'
import { deleteExpiredFiles, queueRun } from './runs.ts'
import {
  changeSubscription,
  dueSubscriptions,
  lockSubscription,
  type SubscriptionKey,
} from './subscriptions.ts'

/**
 * Queues one run of every due subscription, and deletes expired files. After an outage only the
 * newest missed occurrence is queued, with a note. An occurrence is queued once, also when several
 * servers run this at the same time.
 *
 * @throws AggregateError for subscriptions that failed, after the others were planned
 */
export async function planReports({ db, clock, log, signal }: JobContext): Promise<void> {
  const now = clock.now()
  await deleteExpiredFiles(db, now)
  const failures: unknown[] = []
  for (const key of await dueSubscriptions(db, now)) {
    signal.throwIfAborted()
    try {
      const missed_count = await db.transaction((tx) => planOne(tx, key, now))
      if (missed_count > 0) log.warn({ ...key, missed_count }, 'due reports were skipped')
    } catch (error) {
      failures.push(new Error(`subscription ${key.sub_id} of ${key.site_id}`, { cause: error }))
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'reports could not be planned')
}

/** Returns the number of skipped occurrences. */
async function planOne(tx: Transaction, key: SubscriptionKey, now: Date): Promise<number> {
  const subscription = await lockSubscription(tx, key, now)
  // Another server planned the subscription meanwhile, or a client changed or deleted it.
  if (!subscription?.next_run_at || subscription.next_run_at > now) return 0
  if (subscription.ended_reason !== null) {
    await changeSubscription(tx, key, { enabled: false, next_run_at: null })
    await notify(tx, endedNotice(key.site_id, subscription, now))
    return 0
  }
  const due = newestDue(subscription, subscription.next_run_at, now)
  await queueRun(tx, { site_id: key.site_id, subscription, requested_by: null, due, now })
  await changeSubscription(tx, key, { next_run_at: nextRunAt(subscription, due.due_at) })
  return due.missed_count
}
