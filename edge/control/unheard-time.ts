/** For how long a device has not been heard of, over restarts too. Time in ms of a stopwatch. */

/** So many times within `fresh_ms` is put down that it was not heard of. */
const steps_max = 5

export class UnheardTime {
  readonly #fresh_ms: number
  readonly #before_ms: number
  #looked_at_ms: number | null = null

  /** @param before_ms as it was when an earlier program ended */
  constructor(fresh_ms: number, before_ms: number) {
    this.#fresh_ms = fresh_ms
    this.#before_ms = before_ms
  }

  /** In a few steps up to `fresh_ms`. @param read_at_ms null: not read by this program */
  look(read_at_ms: number | null, now_ms: number): number {
    this.#looked_at_ms ??= now_ms
    const unread_ms = this.#before_ms + now_ms - this.#looked_at_ms
    const unheard_ms = read_at_ms === null ? unread_ms : now_ms - read_at_ms
    const step_ms = this.#fresh_ms / steps_max
    const steps = Math.min(steps_max, Math.floor(unheard_ms / step_ms))
    // A poll may be late without a word.
    const is_late = read_at_ms === null || steps > steps_max / 2
    return is_late ? steps * step_ms : 0
  }
}
