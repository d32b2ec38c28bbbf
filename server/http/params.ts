import { type TProperties, type TSchema, type TSchemaOptions, Type } from 'typebox'

/** RFC 3339 with an offset. A timestamp without an offset is rejected. */
export const Timestamp = Type.String({ format: 'date-time' })

/** Maximum of a PostgreSQL integer. */
export const id_max = 2_147_483_647

/** An object with these fields only. */
export const Closed = <Fields extends TProperties>(fields: Fields, rules: TSchemaOptions = {}) =>
  Type.Object(fields, { ...rules, additionalProperties: false })

/** A closed object that is a component of the API document. */
export const Named = <Fields extends TProperties>(
  $id: string,
  fields: Fields,
  rules: TSchemaOptions = {},
) => Closed(fields, { ...rules, $id })

export const Nullable = <Of extends TSchema>(of: Of) => Type.Union([of, Type.Null()])

/** A measured or computed number, null when unknown. */
export const Metric = (description: string, example: number) =>
  Nullable(Type.Number({ description, examples: [example] }))

/** Optional `start` and `end` of a half-open window. `end` must be later than `start`. */
export const timeWindow = {
  start: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Start of the window, inclusive. RFC 3339 with an offset.',
    }),
  ),
  end: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'End of the window, exclusive; later than `start`. RFC 3339 with an offset.',
    }),
  ),
}

/** The maximum number of items. A larger value than `cap` counts as `cap`, without an error. */
export const limit = (cap: number, byDefault: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      'x-cap': cap,
      default: byDefault,
      description: `Maximum number of items. Values above ${cap} count as ${cap}.`,
    }),
  )

/** `limit` and `offset` of operation and maintenance lists: specification, sections 4.18 and 8. */
export const page = {
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: id_max,
      default: 0,
      description: 'Number of items to skip.',
      examples: [0],
    }),
  ),
  limit: limit(200, 50),
}

/** Row limits of telemetry histories: specification, section 8. */
export const telemetry_rows = { max: 10_000, by_default: 1000 } as const
export const telemetryLimit = limit(telemetry_rows.max, telemetry_rows.by_default)

const Id = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: id_max, description, examples: [example] })

export const LoggerId = Id('A logger (plant) of the site.', 1)
export const InverterId = Id('An inverter of the site.', 1)
export const LocationId = Id('A location of the site.', 1)
export const StringIndex = Id('A string of the inverter; indexes start at 0.', 3)

/** Up to 1000 ids in one parameter. The format `ids` rejects ids above `id_max`. */
export const IdList = (description: string) =>
  Type.String({
    pattern: '^\\d{1,10}(, *\\d{1,10}){0,999}$',
    format: 'ids',
    examples: ['1,2'],
    description: `${description} Separate ids with commas; blanks may follow a comma.`,
  })

/** The ids of an `IdList`, without duplicates. */
export const idsOf = (list: string): number[] => [...new Set(list.split(',').map(Number))]

/** One of the given words, in any case. The handler receives it in lower case. */
export const AnyCase = <const Word extends string>(
  words: readonly Word[],
  { description }: { description: string },
) =>
  Type.Enum([...words], {
    'x-any-case': true,
    description: `${description} Case-insensitive.`,
  })

/** A body field that is ignored, and not validated, unless other fields have these values. */
export const ignoredUnless = <Of extends TSchema>(
  others: Readonly<Record<string, string>>,
  of: Of,
): Of => ({ ...of, 'x-ignored-unless': others })
