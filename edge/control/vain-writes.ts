/** Spares the register of a device: what it takes to no effect is set ever more seldom. */

const times_min = 5
const pause_ms = { first: 20_000, longest: 600_000 }

export class VainWrites {
  #last: { limit_w: number; found_w: number | null; times: number; until_ms: number } | null = null

  /** It took that, and shows something else. */
  add(limit_w: number, found_w: number | null, now_ms: number): void {
    const times = this.#last?.limit_w === limit_w ? this.#last.times + 1 : 1
    const pause = Math.min(pause_ms.longest, pause_ms.first * 2 ** (times - times_min))
    const until_ms = times < times_min ? 0 : now_ms + pause
    this.#last = { limit_w, found_w, times, until_ms }
  }

  /** Another answer than before deserves another try. */
  onRead(found_w: number | null, is_proven: boolean): void {
    if (is_proven || found_w !== this.#last?.found_w) this.#last = null
  }

  forget(): void {
    this.#last = null
  }

  isVain(limit_w: number, now_ms: number): boolean {
    return this.#last?.limit_w === limit_w && now_ms < this.#last.until_ms
  }
}
