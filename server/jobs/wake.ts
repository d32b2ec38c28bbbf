import type { Database, Log } from '../storage/database.ts'
import type { Subscription } from '../storage/listen.ts'

/**
 * Requests a run of a job at each notification of a channel, instead of waiting for its schedule.
 * Resolves when the subscription is active.
 */
export function requestWhenNotified(
  { db, log }: { db: Database; log: Log },
  { channel, job, request }: { channel: string; job: string; request(job: string): Promise<void> },
): Promise<Subscription> {
  const ask = () => {
    request(job).catch((error: unknown) => {
      log.warn({ err: error, job }, 'a job could not be requested and waits for its schedule')
    })
  }
  return db.listen(channel, { notified: ask, resumed: ask })
}
