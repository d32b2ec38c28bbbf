import type { Timers } from '@heliograph/domain/clock'
import type { Log } from '../storage/database.ts'

/**
 * Repeats the work `wait_ms` after each run. The first of consecutive failures is logged; the work
 * is repeated after a failure too.
 */
export function periodically(
  { timers, log }: { timers: Timers; log: Log },
  what: string,
  wait_ms: number,
  work: () => Promise<void>,
) {
  let stopped = false
  let failing = false
  let running = Promise.resolve()
  const run = async () => {
    try {
      await work()
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, `${what} failed and will be retried`)
      failing = true
    }
    if (!stopped) cancel = timers.after(wait_ms, start)
  }
  const start = () => {
    running = run()
  }
  let cancel = timers.after(wait_ms, start)
  return {
    /** Stops the repetition; resolves when the current run has ended. */
    stop(): Promise<void> {
      stopped = true
      cancel()
      return running
    },
  }
}
