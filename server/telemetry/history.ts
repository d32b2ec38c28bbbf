/**
 * The history of one device as JSON text that PostgreSQL writes, row by row, from the columns of
 * `readingKinds`: parsing the values of ten thousand readings only to write them again would cost
 * more than all the rest of the request.
 */
import { type ColumnType, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { SeriesMeta } from '../http/envelope.ts'
import { type ExportColumn, type ExportRows, itemJson } from '../http/export-rows.ts'
import { JsonText } from '../http/json-text.ts'
import { type SeriesWindow, seriesMeta } from '../http/time-windows.ts'
import type { Queries } from '../storage/database.ts'

/** Kinds whose readings are of one device by an integer id. */
type DeviceKind = Exclude<ReadingKind, 'string'>

export interface HistoryRequest {
  site_id: string
  device_id: number
  window: SeriesWindow
  limit: number
}

/**
 * The readings of a device in a window as the text of a `Series`, ascending. With `columns` other
 * than those that were measured: under their names.
 */
export async function readHistory(
  db: Queries,
  kind: DeviceKind,
  request: HistoryRequest,
  columns: readonly ExportColumn[] = readingColumns(kind),
): Promise<JsonText> {
  const { window, limit } = request
  const bounds = boundsOf(request)
  const statement = statementsOf(kind, window, columns)
  const [page] = await db.query<HistoryPage>(statement.page, [...bounds, limit])
  const { returned, items, first_at, last_at } = page!
  // A page that is not full holds all there is.
  const count =
    returned < limit
      ? returned
      : (await db.query<{ count: number }>(statement.count, bounds))[0]!.count
  return seriesText(
    items ?? '',
    seriesMeta(window, {
      // A reading may have arrived between the two statements, and its like been dropped.
      count: Math.max(count, returned),
      returned,
      first_time: first_at?.toISOString() ?? null,
      last_time: last_at?.toISOString() ?? null,
    }),
  )
}

/** A series out of the text of its items, separated by commas. */
export function seriesText(items: string, meta: SeriesMeta): JsonText {
  return new JsonText(`{"data":[${items}],"meta":${JSON.stringify(meta)}}`)
}

interface HistoryPage {
  returned: number
  items: string | null
  first_at: Date | null
  last_at: Date | null
}

export type HistoryExport = Omit<HistoryRequest, 'limit'> & {
  /** null: the whole window. */
  limit: number | null
}

/** The same readings as rows of an export. */
export function historyRows(
  kind: DeviceKind,
  request: HistoryExport,
  columns: readonly ExportColumn[] = readingColumns(kind),
): ExportRows {
  const { whole, page } = sourcesOf(kind, request.window)
  const bounds = boundsOf(request)
  return {
    columns,
    from: `FROM ${request.limit === null ? `${whole} ORDER BY measured_at` : page}`,
    values: request.limit === null ? bounds : [...bounds, request.limit],
  }
}

const boundsOf = ({ site_id, device_id, window }: HistoryExport) => [
  site_id,
  device_id,
  window.end,
  ...(window.start === null ? [] : [window.start]),
]

/** Values: site, device, end, the start unless it is open, and for a page its limit. */
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

/** What follows FROM: all readings of a window in any order, and a page of them, ascending. */
function sourcesOf(kind: DeviceKind, { start, newest }: SeriesWindow) {
  const { table, keys } = readingKinds[kind]
  const device = `site_id = $1 AND ${keys[0]} = $2 AND measured_at < $3`
  const whole = `${table} WHERE ${device}${start === null ? '' : ' AND measured_at >= $4'}`
  const limit = start === null ? '$4' : '$5'
  // The newest rows are read forwards too, from the one that is `limit` before the end.
  const from = newest
    ? `AND measured_at >= coalesce((
         SELECT measured_at FROM ${whole}
         ORDER BY measured_at DESC OFFSET ${limit}::int - 1 LIMIT 1), '-infinity')`
    : ''
  return { whole, page: `${whole} ${from} ORDER BY measured_at LIMIT ${limit}` }
}

/** The columns of a reading. What the link brings is JSON: no number of it is NaN or infinite. */
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
