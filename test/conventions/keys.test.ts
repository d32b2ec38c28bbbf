/** Keys and sites are cached, and yet never older than a second. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { Database } from '../../server/storage/database.ts'
import { assertError } from './conventions.ts'
import { addKey, apiKey, secretOf } from './fixtures.ts'
import { type SampleServer, sampleServer } from './sample-server.ts'
import { eventually, type VirtualTime, virtualTime } from './virtual-time.ts'

let server: SampleServer
let time: VirtualTime
let gone = false
let queries = 0

/** The server's database, counted, and gone when it shall be. */
function watched(db: Database): Database {
  const guard = <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) => {
    return async (...args: Args) => {
      queries += 1
      if (gone) throw Object.assign(new Error('no server'), { code: 'ECONNREFUSED' })
      return run(...args)
    }
  }
  return {
    ...db,
    query: guard(db.query) as Database['query'],
    execute: guard(db.execute),
    transaction: guard(db.transaction) as Database['transaction'],
  }
}

beforeEach(async () => {
  time = virtualTime()
  gone = false
  server = await sampleServer(time)
})
afterEach(async () => {
  gone = false
  await server.drop()
})

const unit = '/v1/sites/live-site/bess/7'
const get = (app: FastifyInstance, key: string, url = unit, remoteAddress = '10.0.0.1') =>
  app.inject({ url, remoteAddress, headers: { authorization: `Bearer ${key}` } })
const revoke = () =>
  server.database.db.execute(`update api_keys set revoked_at = now() where key_id like '%1'`)

test('a request with a known key asks the database nothing where one server is alone', async () => {
  await server.app.close()
  const app = await server.replica({ db: watched(server.database.db) })
  assert.equal((await get(app, server.fixtures.keys.full)).statusCode, 200)
  queries = 0
  for (let i = 0; i < 50; i++) {
    assert.equal((await get(app, server.fixtures.keys.full)).statusCode, 200)
  }
  assert.equal(queries, 0)
})

test('a site of another client costs what a site that is not there costs', async () => {
  const app = await server.replica({ db: watched(server.database.db) })
  const { keys } = server.fixtures
  const foreign = '/v1/sites/foreign-site/bess/7'
  const stranger = apiKey('bbbbbbbbbbb1')
  await addKey(server.database.db, { client_id: 102, key_id: 'bbbbbbbbbbb1' })
  const counted = async (key: string, url: string) => {
    queries = 0
    assertError(await get(app, key, url), 'not_found')
    return queries
  }
  assert.equal((await get(app, stranger, foreign)).statusCode, 200, 'its own client keeps it warm')
  assert.equal((await get(app, keys.full)).statusCode, 200)
  assert.equal((await get(app, keys.narrow, '/v1/sites/safe-site/bess/7')).statusCode, 200)
  for (const nth of [1, 2]) {
    const none = await counted(keys.full, '/v1/sites/no-such-site/bess/7')
    assert.equal(await counted(keys.full, foreign), none, `request ${nth}`)
  }
  const unknown = await counted(keys.narrow, '/v1/sites/other-site/bess/7')
  assert.equal(await counted(keys.narrow, unit), unknown, 'a site that the key was not given')
})

test('a revoked key is refused after a second, with no notification and no refresh', async () => {
  const { app, fixtures } = server
  assert.equal((await get(app, fixtures.keys.full)).statusCode, 200)
  await revoke()
  time.jump(1000)
  assert.equal((await get(app, fixtures.keys.full)).statusCode, 200)
  time.jump(1)
  assertError(await get(app, fixtures.keys.full), 'revoked_api_key')
})

test('a revoked key is refused at the next refresh, and at once when notified', async () => {
  const { app, fixtures, database } = server
  await get(app, fixtures.keys.full)
  await revoke()
  time.advance(400)
  await eventually(async () => assertError(await get(app, fixtures.keys.full), 'revoked_api_key'))
  await database.db.execute('update api_keys set revoked_at = null')
  await database.db.query("select pg_notify('key_changed', 'aaaaaaaaaaa1')")
  await eventually(async () => {
    assert.equal((await get(app, fixtures.keys.full)).statusCode, 200)
  })
})

test('without the database a lone server takes known keys for a second, then none', async () => {
  await server.app.close()
  const app = await server.replica({ db: watched(server.database.db) })
  const { full } = server.fixtures.keys
  assert.equal((await get(app, full)).statusCode, 200)
  gone = true
  assert.equal((await get(app, full)).statusCode, 200)
  time.jump(1001)
  const response = await get(app, full)
  assertError(response, 'service_unavailable')
  assert.equal(response.headers['retry-after'], '1')
  assertError(await app.inject('/readyz'), 'service_unavailable')
  assert.equal((await app.inject('/healthz')).statusCode, 200)
  gone = false
  assert.equal((await get(app, full)).statusCode, 200)
})

test('a clock that is set back does not keep a key alive', async () => {
  const { app, fixtures } = server
  await get(app, fixtures.keys.full)
  await revoke()
  time.jump(-3_600_000)
  assertError(await get(app, fixtures.keys.full), 'revoked_api_key')
})

test('after a rotation the secret before it is accepted until its end', async () => {
  const { app, database } = server
  const secret = 'f'.repeat(64)
  await database.db.execute(
    `update api_keys set previous_secret_sha256 = secret_sha256, secret_sha256 = $1,
       previous_until = $2 where key_id = 'aaaaaaaaaaa1'`,
    [createHash('sha256').update(secret).digest(), '2026-06-01T11:00:00Z'],
  )
  const status = async (key: string) => (await get(app, key)).statusCode
  const old = apiKey('aaaaaaaaaaa1')
  assert.equal(await status(`svc_live_aaaaaaaaaaa1_${secret}`), 200)
  assert.equal(await status(old), 200)
  time.jump(3_600_000)
  assert.equal(await status(old), 401)
  assert.equal(await status(`svc_live_aaaaaaaaaaa1_${secret}`), 200)
})

test('guessing keys is limited per address, and then costs one query a second', async () => {
  const app = await server.replica({ db: watched(server.database.db) })
  const guess = (i: number, address: string) =>
    get(app, apiKey(i.toString(16).padStart(12, '0')), unit, address)
  for (let i = 0; i < 20; i++) {
    assertError(await guess(i, '2001:db8:1:2::9'), 'invalid_api_key')
  }
  queries = 0
  const refused = await guess(21, '2001:db8:1:2:ffff::1')
  assert.equal(assertError(refused, 'rate_limited').policy, 'failed_keys')
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal(queries, 1)
  assertError(await guess(22, '2001:db8:1:3::1'), 'invalid_api_key')
  await get(app, server.fixtures.keys.full, unit, '10.9.9.9')
  const known = await get(app, server.fixtures.keys.full, unit, '2001:db8:1:2::9')
  assert.equal(known.statusCode, 200)
  time.jump(60_000)
  assertError(await guess(23, '2001:db8:1:2::9'), 'invalid_api_key')
})

test('wrong keys of an address refuse none of its good ones, also after a restart', async () => {
  const { keys } = server.fixtures
  const app = await server.replica({ db: watched(server.database.db) })
  const guess = (i: number) => get(app, apiKey(i.toString(16).padStart(12, '0')), unit, '10.7.7.7')
  for (let i = 0; i < 20; i++) assertError(await guess(i), 'invalid_api_key')
  assertError(await guess(21), 'rate_limited')
  assert.equal((await get(app, keys.full, unit, '10.7.7.7')).statusCode, 200, 'never seen before')
  await addKey(server.database.db, { client_id: 101, key_id: 'cccccccccccc' })
  time.jump(1001)
  assert.equal((await get(app, apiKey('cccccccccccc'), unit, '10.7.7.7')).statusCode, 200)
  queries = 0
  for (let i = 22; i < 60; i++) assertError(await guess(i), 'rate_limited')
  const wrong_secret = `svc_live_aaaaaaaaaaa1_${'0'.repeat(64)}`
  assertError(await get(app, wrong_secret, unit, '10.7.7.7'), 'rate_limited')
  for (const dead of [keys.revoked, keys.expired]) {
    assertError(await get(app, dead, unit, '10.7.7.7'), 'rate_limited')
  }
  assert.ok(queries <= 1, `${queries} queries`)
})

test('keys are read from the header only, whole, and never logged', async () => {
  const { app, fixtures } = server
  const inQuery = await app.inject(`${unit}?api_key=${fixtures.keys.full}`)
  assertError(inQuery, 'missing_api_key')
  const twice = await get(app, `${fixtures.keys.full} ${fixtures.keys.full}`)
  assertError(twice, 'invalid_api_key')
  assert.ok(!twice.body.includes(secretOf('aaaaaaaaaaa1')))
})

test('safe mode holds within a second', async () => {
  const { app, fixtures, database } = server
  const write = () =>
    app.inject({
      method: 'POST',
      url: '/v1/sites/live-site/bess/optimize-all',
      headers: { authorization: `Bearer ${fixtures.keys.full}` },
    })
  assert.equal((await write()).statusCode, 200)
  await database.db.execute(
    "update sites set safe_mode_since_at = now() where site_id like 'live%'",
  )
  time.jump(1001)
  assertError(await write(), 'conflict_safe_mode')
  assert.equal((await get(app, fixtures.keys.full)).statusCode, 200)
})

test('when a key was last used is written down within a minute, and when the server ends', async () => {
  const { app, fixtures, database } = server
  const lastUsed = async () =>
    (
      await database.db.query<{ last_used_at: Date | null }>(
        "select last_used_at from api_keys where key_id = 'aaaaaaaaaaa1'",
      )
    )[0]!.last_used_at?.toISOString()
  await get(app, fixtures.keys.full)
  assert.equal(await lastUsed(), undefined)
  time.advance(60_000)
  await eventually(async () => assert.equal(await lastUsed(), '2026-06-01T10:00:00.000Z'))
  await get(app, fixtures.keys.full)
  await app.close()
  assert.equal(await lastUsed(), '2026-06-01T10:01:00.000Z')
})
