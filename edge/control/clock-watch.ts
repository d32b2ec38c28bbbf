/** Rows begin and end by the wall clock: after it jumped, nothing is raised for a while. */

const jump_ms_min = 60_000
const hold_ms = 60_000

export class ClockWatch {
  /** Unix ms; a first look that is before this finds a clock that was set back meanwhile. */
  readonly #latest_at: number
  #offset_ms: number | null = null
  #held_until_ms = Number.NEGATIVE_INFINITY

  constructor(latest_at: number) {
    this.#latest_at = latest_at
  }

  /** Whether raises may go by this time: Unix ms, and ms of the stopwatch. At each tick. */
  look(now: number, now_ms: number): boolean {
    const offset_ms = now - now_ms
    const before_ms = this.#offset_ms ?? Math.max(offset_ms, this.#latest_at - now_ms)
    const jumped_ms = Math.abs(offset_ms - before_ms)
    this.#offset_ms = offset_ms
    if (jumped_ms > jump_ms_min) this.#held_until_ms = now_ms + hold_ms
    return now_ms >= this.#held_until_ms
  }
}
