/** What comes off a ceiling for batteries: what has been needed of late. Whole watts. */

/** So long it goes on when less is needed: what strays does not rewrite limits of plants. */
const lasting_ms = 5000

export class BatteryShare {
  /** Each less than those before it. */
  #needs: { need_w: number; at_ms: number }[] = []

  /** Rises at once, and falls when it has not been needed for a while. */
  look(need_w: number, now_ms: number): number {
    const lasting = this.#needs.filter(
      (one) => now_ms - one.at_ms < lasting_ms && one.need_w > need_w,
    )
    this.#needs = [...lasting, { need_w, at_ms: now_ms }]
    return this.#needs[0]!.need_w
  }
}
