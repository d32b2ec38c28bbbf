/** The rows that are known: heard, made durable, in force, reported, and at last forgotten. */
import {
  type CurtailmentRow,
  type OutsideSource,
  type RowReport,
  rowKey,
} from '@heliograph/domain/curtailment'
import type { WallTime } from './clock-watch.ts'
import type { ControlStore } from './control-store.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { newlyHeld, type PlantLook, RowWatch } from './row-watch.ts'

type RowStore = Pick<ControlStore, 'rows' | 'is_rows_lost' | 'saveRows'>

export class RowBook {
  readonly #store: RowStore
  readonly #rows = new Map<string, RowWatch>()
  /** Not known to be durable yet: they are obeyed, and nothing of them is told. */
  readonly #unsaved = new Set<string>()
  /** As they are on disk; progress reports aside. */
  readonly #stored = new WeakSet<CurtailmentRow>()
  /** To be reported, once they are durable. */
  readonly #due = new Set<RowWatch>()
  /** Resolves when all is durable that is known when it begins. */
  readonly save = oneAtATime(() => this.#save())
  #is_reporting = false
  #is_lost: boolean
  /** By the server, since the start. */
  #is_told = false
  /** Rows on their way into the control log. */
  readonly #noting = new Set<Promise<void>>()
  readonly #note: (row: CurtailmentRow) => Promise<unknown>

  /** `note` writes a row into the control log; it never rejects. */
  constructor(
    store: RowStore,
    now_ms: number,
    note: (row: CurtailmentRow) => Promise<unknown> = async () => {},
  ) {
    this.#store = store
    this.#note = note
    this.#is_lost = store.is_rows_lost ?? false
    for (const held of store.rows) {
      this.#rows.set(rowKey(held.row), new RowWatch(held, now_ms))
      this.#stored.add(held.row)
    }
  }

  /**
   * Takes the rows of the server in; gives those that are new, and those of which their release is.
   * Of orders from outside the edge knows better, unless it has lost them.
   */
  hear(rows: readonly CurtailmentRow[], now: number, now_ms: number): CurtailmentRow[] {
    this.#is_told = true
    const isFromOutside = (row: CurtailmentRow) =>
      (this.#rows.get(rowKey(row))?.held.row ?? row).source !== undefined
    const told = this.#is_lost ? rows : rows.filter((row) => !isFromOutside(row))
    return this.take(told, now, now_ms)
  }

  /** The same for orders from outside, of which the server knows nothing yet. */
  take(rows: readonly CurtailmentRow[], now: number, now_ms: number): CurtailmentRow[] {
    const news = rows.filter((row) => {
      const key = rowKey(row)
      const known = this.#rows.get(key)
      if (known && !known.hear(row, now)) return false
      if (!known) this.#rows.set(key, new RowWatch(newlyHeld(row, now), now_ms))
      this.#unsaved.add(key)
      return true
    })
    for (const row of news) this.#noteDown(row)
    return news
  }

  #noteDown(row: CurtailmentRow): void {
    const noting = this.#note(row).then(() => void this.#noting.delete(noting))
    this.#noting.add(noting)
  }

  /** Rows were lost, and the server did not tell them durably since: each may be in force. */
  get is_lost(): boolean {
    return this.#is_lost
  }

  get is_saved(): boolean {
    return this.#unsaved.size === 0 && !(this.#is_lost && this.#is_told)
  }

  get is_reporting(): boolean {
    return this.#is_reporting
  }

  /** Nothing waits for the disk. */
  get is_idle(): boolean {
    return this.is_saved && !this.#is_reporting
  }

  async #save(): Promise<void> {
    // A file would say that nothing is missing, over restarts too.
    if (this.#is_lost && !this.#is_told) return
    const saving = [...this.#unsaved]
    const saved = [...this.#rows.values()].map(({ held }) => held)
    // What is durable is no news after a restart, and would never be in the log.
    await Promise.all(this.#noting)
    await this.#store.saveRows(saved)
    this.#is_lost = false
    for (const { row } of saved) this.#stored.add(row)
    const durable = new Set(saved)
    for (const key of saving) {
      // One that was heard of again meanwhile is to be saved again.
      const held = this.#rows.get(key)?.held
      if (!held || durable.has(held)) this.#unsaved.delete(key)
    }
  }

  /** Whether each of these rows is on disk as it is known, whatever is still to be reported. */
  isStored(rows: readonly CurtailmentRow[]): boolean {
    return rows.every((row) => {
      const watch = this.#rows.get(rowKey(row))
      return watch !== undefined && this.#stored.has(watch.held.row)
    })
  }

  /** Orders from outside in force. */
  fromOutside(source: OutsideSource): CurtailmentRow[] {
    const rows = [...this.#rows.values()].map(({ held }) => held.row)
    return rows.filter((row) => row.source === source && row.released_at === null)
  }

  /** By plant. */
  inForce(at: WallTime): Map<number, CurtailmentRow[]> {
    const watches = [...this.#rows.values()].filter((watch) => watch.holds(at))
    const rows = watches.map(({ held }) => held.row)
    return Map.groupBy(rows, ({ logger_id }) => logger_id)
  }

  /** The plants of which a row holds, or was applied and is not restored. */
  bound(at: WallTime): Set<number> {
    const watches = [...this.#rows.values()].filter((watch) => watch.isBinding(at))
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

  /** Goes along with the plants: what is to be reported of them comes with `report`. */
  look(at: WallTime, now_ms: number, lookAt: (logger_id: number) => PlantLook): void {
    const looks = new Map<number, PlantLook>()
    for (const [key, watch] of this.#rows) {
      if (watch.isForgotten(at, now_ms)) this.#rows.delete(key)
      const { logger_id } = watch.held.row
      if (!watch.isUnderWay(at)) continue
      const look = looks.get(logger_id) ?? lookAt(logger_id)
      looks.set(logger_id, look)
      if (watch.look(look)) this.#due.add(watch)
    }
  }

  /**
   * Makes durable what is not, and reports what is due. What comes due meanwhile is reported too,
   * by the call that is under way: a disk that hangs gathers no calls.
   *
   * @throws where it cannot be made durable; then it is due again
   */
  async report(onReport: (reports: RowReport[]) => void): Promise<void> {
    if (this.#is_reporting) return
    this.#is_reporting = true
    try {
      while (this.#due.size > 0 || !this.is_saved) await this.#reportDue(onReport)
    } finally {
      this.#is_reporting = false
    }
  }

  async #reportDue(onReport: (reports: RowReport[]) => void): Promise<void> {
    const due = [...this.#due]
    const reports = due.map(({ held }) => held)
    this.#due.clear()
    try {
      await this.save()
    } catch (error) {
      for (const watch of due) watch.untell()
      throw error
    }
    if (reports.length > 0) onReport(reports)
  }
}
