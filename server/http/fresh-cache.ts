import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Log } from '../storage/database.ts'
import { unavailable } from './errors.ts'
import { periodically } from './periodic.ts'

/** Maximum age of an entry, also when a notification was lost. */
export const fresh_ms = 1000
const refresh_ms = 400
/** Entries that are unused for this long are dropped. */
const idle_ms = 60_000
const entries_max = 10_000

interface Entry<Row> {
  row: Row | null
  /** Start of the query: the row contains everything committed before. */
  read_ms: number
  used_ms: number
}

/**
 * A cache of rows that every request needs, never stale by more than a second. Entries in use are
 * re-read together in the background, so that requests do not wait for queries. When the refresh
 * fails or lags, an entry expires and is read at its next use.
 */
export function freshCache<Row>(deps: {
  load(ids: readonly string[]): Promise<ReadonlyMap<string, Row>>
  /** Name of the rows, for the log. */
  name: string
  clock: Clock
  timers: Timers
  log: Log
}) {
  const entries = new Map<string, Entry<Row>>()
  const reading = new Map<string, Promise<Row | null>>()
  const now = () => deps.clock.now().getTime()
  const refreshing = periodically(deps, `reading ${deps.name} again`, refresh_ms, refresh)

  /** Re-reads entries in use. */
  async function refresh(): Promise<void> {
    const began_ms = now()
    dropUnused(entries, began_ms)
    const before = new Map([...entries].filter(([, entry]) => entry.row !== null))
    if (before.size === 0) return
    const rows = await deps.load([...before.keys()])
    for (const [id, entry] of before) {
      // The entry was dropped or re-read while the query ran.
      if (entries.get(id) !== entry) continue
      entry.row = rows.get(id) ?? null
      entry.read_ms = began_ms
    }
  }

  async function load(id: string): Promise<Row | null> {
    const began_ms = now()
    const row = (await deps.load([id])).get(id) ?? null
    const ended_ms = now()
    if (ended_ms - began_ms > fresh_ms) throw unavailable()
    if (entries.size >= entries_max) entries.delete(entries.keys().next().value!)
    entries.set(id, { row, read_ms: began_ms, used_ms: ended_ms })
    return row
  }

  return {
    /** The cached row, null when it does not exist, undefined when it must be read. */
    peek(id: string): Row | null | undefined {
      const entry = entries.get(id)
      if (entry === undefined) return undefined
      const now_ms = now()
      const age_ms = now_ms - entry.read_ms
      // A negative age means that the clock was set back.
      if (age_ms < 0 || age_ms > fresh_ms) return undefined
      entry.used_ms = now_ms
      return entry.row
    },
    /** Reads the row. Rejects when the database does not answer within a second. */
    read(id: string): Promise<Row | null> {
      const joined = reading.get(id)
      if (joined !== undefined) return joined
      const read = load(id).finally(() => {
        if (reading.get(id) === read) reading.delete(id)
      })
      reading.set(id, read)
      return read
    },
    forget(id: string) {
      entries.delete(id)
      // A running read may have started before the change, so later callers must not join it.
      reading.delete(id)
    },
    forgetAll() {
      entries.clear()
      reading.clear()
    },
    refresh,
    stop: refreshing.stop,
  }
}

function dropUnused<Row>(entries: Map<string, Entry<Row>>, now_ms: number): void {
  for (const [id, { row, read_ms, used_ms }] of entries) {
    const unused = row === null ? now_ms - read_ms > fresh_ms : now_ms - used_ms > idle_ms
    if (unused) entries.delete(id)
  }
}
