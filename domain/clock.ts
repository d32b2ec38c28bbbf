/** The only source of the present moment, in the programs and on the virtual clock of tests. */
export interface Clock {
  now(): Date
}

/**
 * Waiting, as a dependency, so that a test can let hours pass in no time.
 * `after` calls back once after `delay_ms` and returns what cancels it.
 */
export interface Timers {
  after(delay_ms: number, callback: () => void): () => void
}

/** Time that no setting of the clock moves: ms since an instant that means nothing. */
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
