/** Whether a device lives, by a count that it goes on with. */
import { heartbeatPolls } from '@heliograph/domain/heartbeat'

export interface Heartbeat {
  /** Takes what a poll showed. Null where the device has none, or too little was seen. */
  onCount(count: number | null): boolean | null
}

/** All waiting is counted in polls: the clock may step. */
export function createHeartbeat(interval_ms: number): Heartbeat {
  const polls_max = heartbeatPolls(interval_ms / 1000)
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
