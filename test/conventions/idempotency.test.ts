import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { fingerprint } from '../../server/http/idempotency.ts'
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
  await server.database.db.execute('delete from idempotency_records; delete from sample_notes')
})
after(() => server.drop())

const site = '/v1/sites/live-site'

function create(body: string | object, key = 'k1', query = '') {
  return server.app.inject({
    method: 'POST',
    url: `${site}/notes${query}`,
    headers: {
      authorization: `Bearer ${server.fixtures.keys.full}`,
      'idempotency-key': key,
      'content-type': 'application/json',
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

const release = (key: string) =>
  server.app.inject({
    method: 'DELETE',
    url: `${site}/curtailment/group/g1`,
    headers: { authorization: `Bearer ${server.fixtures.keys.full}`, 'idempotency-key': key },
  })

async function stored(text: string): Promise<number> {
  const { db } = server.database
  const rows = await db.query('select from sample_notes where text = $1', [text])
  return rows.length
}

test('what differs anywhere in the address is another request', () => {
  const of = (url: string) => fingerprint({ method: 'POST', url, body: {} }).toString('hex')
  const urls = ['/a', '/b', '/a?x=1', '/a?x=2', '/a?x=1?y', '/a?x=1?z', '/a?x%3D1=2', '/a?x=1%3D2']
  assert.equal(new Set(urls.map(of)).size, urls.length)
  assert.equal(of('/a?x=1&y=2'), of('/a?y=2&x=1'))
})

test('many at once with one key execute once', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => create({ text: 'once' })))
  assert.equal(await stored('once'), 1)
  for (const answer of answers) {
    if (answer.statusCode === 201) continue
    assertError(answer, 'idempotency_in_progress')
    assert.match(String(answer.headers['retry-after']), /^(60|1)$/, '1: it was done meanwhile')
  }
  const bodies = new Set(answers.filter((a) => a.statusCode === 201).map((a) => a.body))
  assert.equal(bodies.size, 1)
})

test('the same value is the same request, whatever its order, spacing and quotes', async () => {
  const first = await create('{"text":"same","level":1}')
  const again = await create('{ "level": 1.0, "text": "s\\u0061me" }', '"k1"')
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(again.body, first.body)
  assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id'])
  assertError(await create({ text: 'other', level: 1 }), 'idempotency_conflict')
  assert.equal(await stored('same'), 1)
})

test('a key belongs to the API key, and is the same operation only on the same path', async () => {
  await create({ text: 'mine' })
  const elsewhere = await server.app.inject({
    method: 'POST',
    url: `${site}/bess/optimize-all`,
    headers: {
      authorization: `Bearer ${server.fixtures.keys.full}`,
      'idempotency-key': 'k1',
    },
  })
  assertError(elsewhere, 'idempotency_conflict')
  const other = await server.app.inject({
    method: 'POST',
    url: `${site}/notes`,
    headers: { authorization: `Bearer ${server.fixtures.keys.limited}`, 'idempotency-key': 'k1' },
    payload: { text: 'theirs' },
  })
  assert.equal(other.statusCode, 201)
})

test('what did not execute may be tried again with the same key', async () => {
  assertError(await create({ text: 'x', fail: 'missing' }), 'not_found')
  assertError(await create({ text: '' }), 'validation_error')
  assertError(await create({ text: 'x', fail: 'crash' }), 'internal_error')
  assertError(await create({ text: 'x', fail: 'schema' }), 'internal_error')
  assert.equal(await stored('x'), 0)
  assert.equal((await create({ text: 'x' })).statusCode, 201)
})

test('a conflict of state is an answer of execution, and is replayed', async () => {
  const first = await create({ text: 'x', fail: 'state' })
  assert.equal(assertError(first, 'conflict_state').current_state, 'closed')
  assert.equal(await stored('x'), 0)
  const again = await create({ text: 'x', fail: 'state' })
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(again.body, first.body)
})

test('a replay needs no allowance of writes and no safe mode, but a valid key', async () => {
  const first = await create({ text: 'x' })
  const { db } = server.database
  await db.execute("update sites set safe_mode_since_at = now() where site_id = 'live-site'")
  time.jump(1001)
  assert.equal((await create({ text: 'x' })).body, first.body)
  assertError(await create({ text: 'new' }, 'k2'), 'conflict_safe_mode')
  await db.execute('update sites set safe_mode_since_at = null')
  time.jump(1001)
  assert.equal((await create({ text: 'new' }, 'k2')).statusCode, 201)
})

test('after 24 hours the key may be used anew', async () => {
  await create({ text: 'x' })
  time.jump(24 * 3_600_000 - 1)
  assertError(await create({ text: 'y' }), 'idempotency_conflict')
  time.jump(1)
  const anew = await create({ text: 'y' })
  assert.equal(anew.statusCode, 201)
  assert.equal(anew.headers['idempotent-replayed'], undefined)
  assert.equal((await create({ text: 'y' })).body, anew.body)
})

test('while a write waits its repetition is told to wait, then replayed', async () => {
  const gate = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  settled = () => {
    waiting.resolve()
    return gate.promise
  }
  const first = release('r1')
  await waiting.promise
  const early = async () => {
    const answer = await release('r1')
    assertError(answer, 'idempotency_in_progress')
    return Number(answer.headers['retry-after'])
  }
  // What is left until it could be taken over, were its process dead.
  assert.equal(await early(), 60)
  time.jump(20_500)
  assert.equal(await early(), 40)
  time.jump(39_499)
  assert.equal(await early(), 1)
  gate.resolve()
  assert.equal((await first).json().status, 'cancelled')
  const again = await release('r1')
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(again.body, (await first).body)
  assert.equal(await stored('g1'), 1)
})

test('an unfinished record is taken over after 60 s, and its first owner then changes nothing', async () => {
  const gate = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  settled = () => {
    waiting.resolve()
    return gate.promise
  }
  const first = release('r1')
  await waiting.promise
  time.jump(60_000)
  settled = async () => {}
  const second = await release('r1')
  assert.equal(second.statusCode, 200)
  assert.equal(second.headers['idempotent-replayed'], undefined)
  gate.resolve()
  await first
  assert.equal((await release('r1')).body, second.body)
})

test('a failure after the effects is recorded, so that nothing is done twice', async () => {
  settled = async () => {
    throw new Error('the plant did not answer')
  }
  const first = await release('r1')
  assertError(first, 'internal_error')
  settled = async () => {}
  const again = await release('r1')
  assert.equal(again.body, first.body)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(await stored('g1'), 1)
})

test('an answer is recorded only together with what it answers for', async () => {
  const first = await create({ text: 'x', fail: 'commit' })
  assertError(first, 'internal_error')
  const again = await create({ text: 'x', fail: 'commit' })
  assert.equal(again.headers['idempotent-replayed'], undefined)
  assert.equal((await create({ text: 'x' })).statusCode, 201)
})
