/**
 * Power that was measured above what a plant, or the common connection, may deliver, whatever the
 * limits of the devices say. It is told at once. A device that does not obey is known by then, or
 * soon; what none explains comes off the ceiling until it is gone.
 */
import type { PlantPower } from './row-watch.ts'

/** What meters err by. */
const tolerance_ratio = 0.01
const polls_min = 3
/** Devices may take so long to come down to a lower permit. */
const settling_ms = 30_000
/** By then it is known of each device whether it obeys, and the others have made room for it. */
const unexplained_ms_max = 60_000
/** So slowly what was taken off comes back, once there is room for it; of the permit. */
const back_every_ms = 60_000
const back_ratio = 0.02

export interface Allowed {
  /** The permit, its guard taken off; null: none is known. */
  most_w: number | null
  /** What the devices may deliver at worst, as far as is known. */
  worst_w: number
}

export interface Excess {
  measured_w: number
  /** Of that, what is above the permit less its guard. */
  excess_w: number
}

export class ExcessWatch {
  #most_w = 0
  /** Measurements before this may be of a time when more was allowed. */
  #settled_ms = Number.POSITIVE_INFINITY
  #measured_ms = Number.NEGATIVE_INFINITY
  /** Measurements in a row. */
  #above = 0
  #within = 0
  #is_exceeded = false
  /** As measured last above the permit. */
  #excess: Excess | null = null
  /** Since when more is measured than the limits of the devices explain. */
  #unexplained_ms: number | null = null
  #given_back_ms = Number.NEGATIVE_INFINITY
  #cut_w = 0

  /** null: none was measured, or it was measured to be over since. */
  get excess(): Excess | null {
    return this.#is_exceeded ? this.#excess : null
  }

  /** Whole watts, from 0 to the permit. */
  get cut_w(): number {
    return this.#cut_w
  }

  /** At each tick; gives `excess`. */
  look({ most_w, worst_w }: Allowed, power: PlantPower | null, now_ms: number): Excess | null {
    if (most_w === null) this.#forget()
    else this.#judge(most_w, worst_w, power, now_ms)
    return this.excess
  }

  #judge(most_w: number, worst_w: number, power: PlantPower | null, now_ms: number): void {
    const is_lower = most_w < this.#most_w || this.#settled_ms === Number.POSITIVE_INFINITY
    if (is_lower) this.#settled_ms = now_ms + settling_ms
    this.#most_w = most_w
    this.#cut_w = Math.min(this.#cut_w, most_w)
    if (!power || power.from_ms <= this.#measured_ms) return
    this.#measured_ms = power.to_ms
    const is_above = power.measured_w > most_w * (1 + tolerance_ratio)
    if (is_above && power.from_ms < this.#settled_ms) return
    if (is_above) {
      const { measured_w } = power
      this.#excess = { measured_w, excess_w: measured_w - most_w }
    }
    this.#above = is_above ? this.#above + 1 : 0
    this.#within = is_above ? 0 : this.#within + 1
    if (this.#above >= polls_min) this.#is_exceeded = true
    if (this.#within >= polls_min) this.#is_exceeded = false
    const is_explained = worst_w > most_w
    if (!is_above || is_explained) this.#unexplained_ms = null
    else this.#takeOff(Math.ceil(power.measured_w - most_w), power.from_ms)
    if (!is_above) this.#giveBack(most_w * (1 - tolerance_ratio) - power.measured_w)
  }

  #takeOff(excess_w: number, at_ms: number): void {
    this.#given_back_ms = at_ms
    this.#unexplained_ms ??= at_ms
    if (!this.#is_exceeded || at_ms - this.#unexplained_ms < unexplained_ms_max) return
    this.#unexplained_ms = null
    this.#cut_w = Math.min(this.#most_w, this.#cut_w + excess_w)
  }

  /** Only where there is room: else it would be too much again. */
  #giveBack(room_w: number): void {
    if (!(room_w > 0) || this.#measured_ms - this.#given_back_ms < back_every_ms) return
    this.#given_back_ms = this.#measured_ms
    const most_back_w = Math.ceil(this.#most_w * back_ratio)
    this.#cut_w = Math.max(0, this.#cut_w - Math.min(most_back_w, Math.floor(room_w)))
  }

  #forget(): void {
    this.#most_w = 0
    this.#settled_ms = Number.POSITIVE_INFINITY
    this.#above = 0
    this.#is_exceeded = false
    this.#unexplained_ms = null
    this.#cut_w = 0
  }
}
