import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ApiKey } from '../../server/http/authenticate.ts'
import { type Policy, rateLimits } from '../../server/http/rate-limit.ts'
import { replicas } from '../../server/http/replicas.ts'
import { silent, type TestDatabase, testDatabase } from '../postgres.ts'
import { virtualTime } from './virtual-time.ts'

let database: TestDatabase
const time = virtualTime()
before(async () => {
  database = await testDatabase()
})
after(() => database.drop())

const key = {
  caller: { key_id: 'aaaaaaaaaaaa' },
  general_per_minute: null,
  write_per_minute: null,
} as ApiKey

function replica(replica_id: string) {
  const rates = rateLimits()
  const { db } = database
  return { rates, ...replicas({ db, replica_id, rates, log: silent, ...time }) }
}
const now_ms = () => time.clock.now().getTime()

function takeAll(one: { rates: ReturnType<typeof rateLimits> }, policy: Policy, wanted: number) {
  let granted = 0
  for (let i = 0; i < wanted; i++) if (one.rates.take(key, policy, now_ms()).granted) granted++
  return granted
}

test('several replicas share one limit, a single one exchanges nothing', async () => {
  const counted = async () => (await database.db.query('select from rate_counts')).length
  const a = replica('a')
  await a.heartbeat()
  takeAll(a, 'general', 30)
  await a.exchange()
  assert.equal(await counted(), 0)

  const b = replica('b')
  await b.heartbeat()
  await a.heartbeat()
  takeAll(b, 'general', 50)
  takeAll(b, 'write', 10)
  for (const each of [a, b, a]) await each.exchange()
  assert.equal(a.rates.standing(key, 'general', now_ms()).remaining, 40)
  assert.equal(takeAll(a, 'general', 100), 40)
  for (const each of [a, b]) await each.exchange()
  assert.equal(takeAll(b, 'general', 100), 0)
  takeAll(a, 'write', 1)
  await a.exchange()
  assert.equal(a.rates.standing(key, 'write', now_ms()).remaining, 19)

  time.jump(60_000)
  assert.equal(takeAll(b, 'general', 200), 120)
  await b.stop()
  await a.heartbeat()
  const before_ = await counted()
  takeAll(a, 'general', 1)
  await a.exchange()
  assert.equal(await counted(), before_)
  await a.stop()
})
