/** The only source of the present time, in programs and on the virtual clock of tests. */
export interface Clock {
  now(): Date
}

/**
 * Timers as a dependency, so that tests can skip hours.
 * `after` calls back once after `delay_ms` and returns a function that cancels the timer.
 */
export interface Timers {
  after(delay_ms: number, callback: () => void): () => void
}

/** Monotonic time, unaffected by clock changes: ms since an arbitrary instant. */
export interface Stopwatch {
  elapsedMs(): number
}

export const systemClock: Clock = { now: () => new Date() }

export const systemStopwatch: Stopwatch = { elapsedMs: () => performance.now() }

export const systemTimers: Timers = {
  after(delay_ms, callback) {
    const timer = setTimeout(callback, delay_ms)
    return () => clearTimeout(timer)
  },
}
