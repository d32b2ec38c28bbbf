/**
 * A PCS that stands may say that it is off, and start when it is told power. One that stays off all
 * the same, as switched off by somebody, is not told power for long: it would begin with that
 * whenever it is switched on, and the others would wait for it. Time in ms of a stopwatch.
 */

/** From being told power on, it begins to start within this. */
const starting_ms = 60_000
/** One that did not is told again after so long. */
const rest_ms = 300_000

export class PcsStart {
  #since_ms: number | null = null
  #rests_until_ms = Number.NEGATIVE_INFINITY

  /** At each read. */
  look({ is_off, told_w }: { is_off: boolean; told_w: number }, now_ms: number): void {
    if (!is_off) this.#rests_until_ms = Number.NEGATIVE_INFINITY
    this.#since_ms = is_off && told_w !== 0 ? (this.#since_ms ?? now_ms) : null
    if (this.#since_ms === null || now_ms - this.#since_ms < starting_ms) return
    this.#rests_until_ms = now_ms + rest_ms
    this.#since_ms = null
  }

  isResting(now_ms: number): boolean {
    return now_ms < this.#rests_until_ms
  }
}
