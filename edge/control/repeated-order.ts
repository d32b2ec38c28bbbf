/**
 * Recognizes a device that makes more of a limit than it is told, by the order of commands: it came
 * down when it was told, and stays where it came to however often it is told the same. A limit of
 * another master gives way to the command, or comes back at once whenever it is overwritten. Power
 * in whole watts, time in ms of a stopwatch.
 */

const times_min = 4
const lasting_ms_min = 15_000

export class RepeatedOrder {
  #order: { asked_w: number; from_w: number; external_w: number | null; since_ms: number } | null =
    null
  #found_w: number | null = null
  #times = 0

  /** @param from_w what it held then */
  told(asked_w: number, from_w: number, external_w: number | null, now_ms: number): void {
    if (this.#order?.asked_w === asked_w) return
    // What it made of the order before counted as another's, and as none before that.
    const is_of_order = this.#order !== null && external_w !== null && external_w === this.#found_w
    const before_w = is_of_order ? this.#order!.external_w : external_w
    this.#times = 0
    this.#found_w = null
    this.#order = { asked_w, from_w, external_w: before_w, since_ms: now_ms }
  }

  /** It answered that it took the newest: what it refuses it makes nothing of. */
  taken(): void {
    this.#times += 1
  }

  /** What it was told is not what was seen last, as after a silence. */
  forget(): void {
    this.#order = null
  }

  /** The limit of another that was known before, where `found_w` is what it makes of the order. */
  isMade(found_w: number, now_ms: number): { external_w: number | null } | null {
    const order = this.#order
    if (!order || found_w >= order.from_w) return null
    this.#found_w ??= found_w
    if (found_w <= order.asked_w || found_w !== this.#found_w) {
      this.#order = null
      return null
    }
    const is_certain = this.#times >= times_min && now_ms - order.since_ms >= lasting_ms_min
    return is_certain ? { external_w: order.external_w } : null
  }
}
