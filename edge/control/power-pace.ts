/** When measured power is noted again: each minute, and sooner where it changed. */

const every_ms = 60_000
/** Power that changed by so much of what was noted last is noted before that. */
const change_ratio = 0.01
const again_ms = 5000
/** Without a poll round: later than any round comes, and sooner than the proof finds a gap. */
const unmeasured_ms = 130_000

export class PowerPace {
  #last: { powers: readonly (number | null)[]; at_ms: number } | null = null

  /**
   * Whether it is to be noted now; then it counts as noted.
   * @param powers of a poll round, in watts, always in the same order; null: there was no round
   */
  isDue(powers: readonly (number | null)[] | null, now_ms: number): boolean {
    const is_first = this.#last === null
    const last = this.#last ?? { powers: [], at_ms: now_ms }
    this.#last = last
    const pace_ms = powers === null ? unmeasured_ms : hasChanged(powers, last) ? again_ms : every_ms
    if (!(is_first && powers !== null) && now_ms - last.at_ms < pace_ms) return false
    this.#last = { powers: powers ?? last.powers, at_ms: now_ms }
    return true
  }
}

function hasChanged(
  powers: readonly (number | null)[],
  { powers: before }: { powers: readonly (number | null)[] },
): boolean {
  return powers.some((power_w, nth) => {
    const last_w = before[nth] ?? 0
    return Math.abs((power_w ?? 0) - last_w) > change_ratio * Math.abs(last_w)
  })
}
