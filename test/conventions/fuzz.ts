/** Whatever is sent, the API answers in its own words: never a 5xx, never another format. */
import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { type ErrorCode, errorCatalog } from '../../server/http/errors.ts'
import { anyCharacter } from '../any-character.ts'
import { type AnyEndpoint, addressOf, type Subject } from './calls.ts'
import { type DrawnRequest, encodeOnce, testDrawnRequests } from './drawn-requests.ts'

const oddities = [
  '%00',
  '%ff',
  '%',
  '%2e%2e',
  '..',
  '%2F',
  '',
  '-1',
  '2147483648',
  '99999999999999999999',
  '1e309',
  'NaN',
  'null',
  '__proto__',
  'constructor',
  "'; drop table sites; --",
  '\u{1F31E}',
  '\u0130',
  'a'.repeat(300),
  '2026-06-01',
  '2026-06-01T10:00:00Z',
  '9999-12-31T23:59:59-12:00',
  '1970-01-01T00:00:00Z',
  '2999-12-31T23:59:59Z',
]
const text = fc.oneof(
  fc.constantFrom(...oddities),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
)
const segment = fc.oneof(fc.constantFrom(...oddities, '1', '0', '7'), fc.string({ maxLength: 8 }))
export const headerValue = fc.oneof(
  fc.string({ maxLength: 30 }).map((value) => value.replaceAll(/[^\x20-\x7e]/g, '~')),
  fc.constantFrom('', '*', '"', 'gzip;q=x', 'br;q=0, *', 'W/"x"', ',,,', '=', 'a'.repeat(300)),
)
export const headerName = fc.constantFrom(
  'accept',
  'accept-encoding',
  'accept-version',
  'content-type',
  'expect',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'range',
  'x-forwarded-for',
  'x-http-method-override',
  'x-request-id',
)
const authorization = fc.oneof(
  { weight: 8, arbitrary: fc.constant('valid') },
  { weight: 1, arbitrary: headerValue },
)

export interface Attempt {
  endpoint: number
  method: string | null
  segments: string[]
  extra: string
  query: [string, string][]
  raw_query: string | null
  headers: [string, string][]
  authorization: string
  body: string | null
  json: boolean
}

export function attempt(endpoints: readonly AnyEndpoint[]): fc.Arbitrary<Attempt> {
  const names = [...new Set(endpoints.flatMap(({ query }) => Object.keys(query ?? {})))]
  return fc.record({
    endpoint: fc.nat(endpoints.length - 1),
    method: fc.option(fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')),
    segments: fc.array(segment, { minLength: 4, maxLength: 4 }),
    extra: fc.oneof({ weight: 5, arbitrary: fc.constant('') }, segment),
    query: fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), segment), text), { maxLength: 3 }),
    raw_query: fc.option(fc.string({ maxLength: 20 }), { freq: 5 }),
    headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 3 }),
    authorization,
    body: fc.option(fc.oneof(fc.json({ maxDepth: 4 }), text)),
    json: fc.boolean(),
  })
}

export function testAnyRequest(
  endpoints: readonly AnyEndpoint[],
  setUp: () => Promise<Subject>,
  runs = 1000,
): void {
  const title = 'any request at all is answered in the envelope and never fails the server'
  const draw = { drawn: attempt(endpoints), requestOf: attemptedRequest }
  testDrawnRequests(title, draw, { endpoints, setUp, runs, check: assertAnswered })
}

export function attemptedRequest(
  tried: Attempt,
  endpoints: readonly AnyEndpoint[],
  fixtures: Subject['fixtures'],
): DrawnRequest {
  const endpoint = endpoints[tried.endpoint]!
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const values = Object.fromEntries(
    names.map((name, index) => [name, encodeOnce(tried.segments[index] ?? '1')]),
  )
  const path = addressOf(endpoint, fixtures, { values }).split('?')[0]!
  const pairs = tried.query.map(([name, value]) => `${encodeOnce(name)}=${encodeOnce(value)}`)
  const query = tried.raw_query === null ? pairs.join('&') : encodeOnce(tried.raw_query)
  const given = tried.authorization
  return {
    method: tried.method ?? endpoint.method,
    url: `${path}${tried.extra && `/${encodeOnce(tried.extra)}`}${query && `?${query}`}`,
    headers: {
      ...Object.fromEntries(tried.headers),
      ...(tried.json && { 'content-type': 'application/json' }),
      authorization: given === 'valid' ? `Bearer ${fixtures.keys.full}` : given,
    },
    ...(tried.body !== null && tried.method !== 'GET' && { payload: tried.body }),
  }
}

/** An answer may be compressed when the request happens to allow it and the answer is long. */
function plainBody({ rawPayload, headers }: LightMyRequestResponse): string {
  const encoding = headers['content-encoding']
  if (rawPayload.length === 0) return ''
  if (encoding === 'br') return brotliDecompressSync(rawPayload).toString()
  if (encoding === 'gzip') return gunzipSync(rawPayload).toString()
  assert.equal(encoding, undefined)
  return rawPayload.toString()
}

function assertAnswered(response: LightMyRequestResponse): void {
  const { statusCode, headers } = response
  const body = plainBody(response)
  assert.ok(statusCode < 500, `${statusCode} ${body}`)
  assert.match(String(headers['x-request-id']), /^[A-Za-z0-9._-]{1,64}$/)
  if (statusCode < 400 || response.raw.req.method === 'HEAD') return
  const { error } = JSON.parse(body)
  assert.equal(errorCatalog[error.code as ErrorCode]?.status, statusCode, body)
  assert.deepEqual(Object.keys(error), ['code', 'message', 'request_id', 'details'])
}
