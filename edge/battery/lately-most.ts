/** The most of late: it rises at once, and falls when there was less for a while. */
export class LatelyMost {
  readonly #lasting_ms: number
  /** Each less than those before it. */
  #all: { power_w: number; at_ms: number }[] = []

  constructor(lasting_ms: number) {
    this.#lasting_ms = lasting_ms
  }

  look(power_w: number, now_ms: number): number {
    const lasting = this.#all.filter(
      (one) => now_ms - one.at_ms < this.#lasting_ms && one.power_w > power_w,
    )
    this.#all = [...lasting, { power_w, at_ms: now_ms }]
    return this.#all[0]!.power_w
  }
}
