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

/**
 * PostgreSQL writes arrays as `{1,NULL,{2,3}}`: with other brackets that is JSON, read natively.
 */
export function parseNumberArray(text: string): unknown[] {
  if (text.startsWith('[')) throw new Error(`array with explicit bounds is not supported: ${text}`)
  const json = text.replaceAll('{', '[').replaceAll('}', ']')
  if (!json.includes('N') && !json.includes('I')) return JSON.parse(json)
  if (json.includes('NaN') || json.includes('Infinity')) return parseSpecialNumbers(json)
  return JSON.parse(json.replaceAll('NULL', 'null'))
}

/** NaN and infinities are not JSON: they travel as strings and become numbers on the way in. */
function parseSpecialNumbers(json: string): unknown[] {
  const quoted = json.replaceAll('NULL', 'null').replace(/NaN|-?Infinity/g, '"$&"')
  return JSON.parse(quoted, (_, value) => (typeof value === 'string' ? Number(value) : value))
}

/**
 * An int8 as a number; one that a double cannot hold exactly is an error, never a rounded value.
 */
export function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`int8 ${text} exceeds the safe integer range`)
  return value
}

/**
 * `2026-11-21 12:45:42.123456+00` as a Date, cut to milliseconds. Sessions run in UTC, so that all
 * but BC, infinity and years beyond 9999 need only be spelled the ISO way, which the engine reads
 * in half the driver's time.
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
  // A calendar day has no instant; the driver's default would read it in the machine's time zone.
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
 * How column values become JavaScript values, where that differs from `pg`: int8, float4, float8
 * and their arrays are numbers, timestamptz is a Date, date is `YYYY-MM-DD`. numeric stays exact
 * text.
 */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(type)) ||
    pg.types.getTypeParser(
      type,
      format as 'text',
    )) as unknown as pg.CustomTypesConfig['getTypeParser'],
}

/** An instant as SQL takes it. */
export const isoTime = (at_ms: number): string => new Date(at_ms).toISOString()
