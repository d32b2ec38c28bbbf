/**
 * What the control log holds of batteries: each setpoint that a PCS is told, what was read of it
 * since, and what is measured. What raises is not sent before its entry is on disk.
 */
import type { Stopwatch } from '@heliograph/domain/clock'
import type { PcsFound } from '../control/control-entry.ts'
import type { ControlNotes } from '../control/control-notes.ts'
import { type ListedPcs, type PcsKey, pcsId } from '../control/device-name.ts'
import type { ControlledPcs, PcsOrder } from './controlled-pcs.ts'
import type { ControlledUnit } from './controlled-unit.ts'

interface NotedOrder extends PcsOrder, PcsKey {
  pcs: ControlledPcs
  is_raise: boolean
}

/** Where the log takes nothing no raise is tried for so long. */
const unwritten_ms = 10_000

export class PcsNotes {
  readonly #notes: ControlNotes
  readonly #stopwatch: Stopwatch
  /** By PCS, as noted last; none since an order. */
  readonly #found = new Map<string, string>()
  /** By PCS: what is being written down, and is sent after that. */
  readonly #announced = new Map<string, number>()
  #retry_ms = Number.NEGATIVE_INFINITY

  constructor(notes: ControlNotes, stopwatch: Stopwatch) {
    this.#notes = notes
    this.#stopwatch = stopwatch
  }

  /** At each tick, before anything is decided on. @param left those that site.yaml has no more */
  look(units: readonly ControlledUnit[], left: readonly ListedPcs[]): void {
    const now_ms = this.#stopwatch.elapsedMs()
    for (const unit of units) {
      const { bess_id } = unit
      for (const pcs of unit.pcs) {
        // Until then it goes on with what the log has of it.
        if (!pcs.power.isKnown(now_ms)) continue
        this.#find(this.#foundOf({ bess_id, pcs_idx: pcs.pcs_idx }, pcs, now_ms))
      }
    }
    for (const { bess_id, pcs_idx, max_w: discharge_max_w } of left) {
      const unknown = { setpoint_w: null, held_max_w: 0, falls_back_to_w: null }
      this.#find({ bess_id, pcs_idx, obeys: 'silent', ...unknown, discharge_max_w })
    }
  }

  /** Writes down what it is told, and has it carried out. Never rejects. */
  async carryOut({ pcs, bess_id, pcs_idx, is_raise, ...order }: NotedOrder): Promise<void> {
    const { power_w, mayStill } = order
    const id = pcsId({ bess_id, pcs_idx })
    // It holds that already: its time begins anew.
    if (pcs.power.isAt(power_w)) return await pcs.carryOut(order)
    const now_ms = this.#stopwatch.elapsedMs()
    if (is_raise && (this.#announced.has(id) || now_ms < this.#retry_ms)) {
      const held_w = pcs.told_w
      // Meanwhile it goes on as it is.
      const is_due = pcs.power.isAt(held_w) && pcs.needs(held_w)
      return is_due ? await pcs.carryOut({ mayStill, power_w: held_w }) : undefined
    }
    const noted = this.#notes.noted({ is: 'pcs_order', bess_id, pcs_idx, power_w, is_raise })
    this.#found.delete(id)
    if (!is_raise) return await pcs.carryOut(order)
    this.#announced.set(id, power_w)
    const is_noted = await noted
    this.#announced.delete(id)
    if (!is_noted) this.#retry_ms = this.#stopwatch.elapsedMs() + unwritten_ms
    else if (mayStill()) await pcs.carryOut(order)
  }

  #foundOf(key: PcsKey, { power }: ControlledPcs, now_ms: number): PcsFound {
    const { state, ceiling_w } = power
    const why = power.unknownWhy(now_ms)
    // What its registers say while its count stands is as little as nothing.
    const obeys = why === null ? 'yes' : why === 'lost' ? 'silent' : why
    const announced_w = this.#announced.get(pcsId(key)) ?? 0
    return {
      ...key,
      obeys,
      setpoint_w: state?.setpoint_w ?? null,
      held_max_w: Math.max(power.mayHold_w(now_ms), announced_w),
      discharge_max_w: ceiling_w,
      falls_back_to_w: state?.revert?.to_w ?? null,
    }
  }

  #find(found: PcsFound): void {
    const text = JSON.stringify(found)
    if (this.#found.get(pcsId(found)) === text) return
    this.#found.set(pcsId(found), text)
    this.#notes.note({ is: 'pcs', ...found })
  }
}
