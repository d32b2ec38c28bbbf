import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import type { Transaction } from '../storage/database.ts'
import { dueHours, readSettled, settleHours, touchHours } from './touched-hours.ts'

const site_id = 'site'
const device_id = 7
/** Of the database, whose clock tells which hours have ended. */
const this_hour = Math.floor(Date.now() / hour_ms)
const old_hour = this_hour - 5
const delays = { settle_ms: 20_000, running_ms: 300_000 }
/** When whatever is due is due, and no hour of now is running any more. */
const later = new Date(Date.now() + 48 * hour_ms)

let database: TestDatabase

before(async () => {
  database = await testDatabase()
})
after(() => database.drop())
beforeEach(() => database.db.execute('truncate touched_hours'))

const touch = (transaction: Transaction, hour: number) =>
  touchHours(transaction, [{ site_id, kind: 'inverter', device_id, hour }])
const touched = (hour: number) => database.db.transaction((transaction) => touch(transaction, hour))
const marks = () =>
  database.db.query<{ xmin: string; touches: number }>(
    'select xmin::text, touches from touched_hours order by hour_at',
  )
const take = async (transaction: Transaction, settled_at: Date) => {
  const due = await dueHours(transaction, site_id, { now: later, kinds: ['inverter'], most: 10 })
  await settleHours(transaction, site_id, due, { ...delays, now: later, settled_at })
}
const takeAll = () =>
  database.db.transaction(async (transaction) => take(transaction, await readSettled(transaction)))

test('the mark of a running hour is written once, that of an ended one is counted', async () => {
  await touched(this_hour)
  await touched(old_hour)
  const [before_old, before_running] = await marks()
  await touched(this_hour)
  await touched(old_hour)
  const [old, running] = await marks()
  assert.deepEqual(running, before_running)
  assert.deepEqual([before_old?.touches, old?.touches], [1, 2])
})

test('a mark is taken back when its hour has ended for the database, too', async () => {
  await touched(this_hour)
  await touched(old_hour)
  await takeAll()
  assert.equal((await marks()).length, 1)
  const [left] = await database.db.query('select hour_at from touched_hours')
  assert.deepEqual(left, { hour_at: new Date(this_hour * hour_ms) })
})

test('a mark that was renewed since it was read stays', async () => {
  await touched(old_hour)
  await database.db.transaction(async (transaction) => {
    const settled_at = await readSettled(transaction)
    const due = await dueHours(transaction, site_id, { now: later, kinds: ['inverter'], most: 10 })
    await touched(old_hour)
    await settleHours(transaction, site_id, due, { ...delays, now: later, settled_at })
  })
  assert.deepEqual(
    (await marks()).map(({ touches }) => touches),
    [2],
  )
})

test('whoever found a mark there holds it until the end', async () => {
  await touched(this_hour)
  await database.db.transaction(async (finder) => {
    await touch(finder, this_hour)
    const [{ began_at }] = (await finder.query<{ began_at: Date }>('select now() as began_at')) as [
      { began_at: Date },
    ]
    await database.db.transaction(async (taker) => {
      assert.deepEqual(await readSettled(taker), began_at)
    })
  })
  await database.db.transaction(async (taker) => {
    const [{ now }] = (await taker.query<{ now: Date }>('select now()')) as [{ now: Date }]
    assert.deepEqual(await readSettled(taker), now)
  })
})

test('of an hour that is on its way readers are not waited for', async () => {
  await database.db.transaction(async (reader) => {
    await reader.query('select count(*) from touched_hours')
    await database.db.transaction(async (taker) => {
      const [{ now }] = (await taker.query<{ now: Date }>('select now()')) as [{ now: Date }]
      assert.deepEqual(await readSettled(taker), now)
    })
  })
})

test('a mark is taken back only when those who may have found it have ended', async () => {
  await touched(old_hour)
  const ended_ms = (old_hour + 1) * hour_ms + 30 * 60_000
  const taken = (settled_ms: number) =>
    database.db.transaction((transaction) => take(transaction, new Date(settled_ms)))
  await taken(ended_ms)
  assert.equal((await marks()).length, 1)
  await database.db.execute("update touched_hours set due_at = '-infinity'")
  await taken(ended_ms + 60_000)
  assert.equal((await marks()).length, 0)
})
