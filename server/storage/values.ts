import pg from 'pg'

const oid = {
  int8: 20,
  date: 1082,
  timestamptz: 1184,
  float4: 700,
  float8: 701,
  int2_array: 1005,
  int4_array: 1007,
  text_array: 1009,
  int8_array: 1016,
  float4_array: 1021,
  float8_array: 1022,
  timestamptz_array: 1185,
  date_array: 1182,
} as const

/** Parses arrays such as `{1,NULL,{2,3}}` as JSON, by replacing the brackets. */
export function parseNumberArray(text: string): unknown[] {
  if (text.startsWith('[')) throw new Error(`array with explicit bounds is not supported: ${text}`)
  const json = text.replaceAll('{', '[').replaceAll('}', ']')
  if (!json.includes('N') && !json.includes('I')) return JSON.parse(json)
  if (json.includes('NaN') || json.includes('Infinity')) return parseSpecialNumbers(json)
  return JSON.parse(json.replaceAll('NULL', 'null'))
}

/** NaN and infinities are not JSON, so they are quoted and converted. */
function parseSpecialNumbers(json: string): unknown[] {
  const quoted = json.replaceAll('NULL', 'null').replace(/NaN|-?Infinity/g, '"$&"')
  return JSON.parse(quoted, (_, value) => (typeof value === 'string' ? Number(value) : value))
}

/** An int8 as a number; throws for values that a double cannot represent exactly. */
export function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`int8 ${text} exceeds the safe integer range`)
  return value
}

/**
 * `2026-11-21 12:45:42.123456+00` as a Date, truncated to milliseconds. Sessions use UTC, so all
 * values except BC, infinity and years above 9999 are rewritten to ISO, which parses in half the
 * time of the driver.
 */
export function parseTimestamptz(text: string): Date {
  const is_plain = text[10] === ' ' && text.endsWith('+00')
  return is_plain ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : slowDate(text)
}

const builtin = (type: number) => pg.types.getTypeParser(type as pg.CustomTypesConfig & number)
const slowDate = builtin(oid.timestamptz) as (text: string) => Date
const textArray = builtin(oid.text_array) as (text: string) => (string | null)[]

type Parser = (text: string) => unknown

const parsers = new Map<number, Parser>([
  [oid.int8, parseInt8],
  [oid.float4, Number],
  [oid.float8, Number],
  [oid.timestamptz, parseTimestamptz],
  // A date has no time zone; the driver would convert it to midnight in that of the machine.
  [oid.date, String],
  [oid.date_array, textArray],
  [
    oid.timestamptz_array,
    (text) => textArray(text).map((value) => value && parseTimestamptz(value)),
  ],
  [oid.int8_array, (text) => textArray(text).map((value) => value && parseInt8(value))],
  [oid.int2_array, parseNumberArray],
  [oid.int4_array, parseNumberArray],
  [oid.float4_array, parseNumberArray],
  [oid.float8_array, parseNumberArray],
])

/**
 * Type parsers that differ from the defaults of `pg`: int8, float4, float8 and their arrays are
 * numbers, timestamptz is a Date, date is `YYYY-MM-DD`. numeric is exact text.
 */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(type)) ||
    pg.types.getTypeParser(
      type,
      format as 'text',
    )) as unknown as pg.CustomTypesConfig['getTypeParser'],
}

/** ISO text of an instant, for SQL. */
export const isoTime = (at_ms: number): string => new Date(at_ms).toISOString()

/** Flat rows as JSON for SQL. Numbers in fields that end with `at` are instants, Unix ms. */
export const rowsJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (name, value) =>
    (name === 'at' || name.endsWith('_at')) && typeof value === 'number' ? isoTime(value) : value,
  )
