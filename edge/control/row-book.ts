/** The rows that are known: heard, made durable, in force, reported, and at last forgotten. */
import {
  type CurtailmentRow,
  isInForce,
  type RowReport,
  rowKey,
} from '@heliograph/domain/curtailment'
import type { ControlStore } from './control-store.ts'
import { newlyHeld, type PlantLook, RowWatch } from './row-watch.ts'

export class RowBook {
  readonly #store: Pick<ControlStore, 'rows' | 'saveRows'>
  readonly #rows = new Map<string, RowWatch>()
  /** Not known to be durable yet: they are obeyed, and nothing of them is told. */
  readonly #unsaved = new Set<string>()

  constructor(store: Pick<ControlStore, 'rows' | 'saveRows'>, now_ms: number) {
    this.#store = store
    for (const held of store.rows) this.#rows.set(rowKey(held.row), new RowWatch(held, now_ms))
  }

  /** Takes rows in; gives those that are new, and those of which their release is. */
  hear(rows: readonly CurtailmentRow[], now: number, now_ms: number): CurtailmentRow[] {
    return rows.filter((row) => {
      const key = rowKey(row)
      const known = this.#rows.get(key)
      if (known && !known.hear(row)) return false
      if (!known) this.#rows.set(key, new RowWatch(newlyHeld(row, now), now_ms))
      this.#unsaved.add(key)
      return true
    })
  }

  get is_saved(): boolean {
    return this.#unsaved.size === 0
  }

  async save(): Promise<void> {
    const saving = [...this.#unsaved]
    const saved = [...this.#rows.values()].map(({ held }) => held)
    await this.#store.saveRows(saved)
    const durable = new Set(saved)
    for (const key of saving) {
      // One that was heard of again meanwhile is to be saved again.
      const held = this.#rows.get(key)?.held
      if (!held || durable.has(held)) this.#unsaved.delete(key)
    }
  }

  /** By plant. */
  inForce(now: number): Map<number, CurtailmentRow[]> {
    const rows = [...this.#rows.values()].map(({ held }) => held.row)
    return Map.groupBy(
      rows.filter((row) => isInForce(row, now)),
      ({ logger_id }) => logger_id,
    )
  }

  /** The plants of which a row holds, or was applied and is not restored. */
  bound(now: number): Set<number> {
    const watches = [...this.#rows.values()].filter((watch) => watch.isBinding(now))
    return new Set(watches.map(({ held }) => held.row.logger_id))
  }

  /** How long until a row begins or ends. */
  untilNext(now: number): number {
    let until_ms = Number.POSITIVE_INFINITY
    for (const { held } of this.#rows.values()) {
      const { start_at, end_at } = held.row
      for (const at of [start_at, end_at]) if (at > now) until_ms = Math.min(until_ms, at - now)
    }
    return until_ms
  }

  /** What is to be reported, once it was saved. */
  look(now: number, lookAt: (logger_id: number) => PlantLook): RowWatch[] {
    const looks = new Map<number, PlantLook>()
    const due: RowWatch[] = []
    for (const [key, watch] of this.#rows) {
      if (watch.isForgotten(now)) this.#rows.delete(key)
      const { logger_id } = watch.held.row
      if (!watch.isUnderWay(now)) continue
      const look = looks.get(logger_id) ?? lookAt(logger_id)
      looks.set(logger_id, look)
      if (watch.look(look)) due.push(watch)
    }
    return due
  }

  /** @throws where it cannot be made durable; then it is due again */
  async report(due: readonly RowWatch[]): Promise<RowReport[]> {
    const reports = due.map(({ held }) => held)
    try {
      await this.save()
    } catch (error) {
      for (const watch of due) watch.untell()
      throw error
    }
    return reports
  }
}
