/** Who asked for which write, and what they were answered: every write once, and no secret. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { deleteOldWrites } from '../../server/http/write-audit.ts'
import { assertError } from './conventions.ts'
import { type SampleServer, sampleServer } from './sample-server.ts'
import { type VirtualTime, virtualTime } from './virtual-time.ts'

let server: SampleServer
let time: VirtualTime
let settled: () => Promise<void>

before(async () => {
  time = virtualTime()
  server = await sampleServer({ ...time, plant: { settled: () => settled() } })
})
beforeEach(async () => {
  settled = async () => {}
  await server.database.db.execute(
    'delete from idempotency_records; delete from sample_notes; delete from write_audit',
  )
})
after(() => server.drop())

interface Asked {
  key?: string | null
  site?: string
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  path?: string
  body?: unknown
  headers?: Record<string, string>
  app?: SampleServer['app']
}

function ask({ key = server.fixtures.keys.full, method = 'POST', ...asked }: Asked) {
  const { site = server.fixtures.sites.live, path = '/notes', body, app = server.app } = asked
  return app.inject({
    method,
    url: `/v1/sites/${site}${path}`,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...asked.headers,
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** Of each site in the order of the writes. */
const noted = () =>
  server.database.db.query<Record<string, unknown>>(
    `select site_id, at, key_id, key_name, method, path, body, status, answer, request_id,
       idempotency_key from write_audit order by site_id, audit_id`,
  )

test('a write that was carried out is noted with who, what, when and its answer', async () => {
  const headers = { 'idempotency-key': 'k1', 'x-request-id': 'r1' }
  const answer = await ask({ body: { text: 'hello' }, path: '/notes', headers })
  assert.equal(answer.statusCode, 201)
  assert.deepEqual(await noted(), [
    {
      site_id: 'live-site',
      at: time.clock.now(),
      key_id: 'aaaaaaaaaaa1',
      key_name: 'key aaaaaaaaaaa1',
      method: 'POST',
      path: '/notes',
      body: '{"text":"hello"}',
      status: 201,
      answer: answer.body,
      request_id: 'r1',
      idempotency_key: 'k1',
    },
  ])
})

test('the query of a write is noted, without secrets', async () => {
  const { keys } = server.fixtures
  const secret = keys.full!.slice(-64)
  const query = `target_date=2026-06-21&a%20b=%00&Access_Token=hush&q=${keys.full}`
  await ask({ body: { text: 'hello' }, path: `/notes?${query}` })
  const [row] = await noted()
  const path = String(row!['path'])
  assert.ok(path.startsWith('/notes?target_date=2026-06-21&a+b=%00&Access_Token=***&q=svc_live_'))
  assert.ok(!path.includes(secret) && !path.includes('hush'), path)
})

test('without content there is no answer but a status', async () => {
  const deletion = await ask({ method: 'DELETE', path: '/notes/1' })
  assert.equal(deletion.statusCode, 204)
  const [row] = await noted()
  const { method, path, body, status, answer, idempotency_key } = row!
  assert.deepEqual([method, path, body, idempotency_key], ['DELETE', '/notes/1', null, null])
  assert.deepEqual([status, answer], [204, null])
})

test('every refusal of a known key on its site is noted, once', async () => {
  const { keys, sites } = server.fixtures
  const conflict = { 'idempotency-key': 'k2' }
  const text = { text: 'x' }
  const refusals = [
    [await ask({ body: text, key: keys.scopeless }), 'forbidden_scope'],
    [await ask({ body: { text: '' } }), 'validation_error'],
    [await ask({ body: '{' }), 'malformed_json'],
    [await ask({ body: 'x', headers: { 'content-type': 'text/plain' } }), 'unsupported_media_type'],
    [await ask({ body: { ...text, fail: 'missing' } }), 'not_found'],
    [await ask({ body: { ...text, fail: 'state' } }), 'conflict_state'],
    [await ask({ body: { ...text, fail: 'state' }, headers: conflict }), 'conflict_state'],
    [await ask({ body: { text: 'y' }, headers: conflict }), 'idempotency_conflict'],
    [await ask({ body: { ...text, fail: 'crash' } }), 'internal_error'],
    [await ask({ body: { ...text, fail: 'commit' } }), 'internal_error'],
    [await ask({ body: text, site: sites.safe }), 'conflict_safe_mode'],
  ] as const
  const expected = refusals.map(([answer, code]) => {
    assertError(answer, code)
    return [answer.statusCode, answer.body, answer.headers['x-request-id']]
  })
  const rows = await noted()
  assert.deepEqual(
    rows.map(({ status, answer, request_id }) => [status, answer, request_id]),
    expected,
  )
  assert.deepEqual(
    rows.map(({ body }) => body),
    [
      null,
      '{"text":""}',
      null,
      null,
      ...['missing', 'state', 'state'].map((fail) => `{"text":"x","fail":"${fail}"}`),
      '{"text":"y"}',
      '{"text":"x","fail":"crash"}',
      '{"text":"x","fail":"commit"}',
      '{"text":"x"}',
    ],
  )
  const [stored] = await server.database.db.query<{ count: number }>(
    'select count(*)::int as count from sample_notes',
  )
  assert.equal(stored!.count, 0)
})

test('reads, strangers, other sites and what comes too fast are not noted', async () => {
  const { keys, sites } = server.fixtures
  const body = { text: 'x' }
  assert.equal((await ask({ method: 'GET', path: '/notes/9' })).statusCode, 404)
  assert.equal((await ask({ method: 'HEAD', path: '/notes/9' })).statusCode, 404)
  assertError(await ask({ body, key: null }), 'missing_api_key')
  assertError(await ask({ body, key: keys.revoked }), 'revoked_api_key')
  assertError(await ask({ body, key: keys.narrow }), 'not_found')
  assertError(await ask({ body, site: sites.foreign }), 'not_found')
  assert.deepEqual(await noted(), [])
  let answer = await ask({ body, key: keys.limited })
  let carried_out = 0
  while (answer.statusCode === 201) {
    carried_out += 1
    answer = await ask({ body, key: keys.limited })
  }
  assertError(answer, 'rate_limited')
  assert.equal((await noted()).length, carried_out)
})

test('a replay is not a write, nor a duplicate of one under way', async () => {
  const headers = { 'idempotency-key': 'k1' }
  const gate = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  settled = () => {
    waiting.resolve()
    return gate.promise
  }
  const asked = { method: 'DELETE', path: '/curtailment/group/g1', headers } as const
  const first = ask(asked)
  await waiting.promise
  assertError(await ask(asked), 'idempotency_in_progress')
  gate.resolve()
  await first
  assert.equal((await ask(asked)).headers['idempotent-replayed'], 'true')
  assert.equal((await noted()).length, 1)
})

test('a write that waits is noted as it is done, and its answer when it comes', async () => {
  const gate = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  settled = () => {
    waiting.resolve()
    return gate.promise
  }
  const release = ask({ method: 'DELETE', path: '/curtailment/group/g1' })
  await waiting.promise
  const before = await noted()
  assert.deepEqual(
    before.map(({ path, status, answer }) => [path, status, answer]),
    [['/curtailment/group/g1', null, null]],
  )
  gate.resolve()
  const { body } = await release
  const after = await noted()
  assert.deepEqual(
    after.map(({ status, answer }) => [status, answer]),
    [[200, body]],
  )
})

test('a wait that fails is noted as it was answered, once', async () => {
  settled = () => Promise.reject(new Error('the plant is gone'))
  const failed = await ask({ method: 'DELETE', path: '/curtailment/group/g1' })
  assertError(failed, 'internal_error')
  const rows = await noted()
  assert.deepEqual(
    rows.map(({ status, answer }) => [status, answer]),
    [[500, failed.body]],
  )
})

test('a write whose note fails is not carried out, and a refusal is answered without one', async () => {
  const { db } = server.database
  await db.execute('alter table write_audit add constraint broken check (false) not valid')
  try {
    assertError(await ask({ body: { text: 'unnoted' } }), 'internal_error')
    assertError(await ask({ body: { text: '' } }), 'validation_error')
    assert.deepEqual(await db.query("select from sample_notes where text = 'unnoted'"), [])
  } finally {
    await db.execute('alter table write_audit drop constraint broken')
  }
  assert.deepEqual(await noted(), [])
})

test('the secret of a key is noted nowhere, wherever it was put', async () => {
  const key = server.fixtures.keys.full
  const secret = key.split('_')[3]!
  const query = `?api_key=${key}`
  await ask({ body: { text: `Bearer ${key} or ${key}` }, headers: { 'idempotency-key': key } })
  assertError(await ask({ body: { text: 'x' }, path: `/notes${query}` }), 'validation_error')
  assert.equal((await ask({ method: 'DELETE', path: `/curtailment/group/${key}` })).statusCode, 200)
  const [all] = await server.database.db.query<{ text: string; count: number }>(
    `select string_agg(a::text, ' ') as text, count(*)::int as count from write_audit a`,
  )
  assert.equal(all!.count, 3)
  assert.ok(!all!.text.includes(secret))
  assert.ok(all!.text.includes('svc_live_aaaaaaaaaaa1_…'))
})

test('long bodies are cut', async () => {
  await ask({ body: { text: 'x'.repeat(50_000) } })
  const [row] = await noted()
  assert.equal((row!.body as string).length, 4097)
  assert.ok((row!.body as string).endsWith('x…'))
  assert.equal((row!.answer as string).length, 4097)
})

test('after 400 days a write is forgotten', async () => {
  await ask({ body: { text: 'old' } })
  const { db } = server.database
  const later = (days: number) => new Date(time.clock.now().getTime() + days * 86_400_000)
  await deleteOldWrites(db, later(400))
  assert.equal((await noted()).length, 1)
  await deleteOldWrites(db, later(401))
  assert.equal((await noted()).length, 0)
})
