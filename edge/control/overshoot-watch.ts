/** Whether a device delivers more than its limit, and for how long already. Power in watts. */

const overshoot_ratio = 0.02
const overshoots_max = 3
/** It may take so long to come down to a new limit. */
const settling_ms = 30_000

export class OvershootWatch {
  /** What it may still be coming down from. */
  #descents: { from_w: number; until_ms: number }[] = []
  #count = 0

  /** So often in a row that it does not obey. */
  get is_over(): boolean {
    return this.#count >= overshoots_max
  }

  /** It is told to come down. */
  descends(from_w: number, now_ms: number): void {
    this.#descents = this.#descents.filter(({ until_ms }) => now_ms < until_ms)
    this.#descents.push({ from_w, until_ms: now_ms + settling_ms })
  }

  /** @return what it surely delivers, measured together with its limit */
  look(power_w: number, { bound_w, ramp_w, rated_w }: Bound, now_ms: number): number {
    const over_w = power_w - overshoot_ratio * rated_w
    if (over_w <= bound_w) this.#count = 0
    else if (over_w > Math.max(ramp_w, this.#descentAt(now_ms))) this.#count += 1
    return over_w
  }

  #descentAt(now_ms: number): number {
    const active = this.#descents.filter(({ until_ms }) => now_ms < until_ms)
    return Math.max(0, ...active.map(({ from_w }) => from_w))
  }
}

interface Bound {
  bound_w: number
  /** Its power may still be coming down from this. */
  ramp_w: number
  rated_w: number
}
