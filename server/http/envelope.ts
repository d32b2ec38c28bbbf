import { type Static, type TSchema, Type } from 'typebox'
import { next_cursor, type Paged } from './cursor.ts'
import { type Span, spanMeta } from './windows.ts'

const closed = { additionalProperties: false } as const

/** The list envelope; `meta.count` counts what matches, whatever the limit. */
export const List = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { data: Type.Array(item), meta: Type.Object({ count: Type.Integer({ minimum: 0 }) }, closed) },
    closed,
  )

/** The envelope of a list that is read page by page, by `cursor`; `meta.count` is of all pages. */
export const CursorList = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object({ count: Type.Integer({ minimum: 0 }), next_cursor }, closed),
    },
    closed,
  )

/** The envelope of a list that is read by offset: `limit` and `offset` as they were applied. */
export const Page = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object(
        {
          count: Type.Integer({
            minimum: 0,
            description: 'Items that match, on whichever page, at the time that `data` shows.',
          }),
          limit: Type.Integer({ minimum: 1, description: 'How many items at most, as applied.' }),
          offset: Type.Integer({ minimum: 0, description: 'Items before these, as asked.' }),
        },
        closed,
      ),
    },
    closed,
  )

/**
 * The envelope of a time series, ascending. With `start` the first rows, and where cut `next_start`
 * to go on from; without it the newest rows before `end`, and where cut `previous_end`.
 */
export type SeriesMeta = Static<typeof SeriesMeta>
export const SeriesMeta = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: 'Rows that match, whatever the limit.' }),
    truncated: Type.Boolean({ description: 'Whether the limit cut rows off.' }),
    next_start: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'The `start` to go on with where rows after these were cut off; null where none were, ' +
        'or none was given to begin with.',
    }),
    previous_end: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'The `end` to go on with where rows before these were cut off; else null.',
    }),
  },
  closed,
)

export const Series = <Item extends TSchema>(item: Item) =>
  Type.Object({ data: Type.Array(item), meta: SeriesMeta }, closed)

/** The same of a series that is read page by page, by `cursor`, from its newest rows on. */
export const CursorSeries = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object({ ...SeriesMeta.properties, next_cursor }, closed),
    },
    closed,
  )

/** What the `meta` of a series without a `limit` says beside its `count`. */
export const spanFields = {
  truncated: Type.Boolean({ description: 'Whether the end of the window was cut off.' }),
  next_start: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'The `start` to go on with where the window was cut; else null.',
  }),
}

/** Where the bounds of the window are days. */
export const daySpanFields = {
  ...spanFields,
  next_start: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
    description: 'The `start` to go on with where the window was cut; else null.',
  }),
}

/**
 * The envelope of a series without a `limit`, whose window is cut to 400 days; `count` counts the
 * items of what is left of it.
 */
export const SpanList = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object({ count: Type.Integer({ minimum: 0 }), ...spanFields }, closed),
    },
    closed,
  )

export const list = <Row>(rows: Row[], count = rows.length) => ({ data: rows, meta: { count } })

export const cursorList = <Row>({ rows, next_cursor }: Paged<Row>, count = rows.length) => ({
  data: rows,
  meta: { count, next_cursor },
})

export const spanList = <Row>(rows: Row[], span: Span) => ({
  data: rows,
  meta: { count: rows.length, ...spanMeta(span) },
})
