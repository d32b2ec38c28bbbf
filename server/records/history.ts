/**
 * The history of one device as JSON text that PostgreSQL writes, row by row, from the columns of
 * `readingKinds`: parsing the values of ten thousand readings only to write them again would cost
 * more than all the rest of the request.
 */
import { type ColumnType, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { SeriesMeta } from '../http/envelope.ts'
import { JsonText } from '../http/json-text.ts'
import { type SeriesWindow, seriesMeta } from '../http/time-windows.ts'
import type { Queries } from '../storage/database.ts'

/** Kinds whose readings are of one device by an integer id. */
export type DeviceKind = Exclude<ReadingKind, 'string'>

export interface HistoryRequest {
  site_id: string
  device_id: number
  window: SeriesWindow
  limit: number
}

/** The readings of a device in a window as the text of a `Series`, ascending. */
export async function readHistory(
  db: Queries,
  kind: DeviceKind,
  request: HistoryRequest,
): Promise<JsonText> {
  const { site_id, device_id, window, limit } = request
  const bounds = [site_id, device_id, window.end, ...(window.start === null ? [] : [window.start])]
  const statement = statementsOf(kind, window)
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

/** Values: site, device, end, the start unless it is open, and for a page its limit. */
function statementsOf(kind: DeviceKind, { start, newest }: SeriesWindow) {
  const { table, keys } = readingKinds[kind]
  const device = `site_id = $1 AND ${keys[0]} = $2 AND measured_at < $3`
  const within = start === null ? device : `${device} AND measured_at >= $4`
  const limit = start === null ? '$4' : '$5'
  // The newest rows are read forwards too, from the one that is `limit` before the end.
  const from = newest
    ? `AND measured_at >= coalesce((
         SELECT measured_at FROM ${table} WHERE ${within}
         ORDER BY measured_at DESC OFFSET ${limit}::int - 1 LIMIT 1), '-infinity')`
    : ''
  return {
    page: `
      SELECT count(*)::int AS returned, string_agg(item, ',' ORDER BY measured_at) AS items,
             min(measured_at) AS first_at, max(measured_at) AS last_at
      FROM (
        SELECT measured_at, ${readingJson(kind)} AS item
        FROM ${table} WHERE ${within} ${from}
        ORDER BY measured_at LIMIT ${limit}
      ) AS page`,
    count: `SELECT count(*) AS count FROM ${table} WHERE ${within}`,
  }
}

/**
 * An SQL expression: the JSON text of a row of readings. What the link brings is JSON, so that no
 * number is NaN or infinite, and PostgreSQL writes numbers as JSON does.
 */
function readingJson(kind: DeviceKind): string {
  const columns = Object.entries<ColumnType>(readingKinds[kind].columns)
  return joined([
    `'{"measured_at":' || ${instantJson('measured_at')}`,
    `',"quality":"' || quality || '"'`,
    ...columns.map(([name, type]) => `',"${name}":' || ${valueJson(name, type)}`),
    `'}'`,
  ])
}

function valueJson(name: string, type: ColumnType): string {
  if (type.endsWith('[]')) return orNull(`'[' || array_to_string(${name}, ',', 'null') || ']'`)
  return orNull(type === 'text' ? `to_json(${name})::text` : `${name}::text`)
}

const orNull = (expression: string) => `coalesce(${expression}, 'null')`

/**
 * RFC 3339 in UTC with milliseconds, as everywhere in the API; faster than to_char. PostgreSQL
 * leaves out zeros at the end: with a microsecond more none is at the end, and it is cut off again.
 */
export const instantJson = (column: string) =>
  `'"' || replace(left((${column} AT TIME ZONE 'UTC' + interval '1 microsecond')::text, 23), ` +
  `' ', 'T') || 'Z"'`

/** Concatenates in halves: one by one would copy the growing text once for every column. */
function joined(pieces: readonly string[]): string {
  if (pieces.length === 1) return `(${pieces[0]})`
  const half = pieces.length >> 1
  return `(${joined(pieces.slice(0, half))} || ${joined(pieces.slice(half))})`
}
