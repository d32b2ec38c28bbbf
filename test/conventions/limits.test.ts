import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { assertError } from './conventions.ts'
import { type SampleServer, sampleServer } from './sample-server.ts'
import { type VirtualTime, virtualTime } from './virtual-time.ts'

let server: SampleServer
let time: VirtualTime

beforeEach(async () => {
  time = virtualTime('2026-06-01T10:00:20Z')
  server = await sampleServer(time)
})
afterEach(() => server.drop())

const call = (method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}) =>
  server.app.inject({
    method,
    url: `/v1/sites/live-site${path}`,
    headers: { authorization: `Bearer ${server.fixtures.keys.limited}`, ...headers },
  })

test('120 requests a minute, told on every answer', async () => {
  const first = await call('GET', '/bess/1')
  assert.equal(first.headers['ratelimit-policy'], '"general";q=120;w=60')
  assert.equal(first.headers.ratelimit, '"general";r=119;t=60')
  for (let i = 1; i < 120; i++) {
    // A request that fails counts as one that succeeds.
    const path = i % 2 ? '/bess/none' : '/bess/1'
    assert.notEqual((await call('GET', path)).statusCode, 429)
  }
  const refused = await call('GET', '/bess/1')
  const details = { policy: 'general', limit: 120, window_s: 60, retry_after_s: 60 }
  assert.deepEqual(assertError(refused, 'rate_limited'), details)
  assert.equal(refused.headers['retry-after'], '60')
  assert.equal(refused.headers.ratelimit, '"general";r=0;t=60')
  time.jump(60_000)
  assert.equal((await call('GET', '/bess/1')).headers.ratelimit, '"general";r=119;t=60')
})

test('30 writes a minute; replays count as requests, not as writes', async () => {
  const write = (key: string) => call('POST', '/bess/optimize-all', { 'idempotency-key': key })
  for (let i = 0; i < 30; i++) assert.equal((await write(`k${i}`)).statusCode, 200)
  const replay = await write('k0')
  assert.equal(replay.headers['idempotent-replayed'], 'true')
  assert.equal(replay.headers.ratelimit, '"general";r=89;t=60, "write";r=0;t=60')
  const refused = await write('new')
  assert.equal(assertError(refused, 'rate_limited').policy, 'write')
  assert.equal(refused.headers['ratelimit-policy'], '"general";q=120;w=60, "write";q=30;w=60')
  assert.equal((await call('GET', '/bess/1')).statusCode, 200)
  time.jump(60_000)
  assert.equal((await write('new')).statusCode, 200)
})

test('no 60 s hold more than the limit, also around a full minute', async () => {
  time.jump(39_000)
  const take = async (wanted: number) => {
    const answers = []
    for (let i = 0; i < wanted; i++) answers.push(await call('GET', '/bess/1'))
    return answers.filter(({ statusCode }) => statusCode !== 429).length
  }
  assert.equal(await take(60), 60)
  time.jump(10_000)
  assert.equal(await take(100), 60)
  time.jump(49_000)
  const refused = await call('GET', '/bess/1')
  assert.equal(assertError(refused, 'rate_limited').retry_after_s, 1)
  time.jump(1000)
  assert.equal(await take(100), 60, 'those of the first second have left the window')
  time.jump(10_000)
  assert.equal(await take(100), 60)
})

test('a key may have limits of its own', async () => {
  await server.database.db.execute(
    "update api_keys set general_per_minute = 2, write_per_minute = 1 where key_id like '%7'",
  )
  assert.equal((await call('POST', '/bess/optimize-all')).statusCode, 200)
  assert.equal(assertError(await call('POST', '/bess/optimize-all'), 'rate_limited').limit, 1)
  assert.equal(assertError(await call('GET', '/bess/1'), 'rate_limited').limit, 2)
})
