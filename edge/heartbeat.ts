/** Whether a device lives, by a count that it goes on with. */

export interface Heartbeat {
  /** Takes what a poll showed. Null where the device has none, or too little was seen. */
  onCount(count: number | null): boolean | null
}

/** A count that stands for so long is no sign of life: it goes on each second. */
const stands_ms_max = 10_000
const polls_min = 3

/** All waiting is counted in polls: the clock may step. */
export function createHeartbeat(interval_ms: number): Heartbeat {
  const polls_max = Math.max(polls_min, Math.ceil(stands_ms_max / interval_ms))
  let before: number | null = null
  let stood = 0
  let has_moved = false
  return {
    onCount(count) {
      if (count === null) return null
      const moved = before !== null && count !== before
      stood = moved || before === null ? 0 : stood + 1
      has_moved ||= moved
      before = count
      if (stood >= polls_max) return false
      return has_moved ? true : null
    },
  }
}
