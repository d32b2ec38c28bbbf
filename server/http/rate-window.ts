/** A sliding window of the requests granted in the last 60 s. */

/** `counts[i]` requests at `at_ms[i]`, ascending. */
export interface TimedCounts {
  at_ms: number[]
  counts: number[]
}

export interface Grants {
  used(now_ms: number): number
  /** `step_ms`: the resolution, see `stepOf`. */
  add(at_ms: number, step_ms: number): void
  replace(window: TimedCounts): void
  window(now_ms: number): TimedCounts
  /** Seconds until the oldest request leaves the window; 0 for an empty window. */
  secondsToReset(now_ms: number): number
}

export const rate_window_ms = 60_000
/** Above this limit, instants are rounded up to 0.1 s, which bounds a window to 600 entries. */
const exact_limit_max = 600
const step_ms_max = 100
/** The time resolution of the window of a limit. */
export const stepOf = (limit: number) => (limit > exact_limit_max ? step_ms_max : 1)

export function noGrants(): Grants {
  let at_ms: number[] = []
  let counts: number[] = []
  let sum = 0

  function forget(now_ms: number): void {
    let gone = 0
    while (gone < at_ms.length && at_ms[gone]! <= now_ms - rate_window_ms) {
      sum -= counts[gone]!
      gone += 1
    }
    if (gone > 0) {
      at_ms = at_ms.slice(gone)
      counts = counts.slice(gone)
    }
    // After the clock was set back, future requests count as made now.
    for (let i = at_ms.length - 1; i >= 0 && at_ms[i]! > now_ms + step_ms_max; i--)
      at_ms[i] = now_ms
  }

  return {
    used(now_ms) {
      forget(now_ms)
      return sum
    },
    add(now_ms, step_ms) {
      const at = Math.ceil(now_ms / step_ms) * step_ms
      sum += 1
      if (at_ms.length > 0 && at_ms.at(-1)! >= at) counts[counts.length - 1]! += 1
      else {
        at_ms.push(at)
        counts.push(1)
      }
    },
    replace(window) {
      at_ms = window.at_ms
      counts = window.counts
      sum = counts.reduce((total, count) => total + count, 0)
    },
    window(now_ms) {
      forget(now_ms)
      return { at_ms: [...at_ms], counts: [...counts] }
    },
    secondsToReset(now_ms) {
      forget(now_ms)
      const [oldest_ms] = at_ms
      return oldest_ms === undefined ? 0 : Math.ceil((oldest_ms + rate_window_ms - now_ms) / 1000)
    },
  }
}
