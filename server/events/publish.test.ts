import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { deleteOldEvents, type NewEvent, publish, published_channel } from './publish.ts'

const now = new Date('2026-06-21T10:00:00Z')
let database: TestDatabase

before(async () => {
  database = await testDatabase()
  await database.db.query(`
    insert into clients (name, modules) values ('Sun', '{}');
    insert into sites (site_id, client_id, name) values ('here', 1, 'Here'), ('there', 1, 'There')`)
})
beforeEach(() => database.db.query('truncate published_events, event_counters cascade'))
after(() => database.drop())

const event = (subject: string, changes: Partial<NewEvent> = {}): NewEvent => ({
  site_id: 'here',
  at: now,
  type: 'alert.raised',
  subject,
  link: '/alerts',
  record: { subject },
  ...changes,
})

const stored = () =>
  database.db.query<{ site_id: string; event_id: number; subject: string; record: unknown }>(
    'select site_id, event_id, subject, record from published_events order by site_id, event_id',
  )
const subjects = async () => (await stored()).map(({ subject }) => subject)

test('events of a transaction are committed with it, in order, and announced once per site', async () => {
  const { db } = database
  const announced: string[] = []
  const listening = await db.listen(published_channel, {
    notified: (site_id) => void announced.push(site_id),
    resumed() {},
  })
  await assert.rejects(
    db.transaction(async (tx) => {
      publish(tx, event('undone'))
      throw new Error('undone')
    }),
  )
  await db.transaction(async (tx) => {
    publish(tx, event('a'))
    publish(tx, event('of there', { site_id: 'there' }))
    publish(tx, event('b'))
    assert.deepEqual(await stored(), [])
  })
  await db.transaction(async (tx) => publish(tx, event('c')))
  assert.deepEqual(await subjects(), ['a', 'b', 'c', 'of there'])
  while (announced.length < 3) await db.query('select')
  await listening.stop()
  assert.deepEqual(announced.toSorted(), ['here', 'here', 'there'])
})

test('a reader that has passed an id has seen every lower one', async () => {
  const { db } = database
  let read: string[] = []
  let last_id = 0
  const readOn = async () => {
    const rows = await db.query<{ event_id: number; subject: string }>(
      `select event_id, subject from published_events
       where site_id = 'here' and event_id > $1 order by event_id`,
      [last_id],
    )
    last_id = rows.at(-1)?.event_id ?? last_id
    read = [...read, ...rows.map(({ subject }) => subject)]
  }
  // Each transaction stays open for another number of statements.
  const writers = Array.from({ length: 40 }, (_, nth) =>
    db.transaction(async (tx) => {
      publish(tx, event(`${nth}`))
      for (let turn = 0; turn < (nth * 7) % 10; turn += 1) await tx.query('select')
      publish(tx, event(`${nth} again`))
    }),
  )
  let is_over = false
  const all = Promise.all(writers).then(() => {
    is_over = true
  })
  while (!is_over) await readOn()
  await all
  await readOn()
  assert.equal(read.length, 80)
  assert.deepEqual(read, await subjects())
})

test('ids are the time of the database, also after the counter was restored to an earlier one', async () => {
  const { db } = database
  await db.transaction(async (tx) => publish(tx, event('a')))
  const [first] = await stored()
  const [{ us } = { us: 0 }] = await db.query<{ us: number }>(
    'select (extract(epoch from clock_timestamp()) * 1e6)::bigint as us',
  )
  assert.ok(Math.abs(us - first!.event_id) < 60e6)
  await db.query('truncate event_counters')
  await db.transaction(async (tx) => publish(tx, event('b')))
  assert.deepEqual(await subjects(), ['a', 'b'])
  const ahead = us + 3600e6
  await db.query('update event_counters set last_event_id = $1', [ahead])
  await db.transaction(async (tx) => {
    publish(tx, event('c'))
    publish(tx, event('d'))
  })
  const ids = (await stored()).slice(2).map(({ event_id }) => event_id)
  assert.deepEqual(ids, [ahead + 1, ahead + 2])
})

test('a record of more than 64 KiB is left out', async () => {
  await database.db.transaction(async (tx) => {
    publish(tx, event('small', { record: { text: 'ä'.repeat(32_000) } }))
    publish(tx, event('large', { record: { text: 'ä'.repeat(32_800) } }))
  })
  const records = (await stored()).map(({ record }) => record === null)
  assert.deepEqual(records, [false, true])
})

test('events are kept for 30 days', async () => {
  const { db } = database
  const before = (days: number) => new Date(now.getTime() - days * day_ms)
  await db.transaction(async (tx) => {
    publish(tx, event('old', { at: before(30.1) }))
    publish(tx, event('young', { at: before(29.9) }))
  })
  await deleteOldEvents(db, now)
  assert.deepEqual(await subjects(), ['young'])
})
