/**
 * Histories with several items at each instant: of the strings of an inverter, the PCS of a unit. A
 * page holds whole instants, so that the next page skips nothing.
 */
import type { ReadingKind } from '@heliograph/domain/readings'
import type { ExportItem, ExportItems } from '../http/export-items.ts'
import type { JsonText } from '../http/json-text.ts'
import { telemetry_rows } from '../http/params.ts'
import type { Queries } from '../storage/database.ts'
import type { StoredReading } from './blocks/store.ts'
import { type DeviceHistory, seriesText, spanOf } from './history.ts'
import { walkReadings } from './stored-readings.ts'

/** How the readings of an instant become items. */
export interface InstantItems<Request> {
  columns: readonly string[]
  /** In order. */
  itemsOf(readings: readonly StoredReading[], request: Request): ExportItem[]
  /** The number of items in the window. */
  countOf(db: Queries, request: Request): Promise<number>
}

interface Instant {
  at_ms: number
  items: ExportItem[]
}

/** Some instants at a time, in the order of a walk. */
async function* walkInstants<Request extends DeviceHistory>(
  db: Queries,
  kind: ReadingKind,
  request: Request,
  { columns, itemsOf }: InstantItems<Request>,
  newest: boolean,
): AsyncGenerator<Iterable<Instant>> {
  const { site_id, device_id, window } = request
  const walk = { site_id, device_id, ...spanOf(window), newest }
  // Items are made as they are taken, since a page takes few of them.
  function* instantsIn(part: readonly StoredReading[]): Generator<Instant> {
    for (const [at_ms, readings] of Map.groupBy(part, ({ measured_at }) => measured_at)) {
      yield { at_ms, items: itemsOf(readings, request) }
    }
  }
  for await (const part of walkReadings(db, kind, walk, columns)) yield instantsIn(part)
}

/** A page as the text of a `ReadingSeries`. A single instant with more items than it is cut. */
export async function readInstantHistory<Request extends DeviceHistory>(
  db: Queries,
  kind: ReadingKind,
  request: Request,
  of: InstantItems<Request>,
): Promise<JsonText> {
  const limit = request.limit ?? telemetry_rows.by_default
  const instants = await pageOf(db, kind, request, of, limit)
  const items = instants.flatMap((instant) => instant.items)
  const page = items.slice(0, limit)
  const timeOf = (instant?: Instant) => (instant ? new Date(instant.at_ms) : null)
  const { site_id, device_id, window } = request
  return seriesText(
    db,
    { site_id, kind, device_id, window },
    {
      count: of.countOf(db, request),
      items: page.map((item) => JSON.stringify(item)).join(','),
      returned: page.length,
      is_cut: items.length > limit,
      first_at: timeOf(instants[0]),
      last_at: timeOf(instants.at(-1)),
    },
  )
}

/** The instants of a page, ascending: from the end of the window when the newest are requested. */
async function pageOf<Request extends DeviceHistory>(
  db: Queries,
  kind: ReadingKind,
  request: Request,
  of: InstantItems<Request>,
  limit: number,
): Promise<Instant[]> {
  const { newest } = request.window
  const page = await nearestInstants(walkInstants(db, kind, request, of, newest), limit)
  return newest ? page.reverse() : page
}

/** The first instants of a walk with at most `limit` items, and at least one. */
export async function nearestInstants(
  walk: AsyncIterable<Iterable<Instant>>,
  limit: number,
): Promise<Instant[]> {
  const found: Instant[] = []
  let missing = limit
  for await (const instants of walk) {
    for (const instant of instants) {
      const { length } = instant.items
      if (length === 0) continue
      if (length > missing && found.length > 0) return found
      found.push(instant)
      missing -= length
      if (missing <= 0) return found
    }
  }
  return found
}

/** A page with a limit, else the whole window. */
export const exportInstantHistory = <Request extends DeviceHistory>(
  kind: ReadingKind,
  request: Request,
  of: InstantItems<Request>,
): ExportItems => ({
  async *items(db) {
    const { limit } = request
    if (limit == null) {
      for await (const instants of walkInstants(db, kind, request, of, false)) {
        yield [...instants].flatMap(({ items }) => items)
      }
      return
    }
    const page = await pageOf(db, kind, request, of, limit)
    yield page.flatMap(({ items }) => items).slice(0, limit)
  },
})
