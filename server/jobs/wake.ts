import type { Database, Log } from '../storage/database.ts'
import type { Subscription } from '../storage/listen.ts'

/**
 * Asks for a run of a job whenever its channel was notified, on whichever replica, rather than at
 * its next minute. Resolves when the channel is being listened to, to what ends it.
 */
export function requestWhenNotified(
  { db, log }: { db: Database; log: Log },
  { channel, job, request }: { channel: string; job: string; request(job: string): Promise<void> },
): Promise<Subscription> {
  const ask = () => {
    request(job).catch((error: unknown) => {
      log.warn({ err: error, job }, 'a job that was asked for waits for its next minute')
    })
  }
  return db.listen(channel, { notified: ask, resumed: ask })
}
