/** When measured power is noted again: each minute, and sooner where it changed. */

const every_ms = 60_000
/** Power that changed by so much of what was noted last is noted before that. */
const change_ratio = 0.01
/** No sooner: the devices of a plant are read one after the other. */
const again_ms = 5000

export class PowerPace {
  readonly #last = new Map<number, { power_w: number | null; at_ms: number }>()

  /** Whether it is to be noted now; then it counts as noted. */
  isDue(id: number, power_w: number | null, now_ms: number): boolean {
    const last = this.#last.get(id)
    const since_ms = last ? now_ms - last.at_ms : every_ms
    const change_w = Math.abs((power_w ?? 0) - (last?.power_w ?? 0))
    const has_changed = change_w > change_ratio * Math.abs(last?.power_w ?? 0)
    if (since_ms < (has_changed ? again_ms : every_ms)) return false
    this.#last.set(id, { power_w, at_ms: now_ms })
    return true
  }
}
