import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { ApiKey } from '../../server/http/authenticate.ts'
import { type Policy, rateLimits } from '../../server/http/rate-limit.ts'
import { joinReplicas } from '../../server/http/replicas.ts'
import { silent, type TestDatabase, testDatabase } from '../postgres.ts'
import { eventually, type VirtualTime, virtualTime } from './virtual-time.ts'

let database: TestDatabase
let time: VirtualTime
let joined: { stop(): Promise<void> }[]
beforeEach(async () => {
  database = await testDatabase()
  time = virtualTime()
  joined = []
})
afterEach(async () => {
  await Promise.all(joined.map((one) => one.stop()))
  await database.drop()
})

const key = {
  caller: { key_id: 'aaaaaaaaaaaa' },
  general_per_minute: null,
  write_per_minute: null,
} as ApiKey

async function replica(replica_id: string, db = database.db) {
  const rates = rateLimits()
  const others = await joinReplicas({ db, replica_id, rates, log: silent, ...time })
  const one = { rates, ...others }
  joined.push(one)
  return one
}
type Replica = Awaited<ReturnType<typeof replica>>
const now_ms = () => time.clock.now().getTime()

/** How many of so many requests at once are granted. */
async function taken({ rates }: Replica, wanted: number, policy: Policy = 'general') {
  const standings = await Promise.all(
    Array.from({ length: wanted }, () => rates.take(key, policy, now_ms())),
  )
  return standings.filter(({ granted }) => granted).length
}

const windows = async () => (await database.db.query('select from rate_windows')).length

/** By both clocks: that of the machines and that of the database. */
async function pass(ms: number) {
  time.jump(ms)
  await database.db.execute(
    'update rate_windows set at_ms = array(select at - $1::float8 from unnest(at_ms) as at)',
    [ms],
  )
}

test('a replica that is alone asks the database nothing', async () => {
  const a = await replica('a')
  assert.ok(!(a.rates.take(key, 'general', now_ms()) instanceof Promise))
  await a.heartbeat()
  assert.equal(await windows(), 0)
})

test('several replicas never grant more than one limit in any 60 s', async () => {
  const a = await replica('a')
  assert.equal(await taken(a, 30), 30)
  const b = await replica('b')
  assert.equal(await windows(), 1, 'what was counted alone is handed over before another grants')
  await pass(1000)
  const granted = await Promise.all([taken(a, 100), taken(b, 100), taken(a, 10, 'write')])
  assert.equal(granted[0] + granted[1], 90)
  assert.equal(granted[2], 10)
  assert.equal(await taken(b, 30, 'write'), 20)

  const c = await replica('c')
  assert.equal(await taken(c, 10), 0)
  assert.equal(c.rates.standing(key, 'general', now_ms()).remaining, 0)
  await pass(30_000)
  assert.equal((await taken(a, 100)) + (await taken(c, 100)), 0)
  await pass(60_000)
  assert.equal((await taken(a, 20)) + (await taken(c, 200)), 120)
})

test('the last of several counts alone again, and knows what all of them granted', async () => {
  const a = await replica('a')
  const b = await replica('b')
  assert.equal(await taken(b, 120), 120)
  await b.stop()
  await a.heartbeat()
  assert.equal(await taken(a, 1), 0, 'the window of the other is not over')
  await pass(80_000)
  await a.heartbeat()
  assert.ok(!(a.rates.take(key, 'general', now_ms()) instanceof Promise))
  assert.equal(await windows(), 0)
  assert.equal(await taken(a, 200), 119)
})

test('a replica that was stopped leaves its counts to the next', async () => {
  const a = await replica('a')
  assert.equal(await taken(a, 100), 100)
  await a.stop()
  const b = await replica('b')
  assert.equal(await taken(b, 100), 20)
})

test('a late notification of a replica that was stopped changes no count', async () => {
  const a = await replica('a')
  assert.equal(await taken(a, 100), 100)
  await a.stop()
  const { db } = database
  const listen: typeof db.listen = async (channel, listener) => {
    const listening = await db.listen(channel, listener)
    listener.notified('a')
    return listening
  }
  const b = await replica('b', { ...db, listen })
  assert.equal(await taken(b, 100), 20)
})

test('one that ended without a word keeps no other from starting', async () => {
  const gone = `insert into replicas (replica_id, seen_at) values ('gone', now() - interval '7 s')`
  await database.db.execute(gone)
  assert.equal(await taken(await replica('a'), 130), 120)
})

test('a replica that missed the notification shares with its next heartbeat', async () => {
  const a = await replica('a')
  assert.equal(await taken(a, 50), 50)
  await database.db.execute(
    "insert into replicas (replica_id, seen_at, shares) values ('b', now(), true)",
  )
  await a.heartbeat()
  await eventually(async () => assert.equal(await windows(), 1))
  assert.equal(await taken(a, 100), 70)
})
