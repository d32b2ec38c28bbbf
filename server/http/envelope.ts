import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { next_cursor, type Paged } from './cursor.ts'
import * as field from './fields.ts'
import { Closed } from './params.ts'
import { type Span, spanMeta } from './windows.ts'

const count = Type.Integer({ minimum: 0, examples: [1] })

const envelope = <Item extends TSchema, Meta extends TProperties>(item: Item, meta: Meta) =>
  Closed({ data: Type.Array(item), meta: Closed(meta) })

/** A list; `meta.count` is the number of matching items, whatever the limit. */
export const List = <Item extends TSchema>(item: Item) => envelope(item, { count })

/** A list paged by `cursor`; `meta.count` is the number of items on all pages. */
export const CursorList = <Item extends TSchema>(item: Item) =>
  envelope(item, { count, next_cursor })

/** A list paged by `limit` and `offset`. */
export const Page = <Item extends TSchema>(item: Item) =>
  envelope(item, {
    count: field.Count('Number of matching items on all pages.', 1),
    limit: field.Int('Maximum number of items, as applied.', { minimum: 1, examples: [50] }),
    offset: field.Count('Number of items skipped.'),
  })

/**
 * The `meta` of a time series with a `limit`, in ascending order. With `start` it holds the first
 * rows and `next_start`; without `start` it holds the newest rows before `end` and `previous_end`.
 */
export type SeriesMeta = Static<typeof SeriesMeta>
export const SeriesMeta = Closed({
  count: field.Count('Number of matching rows, whatever the limit.', 1),
  truncated: Type.Boolean({ description: 'Whether the limit cut off rows.' }),
  next_start: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'The `start` of the next request when later rows were cut off; null otherwise, and when ' +
      'the request has no `start`.',
  }),
  previous_end: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'The `end` of the next request when earlier rows were cut off; null otherwise.',
  }),
})

export const Series = <Item extends TSchema, More extends TProperties = Record<never, TSchema>>(
  item: Item,
  more_meta: More = {} as More,
) => envelope(item, { ...SeriesMeta.properties, ...more_meta })

/** A time series paged by `cursor`, newest rows first. */
export const CursorSeries = <Item extends TSchema>(item: Item) =>
  envelope(item, { ...SeriesMeta.properties, next_cursor })

const next_start = 'The `start` of the next request when the window was cut; null otherwise.'

/** The `meta` of a series without a `limit`, beside its `count`. */
export const spanFields = {
  truncated: Type.Boolean({ description: 'Whether the end of the window was cut off.' }),
  next_start: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: next_start,
  }),
}

/** `spanFields` for windows of whole days. */
export const daySpanFields = {
  ...spanFields,
  next_start: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
    description: next_start,
  }),
}

/**
 * A series without a `limit`, whose window is cut to 400 days; `meta.count` is the number of items
 * in the cut window.
 */
export const SpanList = <Item extends TSchema>(item: Item) =>
  envelope(item, { count, ...spanFields })

export const list = <Row>(rows: Row[], count = rows.length) => ({ data: rows, meta: { count } })

export const cursorList = <Row>({ rows, next_cursor }: Paged<Row>, count = rows.length) => ({
  data: rows,
  meta: { count, next_cursor },
})

export const spanList = <Row>(rows: Row[], span: Span) => ({
  data: rows,
  meta: { count: rows.length, ...spanMeta(span) },
})
