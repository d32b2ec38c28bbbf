/** Rows begin and end by the wall clock: after it jumped, nothing is raised for a while. */

const jump_ms_min = 60_000
const hold_ms = 60_000

export class ClockWatch {
  #offset_ms: number | null = null
  #held_until_ms = Number.NEGATIVE_INFINITY

  /** Whether raises may go by this time: Unix ms, and ms of the stopwatch. At each tick. */
  look(now: number, now_ms: number): boolean {
    const offset_ms = now - now_ms
    const jumped_ms = Math.abs(offset_ms - (this.#offset_ms ?? offset_ms))
    this.#offset_ms = offset_ms
    if (jumped_ms > jump_ms_min) this.#held_until_ms = now_ms + hold_ms
    return now_ms >= this.#held_until_ms
  }
}
