import { type TSchema, Type } from 'typebox'

/** RFC 3339 with an offset. A timestamp without one is rejected, never guessed. */
export const Timestamp = Type.String({ format: 'date-time' })

/** Of PostgreSQL's integer. */
export const id_max = 2_147_483_647

export const Nullable = <Of extends TSchema>(of: Of) => Type.Union([of, Type.Null()])

/** `start` and `end`, both optional; when both are given, `end` is later. Half-open. */
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

/** A page size. Asking for more than `cap` is answered with `cap`, not with an error. */
export const limit = (cap: number, byDefault: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      'x-cap': cap,
      default: byDefault,
      description: `How many items at most. Above ${cap} it is ${cap}.`,
    }),
  )

/** `limit` and `offset` of the lists of work: specification, sections 4.18 and 8. */
export const page = {
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: id_max,
      default: 0,
      description: 'Items to leave out before the first.',
      examples: [0],
    }),
  ),
  limit: limit(200, 50),
}

/** Of the histories of loggers, inverters, strings and their like: specification, section 8. */
export const telemetry_rows = { max: 10_000, by_default: 1000 } as const
export const telemetryLimit = limit(telemetry_rows.max, telemetry_rows.by_default)

const Id = (description: string) => Type.Integer({ minimum: 0, maximum: id_max, description })

export const LoggerId = Id('A logger (plant) of the site.')
export const InverterId = Id('An inverter of the site.')
export const LocationId = Id('A location of the site.')
export const StringIndex = Id('A string of the inverter, counted from 0.')

/**
 * Ids in one parameter, separated by commas and blanks; up to a thousand. The format refuses ids
 * above `id_max`, as those that stand alone are refused.
 */
export const IdList = (description: string) =>
  Type.String({
    pattern: '^\\d{1,10}(, *\\d{1,10}){0,999}$',
    format: 'ids',
    examples: ['1,2'],
    description: `${description} Separated by commas; blanks may follow them.`,
  })

/** The ids of an `IdList`, each once. */
export const idsOf = (list: string): number[] => [...new Set(list.split(',').map(Number))]

/** A word of a fixed list, in upper or lower case; the handler gets it in lower case. */
export const AnyCase = <const Word extends string>(
  words: readonly Word[],
  { description }: { description: string },
) =>
  Type.Enum([...words], {
    'x-any-case': true,
    description: `${description} In upper or lower case.`,
  })

/** A field of a body that counts only beside these values of others; else it may hold anything. */
export const ignoredUnless = <Of extends TSchema>(
  others: Readonly<Record<string, string>>,
  of: Of,
): Of => ({ ...of, 'x-ignored-unless': others })
