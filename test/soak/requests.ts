/**
 * Any request to any operation: of the API and of the platform, signing in and documents, with
 * values at the ends of what can be written, odd headers, and the keys and sessions of everybody.
 */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { auth_operations } from '@heliograph/server/access/auth'
import { auth_path } from '@heliograph/server/access/sign-in-hooks'
import { endpoints } from '@heliograph/server/endpoints'
import { scopes } from '@heliograph/server/http/endpoint'
import { platformEndpoints } from '@heliograph/server/platform-endpoints'
import type { Queries } from '@heliograph/server/storage/database'
import fc from 'fast-check'
import type { AnyEndpoint } from '../conventions/calls.ts'
import type { DrawnRequest } from '../conventions/drawn-requests.ts'
import { extreme, type Near, requestOf } from '../conventions/extremes.ts'
import { addKey, type Fixtures } from '../conventions/fixtures.ts'
import { attempt, attemptedRequest, headerName, headerValue } from '../conventions/fuzz.ts'
import type { People } from './people.ts'

export interface SoakRequest extends DrawnRequest {
  /** Counts from 0; seed and number name the request. */
  nth: number
  /** null when address or method may be none of the table. */
  endpoint: AnyEndpoint | null
  operation: string
}

export interface Asking {
  fixtures: Fixtures
  people: People
  /** Keys other than the full one. */
  keys: readonly string[]
  near: Near
}

const table: readonly AnyEndpoint[] = [...endpoints, ...platformEndpoints]
const pages = [
  '/',
  '/docs',
  '/docs/page.js',
  '/openapi.json',
  '/readyz',
  '/index.html',
  '/v2',
  '//',
]
const auth = [...auth_operations]
/** Requests are drawn in chunks; a chunk follows from the seed and its number. */
const chunk_size = 500

const drawn = fc.record({
  kind: fc.oneof(
    { weight: 75, arbitrary: fc.constant('extreme' as const) },
    { weight: 15, arbitrary: fc.constant('attempt' as const) },
    { weight: 4, arbitrary: fc.constant('auth' as const) },
    { weight: 1, arbitrary: fc.constant('page' as const) },
  ),
  extreme: extreme(table.length),
  attempt: attempt(table),
  page: fc.constantFrom(...pages),
  auth: fc.constantFrom(...auth),
  auth_body: fc.oneof(
    fc.record({ email: fc.emailAddress(), password: fc.string({ maxLength: 40 }) }),
    fc.record({ token: fc.string(), newPassword: fc.string(), code: fc.string() }),
    fc.jsonValue(),
  ),
  headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 2 }),
  /** Most requests take the full key, because a refusal tests little. */
  key: fc.nat(124),
  person: fc.nat(1000),
  address: fc.nat(65_535),
  accepts: fc.constantFrom('gzip', 'br', 'identity', '', 'zstd, deflate'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer One> ? One : never

/** Makes one key for each scope. */
export async function addScopedKeys(db: Queries, client_id: number): Promise<string[]> {
  return Promise.all(
    scopes.map((scope, nth) =>
      addKey(db, {
        key_id: `bbbbbbbbbb${nth.toString(16).padStart(2, '0')}`,
        client_id,
        scopes: [scope],
      }),
    ),
  )
}

/** Times around `now`, where the plant has data. */
export function nearTo(now: Date): Near {
  const ago = (days: number) => now.getTime() - days * day_ms
  return {
    instants: [-1, 0, 0.1, 1, 2, 6.5, 30, 399, 401].map((days) =>
      new Date(ago(days)).toISOString(),
    ),
    days: [-1, 0, 1, 2, 6, 30, 399, 401].map((days) => utcDate(ago(days))),
  }
}

/** Yields requests without end, from number `from` on. */
export function* soakRequests(seed: number, from: number, asking: Asking): Generator<SoakRequest> {
  for (let nth = from; ; ) {
    const chunk = Math.floor(nth / chunk_size)
    const sample = fc.sample(drawn, { seed: seed + chunk, numRuns: chunk_size })
    for (const one of sample.slice(nth % chunk_size)) {
      yield soakRequest(one, nth, asking)
      nth += 1
    }
  }
}

function soakRequest(one: Drawn, nth: number, asking: Asking): SoakRequest {
  const made = plainRequest(one, asking)
  const { fixtures, keys, people } = asking
  const address = `10.1.${one.address >> 8}.${one.address & 255}`
  const headers: Record<string, string> = {
    'accept-encoding': one.accepts,
    'x-forwarded-for': address,
    ...made.headers,
    ...(one.kind === 'extreme' && Object.fromEntries(one.headers)),
  }
  if (headers['authorization'] === `Bearer ${fixtures.keys.full}`) {
    const key = keys[one.key]
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`
  }
  if (made.url.startsWith('/platform/')) {
    delete headers['authorization']
    Object.assign(headers, people.headersOf(one.person, made.url.startsWith(auth_path)))
  }
  return { ...made, headers, nth }
}

function plainRequest(one: Drawn, { fixtures, near }: Asking): Omit<SoakRequest, 'nth'> {
  if (one.kind === 'extreme') {
    const endpoint = table[one.extreme.endpoint]!
    const operation = endpoint.operation_id
    return { ...requestOf(one.extreme, table, fixtures, near), endpoint, operation }
  }
  if (one.kind === 'attempt') {
    const operation = `any request near ${table[one.attempt.endpoint]!.operation_id}`
    return { ...attemptedRequest(one.attempt, table, fixtures), endpoint: null, operation }
  }
  if (one.kind === 'auth') {
    const headers = { 'content-type': 'application/json' }
    const url = `${auth_path}${one.auth}`
    const payload = JSON.stringify(one.auth_body)
    const method = one.auth === '/get-session' || one.auth === '/list-sessions' ? 'GET' : 'POST'
    const sent = { method, url, headers, ...(method === 'POST' && { payload }) }
    return { ...sent, endpoint: null, operation: `signing in ${one.auth}` }
  }
  return { method: 'GET', url: one.page, headers: {}, endpoint: null, operation: one.page }
}
