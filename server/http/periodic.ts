import type { Timers } from '@heliograph/domain/clock'
import type { Log } from '../storage/database.ts'

interface Periodic {
  /** Ends it; resolves when a run under way is over. */
  stop(): Promise<void>
}

/**
 * Runs the work again and again, each time `wait_ms` after the last run ended. A failure is told to
 * the log when it begins, not at every repetition, and the next run comes all the same.
 */
export function periodically(
  { timers, log }: { timers: Timers; log: Log },
  what: string,
  wait_ms: number,
  work: () => Promise<void>,
): Periodic {
  let stopped = false
  let failing = false
  let running = Promise.resolve()
  const run = async () => {
    try {
      await work()
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, `${what} failed; it is tried again and again`)
      failing = true
    }
    if (!stopped) cancel = timers.after(wait_ms, start)
  }
  const start = () => {
    running = run()
  }
  let cancel = timers.after(wait_ms, start)
  return {
    stop() {
      stopped = true
      cancel()
      return running
    },
  }
}
