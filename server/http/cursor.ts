/**
 * Keyset paging. An endpoint declares the fields that order its items
 * (`cursor: { started_at: Timestamp, alert_id: AlertId }`). Requests then accept a `cursor`. The
 * handler receives it as `after`: these fields of the last item of the previous page, or null for
 * the first page. Answers contain the cursor of the next page in `meta.next_cursor`.
 */
import { Type } from 'typebox'

const example = 'eyJhdCI6IjIwMjYtMDYtMjFUMDg6MTA6MDAuMDAwWiIsImlkIjoxMTh9'

export const CursorParameter = Type.Optional(
  Type.String({
    description:
      '`meta.next_cursor` of the previous page, with all other parameters unchanged. Defaults to ' +
      'the first page.',
    examples: [example],
  }),
)

export const next_cursor = Type.Union([Type.String({ examples: [example] }), Type.Null()], {
  description: 'The `cursor` of the next page; null on the last page.',
  examples: [null],
})

/** The bigint id of a row in a cursor. */
export const RowId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The `cursor` of the page after an item, given the fields that order the list. */
export const cursorAfter = (place: object): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url')

/** The fields in a cursor; undefined when it cannot be decoded. */
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

/** Makes a page of `page_size` rows from the rows read, which may be one more. */
export function pageOf<Row>(
  rows: readonly Row[],
  page_size: number,
  placeOf: (row: Row) => object,
): Paged<Row> {
  const page = rows.slice(0, page_size)
  const is_cut = rows.length > page.length
  return { rows: page, next_cursor: is_cut ? cursorAfter(placeOf(page.at(-1)!)) : null }
}
