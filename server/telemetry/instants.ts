/**
 * Histories with several items at each instant: of the strings of an inverter, the PCS of a unit. A
 * page holds whole instants, so that the next page skips nothing.
 */
import type { ReadingKind } from '@heliograph/domain/readings'
import type { ExportItem, ExportItems } from '../http/export-items.ts'
import type { SeriesWindow } from '../http/time-windows.ts'
import type { Queries } from '../storage/database.ts'
import type { StoredReading } from './blocks/store.ts'
import { type HistoryPage, spanOf } from './history.ts'
import { walkReadings } from './stored-readings.ts'

interface InstantHistory {
  kind: ReadingKind
  site_id: string
  device_id: number
  window: SeriesWindow
  columns: readonly string[]
  /** The items of the readings of an instant, in order. */
  itemsOf(readings: readonly StoredReading[]): ExportItem[]
}

/** The items of an instant. */
export interface Instant {
  measured_at: Date
  /** How many items `items` holds. */
  returned: number
  /** Whether the limit left out items of this instant. */
  is_cut: boolean
  /** JSON text of the items, separated by commas. */
  items: string
}

/** The items of some instants at a time, in the order of a walk. */
async function* walkInstants(
  db: Queries,
  { kind, site_id, device_id, window, columns, itemsOf }: InstantHistory,
  newest: boolean,
): AsyncGenerator<{ at_ms: number; items: ExportItem[] }[]> {
  const walk = { site_id, device_id, ...spanOf(window), newest }
  for await (const part of walkReadings(db, kind, walk, columns)) {
    const instants = [...Map.groupBy(part, ({ measured_at }) => measured_at)]
    yield instants.map(([at_ms, readings]) => ({ at_ms, items: itemsOf(readings) }))
  }
}

/** The instants from the near end of the window with `limit` items, and the next one; ascending. */
async function nearestInstants(
  db: Queries,
  history: InstantHistory,
  limit: number,
): Promise<Instant[]> {
  const { newest } = history.window
  const found: Instant[] = []
  let count = 0
  for await (const instants of walkInstants(db, history, newest)) {
    for (const { at_ms, items } of instants) {
      if (items.length === 0 || count > limit) continue
      const first = items.slice(0, limit)
      found.push({
        measured_at: new Date(at_ms),
        returned: first.length,
        is_cut: items.length > limit,
        items: first.map((item) => JSON.stringify(item)).join(','),
      })
      count += items.length
    }
    if (count > limit) break
  }
  return newest ? found.reverse() : found
}

/**
 * The instants of a page, ascending: up to `limit` items, from the end of the window when the
 * newest are requested. An instant with more than `limit` items was cut before.
 */
export function wholeInstants(
  instants: readonly Instant[],
  { limit, newest }: { limit: number; newest: boolean },
): Instant[] {
  const nearest = newest ? instants.toReversed() : instants
  let count = 0
  const beyond = nearest.findIndex(({ returned }) => {
    count += returned
    return count > limit
  })
  const page = beyond < 0 ? nearest : nearest.slice(0, beyond)
  return newest ? page.toReversed() : [...page]
}

export async function instantsPage(
  db: Queries,
  history: InstantHistory,
  limit: number,
): Promise<Instant[]> {
  const instants = await nearestInstants(db, history, limit)
  return wholeInstants(instants, { limit, newest: history.window.newest })
}

/** A page of instants for `seriesText`. */
export const textOf = (page: readonly Instant[]): HistoryPage => ({
  items: page.map(({ items }) => items).join(','),
  returned: page.reduce((sum, { returned }) => sum + returned, 0),
  first_at: page[0]?.measured_at ?? null,
  last_at: page.at(-1)?.measured_at ?? null,
  is_cut: page.some(({ is_cut }) => is_cut),
})

/** A page with a limit, else the whole window. */
export const exportInstants = (
  history: InstantHistory,
  limit: number | null | undefined,
): ExportItems => ({
  async *items(db) {
    if (limit == null) {
      for await (const instants of walkInstants(db, history, false)) {
        yield instants.flatMap(({ items }) => items)
      }
      return
    }
    const page = await instantsPage(db, history, limit)
    yield JSON.parse(`[${page.map(({ items }) => items).join(',')}]`)
  },
})
