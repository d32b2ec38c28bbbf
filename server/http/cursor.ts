/**
 * Lists that are read page by page. An endpoint declares the fields that order its items
 * (`cursor: { started_at: Timestamp, alert_id: AlertId }`). The request then takes a `cursor`,
 * which the handler receives as `after`: those fields of the last item of the page before, null for
 * the first page. The answer has the cursor of the next page in `meta.next_cursor`.
 */
import { Type } from 'typebox'

const example = 'eyJhdCI6IjIwMjYtMDYtMjFUMDg6MTA6MDAuMDAwWiIsImlkIjoxMTh9'

export const CursorParameter = Type.Optional(
  Type.String({
    description:
      '`meta.next_cursor` of the page before; without it the first page. Keep all other ' +
      'parameters as they are.',
    examples: [example],
  }),
)

/** In the `meta` of a list that is read page by page. */
export const next_cursor = Type.Union([Type.String({ examples: [example] }), Type.Null()], {
  description: 'The `cursor` of the next page; null on the last one.',
})

/** The id of a row in a cursor; of PostgreSQL's bigint. */
export const RowId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The fields of an item that its list is ordered by, as `cursor` of the next page. */
export const cursorAfter = (place: object): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url')

/** What a cursor holds; undefined where it cannot be read. */
export function readCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

export interface Paged<Row> {
  rows: Row[]
  next_cursor: string | null
}

/** A page of rows in the order of their list, of which one more than `page_size` was read. */
export function pageOf<Row>(
  rows: readonly Row[],
  page_size: number,
  placeOf: (row: Row) => object,
): Paged<Row> {
  const page = rows.slice(0, page_size)
  const is_cut = rows.length > page.length
  return { rows: page, next_cursor: is_cut ? cursorAfter(placeOf(page.at(-1)!)) : null }
}
