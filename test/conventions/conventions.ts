/**
 * What the API promises of every endpoint, tested on every endpoint of a table. A new endpoint is
 * covered by standing in the table; what it needs to succeed stands in the fixtures.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import type { LightMyRequestResponse } from 'fastify'
import { type ErrorCode, errorCatalog } from '../../server/http/errors.ts'
import { window_days_max } from '../../server/http/windows.ts'
import { type AnyEndpoint, type Called, request, type Subject } from './calls.ts'

interface Convention {
  name: string
  applies(endpoint: AnyEndpoint): boolean
  holds(called: Called): Promise<void>
}

const always = () => true
const ofSite = (endpoint: AnyEndpoint) => endpoint.path !== '/v1/sites'
const isWrite = (endpoint: AnyEndpoint) => endpoint.method !== 'GET'
const hasQuery = (name: string) => (endpoint: AnyEndpoint) => endpoint.query?.[name] !== undefined
const formatOf = (endpoint: AnyEndpoint, name: string) =>
  (endpoint.query?.[name] as { format?: string } | undefined)?.format
const timestampOf = (endpoint: AnyEndpoint) =>
  Object.keys(endpoint.query ?? {}).find((name) => formatOf(endpoint, name) === 'date-time')

const isIdOrIds = ([name, schema]: [string, unknown]) =>
  name.endsWith('_id')
    ? (schema as { type?: string }).type === 'integer'
    : (schema as { format?: string }).format === 'ids'

/** Asserts the error envelope, its code, and the status that the code has. */
export function assertError(response: LightMyRequestResponse, code: ErrorCode) {
  const { error } = response.json()
  assert.equal(error.code, code, response.body)
  assert.equal(response.statusCode, errorCatalog[code].status)
  assert.deepEqual(Object.keys(response.json()), ['error'])
  assert.deepEqual(Object.keys(error), ['code', 'message', 'request_id', 'details'])
  assert.equal(error.request_id, response.headers['x-request-id'])
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  return error.details
}

/** Asserts a 422 that names the field with the code, among whatever else is wrong. */
function assertViolation(response: LightMyRequestResponse, field: string, code: string) {
  const { errors } = assertError(response, 'validation_error')
  const found = errors.some((each: { field: string; code: string }) => {
    return each.field === field && each.code === code
  })
  assert.ok(found, `no ${code} for ${field} in ${JSON.stringify(errors)}`)
}

const refusals: readonly Convention[] = [
  {
    name: 'needs a key',
    applies: always,
    async holds({ call }) {
      const response = await call({ key: null })
      assertError(response, 'missing_api_key')
      assert.match(String(response.headers['www-authenticate']), /^Bearer realm="[a-z]+"$/)
      const twisted = await call({ key: 'svc_live_0' })
      assertError(twisted, 'invalid_api_key')
      assert.match(String(twisted.headers['www-authenticate']), /error="invalid_token"/)
    },
  },
  {
    name: 'refuses a wrong, an expired and a revoked key',
    applies: always,
    async holds({ call, fixtures: { keys } }) {
      const wrong = `${keys.full.slice(0, -1)}${keys.full.endsWith('0') ? '1' : '0'}`
      assertError(await call({ key: wrong }), 'invalid_api_key')
      assertError(await call({ key: keys.expired }), 'expired_api_key')
      assertError(await call({ key: keys.revoked }), 'revoked_api_key')
    },
  },
  {
    name: 'needs its scope',
    applies: (endpoint) => endpoint.scope !== null,
    async holds({ call, endpoint, fixtures: { keys } }) {
      const response = await call({ key: keys.scopeless })
      assert.equal(assertError(response, 'forbidden_scope').required_scope, endpoint.scope)
      const challenge = `error="insufficient_scope", scope="${endpoint.scope}"`
      assert.ok(String(response.headers['www-authenticate']).endsWith(challenge))
    },
  },
  {
    name: 'needs its module',
    applies: (endpoint) => endpoint.module !== null,
    async holds({ call, endpoint, fixtures: { keys } }) {
      const response = await call({ key: keys.planless, site: 'planless-site' })
      assert.equal(assertError(response, 'forbidden_module').module, endpoint.module)
    },
  },
  {
    name: 'hides sites that the key does not see, whatever its scopes',
    applies: ofSite,
    async holds({ call, fixtures: { keys, sites } }) {
      const answers = [
        await call({ site: 'no-such-site' }),
        await call({ site: 'NO%00SITE' }),
        await call({ site: sites.foreign }),
        await call({ key: keys.narrow, site: sites.live }),
        await call({ key: keys.scopeless, site: sites.foreign }),
      ]
      for (const answer of answers) assert.equal(assertError(answer, 'not_found'), null)
    },
  },
  {
    name: 'has no other method',
    applies: always,
    async holds({ call, endpoint }) {
      for (const method of ['OPTIONS', 'TRACE', 'PROPFIND']) {
        const response = await call({ method, key: null })
        assertError(response, 'method_not_allowed')
        assert.ok(String(response.headers.allow).split(', ').includes(endpoint.method))
      }
    },
  },
]

const validation: readonly Convention[] = [
  {
    name: 'refuses unknown and repeated parameters',
    applies: always,
    async holds({ call, endpoint }) {
      assertViolation(await call({ query: 'no_such=1' }), 'no_such', 'unknown_parameter')
      for (const [name, schema] of Object.entries(endpoint.query ?? {})) {
        if ((schema as { type?: string }).type === 'array') continue
        const response = await call({ query: `${name}=1&${name}=1` })
        assertViolation(response, name, 'repeated_parameter')
      }
    },
  },
  {
    name: 'refuses ids of a bad form, and says that unknown ones are not found',
    applies: ({ params }) => Object.keys(params ?? {}).length > 0,
    async holds({ call, endpoint, fixtures }) {
      for (const [name, schema] of Object.entries(endpoint.params ?? {})) {
        if ((schema as { type?: string }).type !== 'integer') continue
        for (const value of ['abc', '1.5', '-1', '2147483648', '%201', '0x1', '1e3']) {
          const values = { ...fixtures.values, [name]: value }
          const response = await call({ values })
          assert.equal(response.statusCode, 422, `${name}=${value}: ${response.body}`)
          assert.equal(assertError(response, 'validation_error').errors[0].field, name)
        }
      }
    },
  },
  {
    name: 'refuses ids that are too large for one in its query as in its path',
    applies: ({ query }) => Object.entries(query ?? {}).some(isIdOrIds),
    async holds({ call, endpoint }) {
      for (const [name] of Object.entries(endpoint.query ?? {}).filter(isIdOrIds)) {
        for (const value of ['2147483648', '9999999999']) {
          assertViolation(await call({ query: `${name}=${value}` }), name, 'out_of_range')
        }
      }
    },
  },
  {
    name: 'refuses timestamps without an offset and times that do not exist',
    applies: (endpoint) => timestampOf(endpoint) !== undefined,
    async holds({ call, endpoint }) {
      const name = timestampOf(endpoint)!
      const fault = async (value: string, code: string) =>
        assertViolation(await call({ query: `${name}=${value}` }), name, code)
      await fault('2026-06-01T10:00:00', 'naive_timestamp')
      await fault('2026-06-01T10:00', 'invalid_timestamp')
      await fault('2026-02-30T10:00:00Z', 'invalid_timestamp')
      await fault('2026-06-01T24:00:00Z', 'invalid_timestamp')
      await fault('yesterday', 'invalid_timestamp')
      await fault('0001-01-01T00:00:00Z', 'out_of_range')
    },
  },
  {
    name: 'refuses days that do not exist',
    applies: ({ query }) =>
      Object.values(query ?? {}).some(
        (schema) => (schema as { format?: string }).format === 'date',
      ),
    async holds({ call, endpoint }) {
      for (const name of Object.keys(endpoint.query ?? {})) {
        if (formatOf(endpoint, name) !== 'date') continue
        for (const value of ['2026-02-29', '2026-6-1', '2026-06-01T00:00:00Z', 'today']) {
          assertViolation(await call({ query: `${name}=${value}` }), name, 'invalid_date')
        }
      }
    },
  },
  {
    name: 'refuses a window that ends before it starts',
    applies: (endpoint) => hasQuery('start')(endpoint) && hasQuery('end')(endpoint),
    async holds({ call, endpoint }) {
      const time = formatOf(endpoint, 'start') === 'date' ? '' : 'T00:00:00Z'
      const query = `start=2026-06-02${time}&end=2026-06-01${time}`
      assertViolation(await call({ query }), 'end', 'end_not_after_start')
    },
  },
  {
    name: 'refuses no window for its length, and cuts a series that no limit bounds',
    applies: (endpoint) => endpoint.window !== undefined,
    async holds({ call, endpoint }) {
      const time = formatOf(endpoint, 'start') === 'date' ? '' : 'T00:00:00Z'
      const far = `2999-12-31${time}`
      const widest = hasQuery('since')(endpoint)
        ? (start: string) => `since=${start}`
        : (start: string) => `start=${start}&end=${far}`
      const others = hasQuery('since')(endpoint)
        ? [`since=${far}`]
        : [`start=1970-01-01${time}`, `end=${far}`]
      for (const query of others) {
        const response = await call({ query })
        assert.equal(response.statusCode, 200, `${query}: ${response.body}`)
      }
      const response = await call({ query: widest(`1970-01-01${time}`) })
      assert.equal(response.statusCode, 200, response.body)
      const { meta } = response.json()
      if (hasQuery('limit')(endpoint) || meta?.next_start === undefined) return
      assert.equal(meta.truncated, true)
      assert.equal(Date.parse(meta.next_start), window_days_max * day_ms)
      const further = await call({ query: widest(meta.next_start) })
      assert.equal(further.json().meta.next_start > meta.next_start, true)
    },
  },
  {
    name: 'clamps a limit above its cap and refuses one that is none',
    applies: hasQuery('limit'),
    async holds({ call, endpoint }) {
      const { 'x-cap': cap } = endpoint.query!['limit'] as unknown as { 'x-cap': number }
      for (const limit of ['0', '-1', '1.5', 'abc', '']) {
        const response = await call({ query: `limit=${limit}` })
        assert.equal(assertError(response, 'validation_error').errors[0].field, 'limit')
      }
      const response = await call({ query: 'limit=999999' })
      assert.equal(response.statusCode, 200, response.body)
      const { data, meta } = response.json()
      assert.ok(data.length <= cap)
      if ('limit' in meta) assert.equal(meta.limit, cap)
    },
  },
]

const answers: readonly Convention[] = [
  {
    name: 'answers as it declares, with the headers of every answer',
    applies: always,
    async holds({ call, endpoint }) {
      const response = await call({ headers: { 'x-request-id': 'asked-for.1' } })
      // The server under test checks the body of every answer against the schema of its endpoint.
      assert.equal(response.statusCode, endpoint.status ?? 200, response.body)
      assert.equal(response.headers['x-request-id'], 'asked-for.1')
      assert.equal(response.headers['x-content-type-options'], 'nosniff')
      const policies = isWrite(endpoint) ? 'general, write' : 'general'
      const named = (text: unknown) => String(text).replaceAll(/"|;[^,]*/g, '')
      assert.equal(named(response.headers['ratelimit-policy']), policies)
      assert.equal(named(response.headers.ratelimit), policies)
      const made = await call({ headers: { 'x-request-id': 'not acceptable' } })
      assert.match(String(made.headers['x-request-id']), /^[A-Za-z0-9._-]{1,64}$/)
    },
  },
  {
    name: 'wears the envelope of a list where it declares one',
    applies: ({ returns }) =>
      (returns as { properties?: Record<string, unknown> }).properties?.['data'] !== undefined,
    async holds({ call }) {
      const { data, meta } = (await call()).json()
      assert.ok(Array.isArray(data))
      assert.ok(Number.isInteger(meta.count) && meta.count >= 0)
    },
  },
  {
    name: 'answers HEAD as GET, without the body',
    applies: ({ method }) => method === 'GET',
    async holds({ call }) {
      const response = await call({ method: 'HEAD' })
      assert.equal(response.statusCode, 200)
      assert.equal(response.body, '')
      assert.ok(Number(response.headers['content-length']) > 0)
    },
  },
  {
    name: 'is cached as it declares',
    applies: ({ method }) => method === 'GET',
    async holds({ call, endpoint }) {
      const first = await call()
      const etag = first.headers.etag as string | undefined
      if ((endpoint.cache ?? 'live') === 'live') {
        assert.equal(first.headers['cache-control'], 'no-store')
        assert.equal(etag, undefined)
        return
      }
      assert.match(etag!, /^"[^"]+"$/)
      const again = await call({ headers: { 'if-none-match': etag! } })
      assert.equal(again.statusCode, 304)
      assert.equal(again.body, '')
      assert.equal(again.headers.etag, etag)
      assert.ok(again.headers.ratelimit && again.headers['x-request-id'])
    },
  },
]

const writes: readonly Convention[] = [
  {
    name: 'is refused in safe mode, before its body is judged',
    applies: isWrite,
    async holds({ call, fixtures: { sites } }) {
      assertError(await call({ site: sites.safe }), 'conflict_safe_mode')
      assertError(await call({ site: sites.safe, body: { no_such: 1 } }), 'conflict_safe_mode')
    },
  },
  {
    name: 'refuses bodies that are not JSON',
    applies: isWrite,
    async holds({ call }) {
      const raw = (type: string, body: string | Buffer) =>
        call({ headers: { 'content-type': type }, body: Buffer.from(body) })
      assertError(await raw('application/json', '{"a":'), 'malformed_json')
      assertError(await raw('application/json', Buffer.from([0x22, 0xff, 0x22])), 'malformed_json')
      assertError(await raw('application/json', '{"__proto__":{"a":1}}'), 'malformed_json')
      assertError(await raw('application/json', '['.repeat(1000)), 'malformed_json')
      const twice = '{"b":[{"a":1},{"a":2}],"c":"a\\":","a":3,"\\u0061":4}'
      const details = assertError(await raw('application/json', twice), 'malformed_json')
      assert.deepEqual(details, { reason: 'key "\\u0061" twice' })
      assertError(await raw('text/plain', '{}'), 'unsupported_media_type')
      assertError(await raw('application/json', ' '.repeat(1024 * 1024 + 1)), 'payload_too_large')
    },
  },
  {
    name: 'refuses fields that it does not know',
    applies: isWrite,
    async holds({ call }) {
      assertViolation(await call({ body: { no_such: 1 } }), 'no_such', 'unknown_field')
    },
  },
  {
    name: 'is replayed byte for byte, and not mistaken for another',
    applies: isWrite,
    async holds({ call, endpoint }) {
      const headers = { 'idempotency-key': `replay-${endpoint.operation_id}` }
      const first = await call({ headers })
      assert.ok(first.statusCode < 300, first.body)
      const again = await call({ headers })
      assert.equal(again.statusCode, first.statusCode)
      assert.equal(again.body, first.body)
      assert.equal(again.headers['idempotent-replayed'], 'true')
      assert.equal(first.headers['idempotent-replayed'], undefined)
      const other = await call({ headers, body: { other: true } })
      assertError(other, 'idempotency_conflict')
      const bad = await call({ headers: { 'idempotency-key': 'with space' } })
      assertViolation(bad, 'Idempotency-Key', 'invalid_format')
    },
  },
]

/** Declares the tests of every convention for every endpoint of the table. */
export function testConventions(
  endpoints: readonly AnyEndpoint[],
  setUp: () => Promise<Subject>,
): void {
  describe('conventions', () => {
    let subject: Subject
    let is_changed = true
    before(async () => {
      subject = await setUp()
    })
    after(() => subject?.drop())
    for (const endpoint of endpoints) {
      for (const { name, applies, holds } of [...refusals, ...validation, ...answers, ...writes]) {
        if (!applies(endpoint)) continue
        test(`${endpoint.method} ${endpoint.path} ${name}`, async () => {
          const { app, fixtures } = subject
          if (is_changed) await subject.restore?.()
          is_changed = isWrite(endpoint)
          return holds({
            endpoint,
            fixtures,
            call: (change) => request(app, endpoint, fixtures, change),
          })
        })
      }
    }
  })
}
