/**
 * The most that each PCS may have been told to discharge, as a later run of the program has to
 * know: it is on disk before the PCS is told more. In steps,
 * so that what varies is no row of writes.
 */
import { pcsId } from '../control/device-name.ts'
import type { ControlledPcs } from './controlled-pcs.ts'

export interface Wanted {
  bess_id: number
  pcs: ControlledPcs
  /** Where it is to come to, with time and room. */
  wanted_w: number
}

const step_ratio = 0.02
/** Lowered when so much less was enough for so long. */
const lasting_ms = 60_000

const keyOf = (bess_id: number, pcs_idx: number) => pcsId({ bess_id, pcs_idx })

export class MostTold {
  #durable_w: ReadonlyMap<string, number>
  readonly #wanted_w: Map<string, number>
  readonly #lately = new Map<string, LatelyMost>()

  constructor(durable_w: ReadonlyMap<string, number>) {
    this.#durable_w = durable_w
    this.#wanted_w = new Map(durable_w)
  }

  /** What an earlier run left; null: nothing is known of it. */
  before(bess_id: number, pcs_idx: number): number | null {
    return this.#durable_w.get(keyOf(bess_id, pcs_idx)) ?? null
  }

  /** The most that it may be told now. */
  durable_w(bess_id: number, pcs_idx: number): number {
    const key = keyOf(bess_id, pcs_idx)
    return Math.min(this.#durable_w.get(key) ?? 0, this.#wanted_w.get(key) ?? 0)
  }

  /** At each tick; whether it is to be saved. */
  look(all: readonly Wanted[], now_ms: number): boolean {
    for (const { bess_id, pcs, wanted_w } of all) {
      const key = keyOf(bess_id, pcs.pcs_idx)
      const held_w = Math.max(0, wanted_w, pcs.power.mayHold_w(now_ms))
      const step_w = step_ratio * pcs.rated_w
      let lately = this.#lately.get(key)
      if (!lately) {
        lately = new LatelyMost(lasting_ms)
        lately.look(this.#wanted_w.get(key) ?? 0, now_ms)
        this.#lately.set(key, lately)
      }
      this.#wanted_w.set(key, lately.look(step_w * Math.ceil(held_w / step_w), now_ms))
    }
    return [...this.#wanted_w].some(([key, w]) => this.#durable_w.get(key) !== w)
  }

  wanted(): ReadonlyMap<string, number> {
    return new Map(this.#wanted_w)
  }

  saved(durable_w: ReadonlyMap<string, number>): void {
    this.#durable_w = durable_w
  }
}

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
