import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { Frame, Lane } from '@heliograph/domain/link'
import { Registry } from 'prom-client'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { linkBounds } from './bounds.ts'
import { type Commits, scheduleCommits } from './commits.ts'
import {
  edge_id,
  eventsFrame,
  foundSite,
  inverterFrame,
  lockedOut,
  noon,
  site_id,
  untilLockedOut,
} from './fixtures/plant.ts'
import { prepareFrame } from './frames.ts'
import { type Ingest, ingestInto } from './ingest.ts'
import { linkMetrics } from './metrics.ts'

let database: TestDatabase
let commit: Commits
/** The number of batches of each transaction that was begun. */
let transactions: number[]

const site_ids = Array.from({ length: 8 }, (_, nth) => `park-${nth + 1}`)

before(async () => {
  database = await testDatabase()
  const { db } = database
  await foundSite(db)
  await db.execute(
    `insert into sites (site_id, client_id, name)
     select id, client_id, 'new' from clients, unnest($1::text[]) as id`,
    [site_ids],
  )
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256)
     select id, edge_id, name, secret_sha256 from edges, unnest($1::text[]) as id
     where site_id = $2`,
    [site_ids, site_id],
  )
})
after(() => database.drop())
beforeEach(async () => {
  await database.db.execute(
    `truncate link_frames, rejected_frames, events, touched_hours, inverter_readings,
       inverter_latest`,
  )
  transactions = []
  const ingest = ingestInto(database.db)
  const store: Ingest['store'] = (batches) => {
    transactions.push(batches.length)
    return ingest.store(batches)
  }
  commit = scheduleCommits({ ...ingest, store }, linkMetrics(new Registry()), linkBounds(20))
})

function give(site_id: string, frames: readonly Frame[], lane: Lane = 'live') {
  const origin = { site_id, lane, received_at: noon }
  const prepared = frames.map((frame) => prepareFrame(frame, origin))
  const source = { site_id, edge_id, epoch: 'journal-1' }
  return commit(lane, { ...source, frames: prepared, received_at: noon })
}

const give1 = (site_id: string, lane?: Lane) => give(site_id, [inverterFrame(1, noon)], lane)

const sitesWithRows = async () =>
  (
    await database.db.query<{ site_id: string }>(
      `select l.site_id from inverter_latest l join inverter_readings using (site_id, inverter_id)
       order by site_id`,
    )
  ).map(({ site_id }) => site_id)

test('readings that arrive together are stored together, each batch with its own result', async () => {
  await Promise.all(site_ids.map((id) => give1(id)))
  assert.deepEqual(await sitesWithRows(), site_ids)
  assert.deepEqual(transactions, [1, 7])
  // A row that is stored already, and a frame that is.
  const again = await Promise.all([
    give('park-1', [inverterFrame(2, noon), inverterFrame(3, noon + 1)]),
    give('park-2', [inverterFrame(2, noon), inverterFrame(3, noon + 1)]),
    give('park-3', [inverterFrame(1, noon), inverterFrame(2, noon + 1)]),
    give('park-3', [inverterFrame(2, noon + 1)]),
  ])
  const counts = again.map((one) => [one.new_frames, one.stored_rows, one.repeated_rows])
  assert.deepEqual(counts, [
    [2, 1, 1],
    [2, 1, 1],
    [1, 1, 0],
    [0, 0, 0],
  ])
})

test('a batch that the database refuses fails alone', async () => {
  const { db } = database
  await db.execute(
    `alter table inverter_readings add constraint odd
       check (not (site_id = 'park-5' and ac_power_kw = 66))`,
  )
  const all = site_ids.map((id) =>
    give(id, [inverterFrame(1, noon, 66), inverterFrame(2, noon + 1, 50)]),
  )
  const done = await Promise.all(all).finally(() =>
    db.execute('alter table inverter_readings drop constraint odd'),
  )
  const refused = done.map((one) => one.refused.map(({ seq }) => seq))
  assert.deepEqual(
    refused,
    site_ids.map((id) => (id === 'park-5' ? [1] : [])),
  )
  assert.deepEqual(
    done.map(({ stored_rows }) => stored_rows),
    site_ids.map((id) => (id === 'park-5' ? 1 : 2)),
  )
  const [rejected] = await db.query('select site_id, seq from rejected_frames')
  assert.deepEqual(rejected, { site_id: 'park-5', seq: 1 })
})

test('a batch that waits for a lock holds up no other', async () => {
  await give1('park-5')
  const { db } = database
  const release = await lockedOut(
    db,
    `select from inverter_latest where site_id = 'park-5' for update`,
  )
  const late = give('park-5', [inverterFrame(2, noon + 1)])
  const others = site_ids.filter((id) => id !== 'park-5').map((id) => give1(id))
  try {
    await Promise.all(others)
    await Promise.all(site_ids.slice(0, 3).map((id) => give(id, [inverterFrame(2, noon + 1)])))
    await untilLockedOut(db, 'inverter_latest')
  } finally {
    await release()
  }
  assert.equal((await late).stored_rows, 1)
})

test('other frames have a transaction of their own', async () => {
  await Promise.all([
    give1('park-1'),
    give('park-2', [inverterFrame(1, noon), eventsFrame(2, noon)]),
    give1('park-3'),
    give1('park-4'),
  ])
  assert.deepEqual(transactions, [1, 1, 2])
  assert.deepEqual(await sitesWithRows(), site_ids.slice(0, 4))
})

test('live data does not wait for the backlogs of all edges', async () => {
  const { db } = database
  const claim = (id: string) =>
    `insert into link_frames values ('${id}', '${edge_id}', 'journal-1', 1)`
  const release = await lockedOut(db, site_ids.map(claim).join(';'))
  const late = site_ids.map((id) => give1(id, 'backlog'))
  try {
    await untilLockedOut(db, 'link_frames')
    const live = await give('park-1', [inverterFrame(2, noon)])
    assert.equal(live.stored_rows, 1)
  } finally {
    await release()
  }
  assert.deepEqual(
    (await Promise.all(late)).map(({ new_frames }) => new_frames),
    site_ids.map(() => 0),
  )
})

test('the loss of the database connection fails the whole transaction', async () => {
  await give1('park-1')
  const { db } = database
  const release = await lockedOut(db, 'lock table inverter_latest')
  const all = site_ids.slice(1, 4).map((id) =>
    give1(id).then(
      () => 'stored',
      () => 'failed',
    ),
  )
  await db.query('select pg_terminate_backend($1)', [await untilLockedOut(db, 'inverter_latest')])
  assert.deepEqual(await Promise.all(all), ['failed', 'failed', 'failed'])
  await release()
  assert.deepEqual(await sitesWithRows(), ['park-1'])
})
