/**
 * The most that each PCS may have been told to discharge, as a later run of the program has to
 * know: it is on disk before the PCS is told more. In steps,
 * so that what varies is no row of writes.
 */
import { pcsId } from '../control/pcs-name.ts'
import type { ControlledPcs } from './controlled-pcs.ts'

export interface Wanted {
  bess_id: number
  pcs: ControlledPcs
  /** Where it is to come to, with time and room. */
  wanted_w: number
}

const step_ratio = 0.02
/** Lowered when so much less was enough for so long. */
const lowered_ms = 60_000

const keyOf = (bess_id: number, pcs_idx: number) => pcsId({ bess_id, pcs_idx })

export class MostTold {
  #durable_w: ReadonlyMap<string, number>
  readonly #wanted_w: Map<string, number>
  readonly #enough = new Map<string, number>()

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
      const needed_w = step_w * Math.ceil(held_w / step_w)
      const known_w = this.#wanted_w.get(key)
      if (known_w !== undefined && needed_w >= known_w) this.#enough.delete(key)
      const since_ms = this.#enough.get(key) ?? now_ms
      if (known_w !== undefined && needed_w < known_w) this.#enough.set(key, since_ms)
      const is_lower = needed_w < (known_w ?? 0) && now_ms - since_ms >= lowered_ms
      if (known_w === undefined || needed_w > known_w || is_lower) {
        this.#wanted_w.set(key, needed_w)
        this.#enough.delete(key)
      }
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
