/**
 * The history of one device as JSON text that PostgreSQL writes from the columns of `readingKinds`.
 * Parsing ten thousand readings only to serialise them again would cost more than the rest of the
 * request.
 */
import { type ColumnType, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Context } from '../http/context.ts'
import type { SeriesMeta } from '../http/envelope.ts'
import type { ExportItems } from '../http/export-items.ts'
import { type ExportColumn, type ExportRows, itemJson } from '../http/export-rows.ts'
import { JsonText } from '../http/json-text.ts'
import { telemetry_rows, telemetryLimit } from '../http/params.ts'
import { default_hours, type SeriesWindow, seriesMeta } from '../http/time-windows.ts'
import { rowsWindow } from '../http/windows.ts'
import type { Queries } from '../storage/database.ts'
import type { StoredReading } from './blocks/store.ts'
import { countPacked, firstOf, instant, rowsSince, walkReadings } from './stored-readings.ts'

interface HistoryRequest<Params> extends Omit<DeviceHistory, 'site_id' | 'device_id'> {
  site: { site_id: string }
  params: Params
  query: { limit?: number | undefined }
}

/** The parts that the histories of devices share; `find` throws 404 for an unknown device. */
export function deviceHistory<Params>(
  kind: DeviceKind,
  find: (
    db: Queries,
    site_id: string,
    params: Params,
  ) => Promise<{ device_id: number; columns?: readonly ExportColumn[] }>,
) {
  const asked = async (request: HistoryRequest<Params>, db: Queries) => {
    const { site, params, query, window } = request
    const { columns, device_id } = await find(db, site.site_id, params)
    return [{ site_id: site.site_id, device_id, window, ...query }, columns] as const
  }
  return {
    window: rowsWindow(default_hours.telemetry),
    query: { limit: telemetryLimit },
    heavy: true,
    handle: async (request: HistoryRequest<Params>, { db }: Context) =>
      readHistory(db, kind, ...(await asked(request, db))),
    exports: async (request: HistoryRequest<Params>, { db }: Context) =>
      exportHistory(db, kind, ...(await asked(request, db))),
  } as const
}

/** Kinds whose readings have one integer id as their key. */
type DeviceKind = Exclude<ReadingKind, 'string'>

export interface DeviceHistory {
  site_id: string
  device_id: number
  window: SeriesWindow
  /** Defaults to `telemetry_rows.by_default` for a page, and to the whole window for an export. */
  limit?: number | null | undefined
}

/** The readings of a device in a window as the text of a `Series`, ascending. */
export async function readHistory(
  db: Queries,
  kind: DeviceKind,
  request: DeviceHistory,
  columns: readonly ExportColumn[] = readingColumns(kind),
): Promise<JsonText> {
  const { window } = request
  const limit = request.limit ?? telemetry_rows.by_default
  if (await isPackedIn(db, kind, window)) return readPacked(db, kind, { ...request, limit })
  const bounds = boundsOf(request)
  const statement = statementsOf(kind, window, columns)
  const [page] = await db.query<HistoryPage>(statement.page, [...bounds, limit])
  const { returned, items, first_at, last_at } = page!
  // A page that is not full holds every match.
  const count =
    returned < limit
      ? returned
      : (await db.query<{ count: number }>(statement.count, bounds))[0]!.count
  return seriesText(
    items ?? '',
    seriesMeta(window, {
      // Readings may arrive or be dropped between the two statements.
      count: Math.max(count, returned),
      returned,
      first_time: first_at?.toISOString() ?? null,
      last_time: last_at?.toISOString() ?? null,
    }),
  )
}

/** Whether a part of the window is in blocks. */
export const isPackedIn = async (db: Queries, kind: ReadingKind, { start }: SeriesWindow) =>
  (start === null ? Number.NEGATIVE_INFINITY : Date.parse(start)) < (await rowsSince(db, kind))

export const spanOf = ({ start, end }: SeriesWindow) => ({
  from_ms: start === null ? Number.NEGATIVE_INFINITY : Date.parse(start),
  to_ms: Date.parse(end),
})

/** The page of a device with blocks; its items are in the form of `readingColumns`. */
async function readPacked(
  db: Queries,
  kind: DeviceKind,
  { site_id, device_id, window, limit }: DeviceHistory & { limit: number },
): Promise<JsonText> {
  const walk = { site_id, device_id, ...spanOf(window), newest: window.newest }
  const page = await firstOf(
    walkReadings(db, kind, { ...walk, most: limit }, valuesOf(kind)),
    limit,
  )
  if (window.newest) page.reverse()
  const items = page.map((reading) => itemOf(kind, reading))
  const count = await countReadings(db, kind, walk)
  return seriesText(
    items.map((item) => JSON.stringify(item)).join(','),
    seriesMeta(window, {
      count: Math.max(count, items.length),
      returned: items.length,
      first_time: items[0]?.measured_at ?? null,
      last_time: items.at(-1)?.measured_at ?? null,
    }),
  )
}

const valuesOf = (kind: DeviceKind) => ['quality', ...Object.keys(readingKinds[kind].columns)]

function itemOf(kind: DeviceKind, reading: StoredReading) {
  const values = valuesOf(kind).map((name) => [name, reading[name]])
  const measured_at = new Date(reading.measured_at).toISOString()
  return { measured_at, ...Object.fromEntries(values) }
}

/** Counts the readings of a device in a span, from rows and blocks. */
async function countReadings(
  db: Queries,
  kind: DeviceKind,
  span: { site_id: string; device_id: number; from_ms: number; to_ms: number },
): Promise<number> {
  const { table, keys } = readingKinds[kind]
  const since_ms = await rowsSince(db, kind)
  const [rows] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table}
     WHERE site_id = $1 AND ${keys[0]} = $2 AND measured_at >= $3 AND measured_at < $4`,
    [span.site_id, span.device_id, instant(Math.max(span.from_ms, since_ms)), instant(span.to_ms)],
  )
  const past = { ...span, to_ms: Math.min(span.to_ms, since_ms) }
  const counting = { columns: [], countOf: () => 1, of_block: 'b.reading_count', value: null }
  return rows!.count + (await countPacked(db, kind, past, counting))
}

/** `items` is JSON text, separated by commas. */
export function seriesText(items: string, meta: SeriesMeta): JsonText {
  return new JsonText(`{"data":[${items}],"meta":${JSON.stringify(meta)}}`)
}

interface HistoryPage {
  returned: number
  items: string | null
  first_at: Date | null
  last_at: Date | null
}

/** The example of a `Series` in the API document. */
export const seriesExample = <Item>(item: Item) => ({
  answer: {
    data: [item],
    meta: { count: 1, truncated: false, next_start: null, previous_end: null },
  },
})

/** The same readings as an export. */
export async function exportHistory(
  db: Queries,
  kind: DeviceKind,
  request: DeviceHistory,
  columns: readonly ExportColumn[] = readingColumns(kind),
): Promise<ExportRows | ExportItems> {
  const { site_id, device_id, window, limit = null } = request
  if (!(await isPackedIn(db, kind, window))) return historyRows(kind, request, columns)
  const toItems = (part: StoredReading[]) => part.map((reading) => itemOf(kind, reading))
  return {
    async *items(queries) {
      const walk = {
        site_id,
        device_id,
        ...spanOf(window),
        newest: window.newest && limit !== null,
      }
      const most = limit ?? undefined
      const parts = walkReadings(queries, kind, { ...walk, most }, valuesOf(kind))
      if (limit === null) for await (const part of parts) yield toItems(part)
      else {
        const page = await firstOf(parts, limit)
        yield toItems(walk.newest ? page.reverse() : page)
      }
    },
  }
}

/** The same readings as rows of an export. */
export function historyRows(
  kind: DeviceKind,
  request: DeviceHistory,
  columns: readonly ExportColumn[] = readingColumns(kind),
): ExportRows {
  const { whole, page } = sourcesOf(kind, request.window)
  const bounds = boundsOf(request)
  const { limit = null } = request
  return {
    columns,
    from: `FROM ${limit === null ? `${whole} ORDER BY measured_at` : page}`,
    values: limit === null ? bounds : [...bounds, limit],
  }
}

const boundsOf = ({ site_id, device_id, window }: DeviceHistory) => [
  site_id,
  device_id,
  window.end,
  ...(window.start === null ? [] : [window.start]),
]

/** Parameters: site, device, end, start unless the window is open, and for a page the limit. */
function statementsOf(kind: DeviceKind, window: SeriesWindow, columns: readonly ExportColumn[]) {
  const { whole, page } = sourcesOf(kind, window)
  return {
    page: `
      SELECT count(*)::int AS returned, string_agg(item, ',' ORDER BY measured_at) AS items,
             min(measured_at) AS first_at, max(measured_at) AS last_at
      FROM (
        SELECT measured_at, ${itemJson(columns)} AS item FROM ${page}
      ) AS page`,
    count: `SELECT count(*) AS count FROM ${whole}`,
  }
}

/** FROM clauses: all readings of a window in any order, and a page of them, ascending. */
function sourcesOf(kind: DeviceKind, { start, newest }: SeriesWindow) {
  const { table, keys } = readingKinds[kind]
  const device = `site_id = $1 AND ${keys[0]} = $2 AND measured_at < $3`
  const whole = `${table} WHERE ${device}${start === null ? '' : ' AND measured_at >= $4'}`
  const limit = start === null ? '$4' : '$5'
  // The newest rows are read forwards as well, from the row that is `limit` before the end.
  const from = newest
    ? `AND measured_at >= coalesce((
         SELECT measured_at FROM ${whole}
         ORDER BY measured_at DESC OFFSET ${limit}::int - 1 LIMIT 1), '-infinity')`
    : ''
  return { whole, page: `${whole} ${from} ORDER BY measured_at LIMIT ${limit}` }
}

/** The columns of a reading. Numbers arrive as JSON, so none is NaN or infinite. */
export function readingColumns(kind: DeviceKind): ExportColumn[] {
  const columns = Object.entries<ColumnType>(readingKinds[kind].columns)
  return [
    { name: 'measured_at', sql: 'measured_at', type: 'instant' },
    { name: 'quality', sql: 'quality', type: 'word' },
    ...columns.map(([name, type]): ExportColumn => ({ name, sql: name, type: formOf(type) })),
  ]
}

function formOf(type: ColumnType): ExportColumn['type'] {
  if (type.endsWith('[]')) return 'numbers'
  return type === 'text' ? 'text' : 'number'
}
