/**
 * Requests that are right in form and far out in value: windows of centuries, huge ids, the ends of
 * number ranges, characters that no text of the database holds. None may be answered with a 5xx.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type AnyEndpoint, addressOf, type Subject } from './calls.ts'
import { type Draw, type DrawnRequest, encodeOnce, testDrawnRequests } from './drawn-requests.ts'

const far_instants = [
  '0001-01-01T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '1970-01-01T00:00:00.000000001Z',
  '2026-06-21T09:00:00Z',
  '2026-06-21T09:00:00%2B23:59',
  '2999-12-31T23:59:59Z',
  '9999-12-31T23:59:59Z',
  '294276-12-31T23:59:59Z',
  '%2B275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
]
const far_days = [
  '0000-01-01',
  '0001-01-01',
  '1970-01-01',
  '2026-06-21',
  '2999-12-31',
  '9999-12-31',
  '275760-09-13',
  '294276-12-31',
]
const integers = [
  '0',
  '1',
  '-1',
  '23',
  '365',
  '32768',
  '2147483647',
  '2147483648',
  '9999999999',
  '9007199254740993',
  '9223372036854775808',
]
const numbers = [
  ...integers,
  '-0',
  '-0.5',
  '1e-320',
  '1e38',
  '1e39',
  '1.7976931348623157e308',
  '1e309',
  '-1e308',
  'NaN',
  'Infinity',
  '-Infinity',
  '0x10',
  '1e',
  '\u0661',
]
const texts = [
  '',
  '%00',
  '%ED%A0%80',
  '\uFFFF',
  '%',
  '1,2147483648',
  '9999999999',
  'a'.repeat(200),
  '__proto__',
  "' or 1=1 --",
  '%25%27_',
  '\u202e\u0130\u{1f31e}',
  'a'.repeat(3000),
]

/** Times at which a plant has data, drawn beside the far ones. */
export interface Near {
  instants: readonly string[]
  days: readonly string[]
}
const nothing_near: Near = { instants: [], days: [] }

interface Schema {
  type?: string
  format?: string
  pattern?: string
  enum?: unknown[]
  items?: { enum?: unknown[] }
  examples?: unknown[]
}

function valuesFor(schema: Schema, near: Near): readonly string[] {
  const { type, format, pattern, items, examples = [] } = schema
  if (format === 'date-time') return [...near.instants, ...far_instants]
  if (format === 'date') return [...near.days, ...far_days]
  if (type === 'integer') return integers
  if (type === 'number') return numbers
  if (pattern?.includes('\\d')) return [...integers, '1,2,3', '1,9999999999']
  const known = [...(schema.enum ?? items?.enum ?? []), ...examples].map(String)
  return [...known, ...texts, ...integers]
}

/** Values of a body; JSON can hold what an address cannot. */
const leaves: readonly unknown[] = [
  null,
  true,
  '',
  'a',
  '\u0000',
  '\ud800',
  'a\udfff',
  'a'.repeat(20_000),
  ...far_instants.slice(0, 7),
  ...far_days,
  0,
  -0,
  1,
  -1,
  23,
  24,
  365,
  32_768,
  2_147_483_647,
  2_147_483_648,
  9_999_999_999,
  Number.MAX_SAFE_INTEGER,
  2 ** 63,
  1e-320,
  1e38,
  1e39,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  [],
  {},
  [2_147_483_648],
  Array.from({ length: 1001 }, (_, nth) => nth),
  nested(60),
  nested(5000),
]

function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 1; level < depth; level += 1) value = [value]
  return value
}

/** One request in what is random about it. */
export interface Extreme {
  endpoint: number
  /** A parameter of the address takes the value of its kind at this place, by turns. */
  places: number[]
  /** Which parameters are given, by turns. */
  given: boolean[]
  /** Which field of the example body is replaced, and by what. */
  field: number
  leaf: number
  export: boolean
  /** Repeats the first parameter with another value. */
  repeats: boolean
}

export const extreme = (count: number): fc.Arbitrary<Extreme> =>
  fc.record({
    endpoint: fc.nat(count - 1),
    places: fc.array(fc.nat(1000), { minLength: 6, maxLength: 6 }),
    given: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    field: fc.nat(1000),
    leaf: fc.nat(leaves.length - 1),
    export: fc.boolean(),
    repeats: fc.nat(9).map((nth) => nth === 0),
  })

export function requestOf(
  tried: Extreme,
  endpoints: readonly AnyEndpoint[],
  fixtures: Subject['fixtures'],
  near = nothing_near,
): DrawnRequest {
  const endpoint = endpoints[tried.endpoint % endpoints.length]!
  const pick = (schema: Schema, nth: number) => {
    const values = valuesFor(schema, near)
    return values[tried.places[nth % 6]! % values.length]!
  }
  const ids = Object.entries((endpoint.params ?? {}) as Record<string, Schema>)
  const values = { ...fixtures.values, ...fixtures.of?.[endpoint.operation_id] }
  for (const [nth, [name, schema]] of ids.entries()) {
    // Most paths lead somewhere: a 404 tells nothing of the query.
    if (tried.places[nth]! % 4 === 0) values[name] = encoded(pick(schema, nth))
  }
  const path = addressOf(endpoint, fixtures, { values }).split('?')[0]!
  const given = Object.entries((endpoint.query ?? {}) as Record<string, Schema>).filter(
    (_, nth) => tried.given[nth % 6],
  )
  if (tried.repeats && given[0]) given.push(given[0])
  const query = given
    .map(([name, schema], nth) => `${name}=${encoded(pick(schema, nth))}`)
    .join('&')
  const body = endpoint.method === 'GET' ? undefined : bodyOf(endpoint.example.body, tried)
  return {
    method: endpoint.method,
    url: query ? `${path}?${query}` : path,
    headers: {
      authorization: `Bearer ${fixtures.keys.full}`,
      ...(tried.export && endpoint.exports && { accept: 'text/csv' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: body }),
  }
}

const encoded = (value: string) => encodeOnce(value, /[?#/&+]/)

function bodyOf(example: unknown, { field, leaf }: Extreme): string | undefined {
  if (example === undefined) return undefined
  const body = structuredClone(example)
  const places = placesIn(body)
  const place = places[field % places.length]
  if (place) Object.assign(place.holder, { [place.key]: leaves[leaf] })
  return JSON.stringify(body)
}

interface Place {
  holder: object
  key: string
}

/** Every field of a value, those of its fields too. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const entries: [string, unknown][] = Object.entries(value)
  return entries.flatMap(([key, one]) => [{ holder: value, key }, ...placesIn(one)])
}

const drawExtreme = (count: number): Draw<Extreme> => ({ drawn: extreme(count), requestOf })

export function testExtremeValues(
  endpoints: readonly AnyEndpoint[],
  setUp: () => Promise<Subject>,
  runs = 600,
): void {
  const title = 'values at the ends of what can be written are answered, never with a 5xx'
  testDrawnRequests(title, drawExtreme(endpoints.length), {
    endpoints,
    setUp,
    runs,
    check: ({ statusCode, payload }) => assert.ok(statusCode < 500, payload),
  })
}
