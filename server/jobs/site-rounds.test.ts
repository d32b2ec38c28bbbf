import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Registry } from 'prom-client'
import { virtualTime } from '../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { defineJob } from './job.ts'
import { createJobs } from './queue.ts'
import { beginRound, shareRound } from './site-rounds.ts'

let database: TestDatabase
const site_ids = Array.from({ length: 20 }, (_, nth) => `park-${nth + 10}`)
const name = 'visit_sites'

before(async () => {
  database = await testDatabase()
  await database.db.execute(
    `insert into clients (name, modules) values ('owner', '{basic_scada}');
     insert into sites (site_id, client_id, name)
     select 'park-' || nth, client_id, 'Park' from clients, generate_series(10, 29) as nth`,
  )
})
after(() => database.drop())
beforeEach(() => database.db.execute('truncate due_sites'))

const left = () =>
  database.db.query<{ site_id: string; is_claimed: boolean }>(
    `select site_id, claimed_until > now() as is_claimed from due_sites order by site_id`,
  )

/** A server that visits sites; after its first one it goes on when `open` resolves. */
function visitor(open: Promise<void> = Promise.resolve(), signal?: AbortSignal) {
  const visited: string[] = []
  const work = async (site_id: string) => {
    visited.push(site_id)
    await open
  }
  return { visited, share: () => shareRound(database.db, name, { work, signal }) }
}

test('servers share a round, and each site is visited once', async () => {
  const { db } = database
  await beginRound(db, name, site_ids)
  const [slow, other] = [Promise.withResolvers<void>(), visitor()]
  const first = visitor(slow.promise)
  const sharing = first.share()
  while (first.visited.length === 0) await left()
  await other.share()
  slow.resolve()
  await sharing
  assert.deepEqual([first.visited.length, other.visited.length], [4, 16])
  assert.deepEqual([...first.visited, ...other.visited].sort(), site_ids)
  assert.deepEqual(await left(), [])
})

test('the sites of a server that died are visited by another, later', async () => {
  const { db } = database
  await beginRound(db, name, site_ids)
  const died = visitor(new Promise(() => {}))
  void died.share()
  while (died.visited.length === 0) await left()
  const other = visitor()
  await other.share()
  assert.equal(other.visited.length, 16)
  assert.deepEqual(
    await left(),
    site_ids.slice(0, 4).map((site_id) => ({ site_id, is_claimed: true })),
  )
  // The next round comes while they are claimed.
  await beginRound(db, name, site_ids.slice(0, 5))
  await other.share()
  assert.deepEqual(other.visited.slice(16), ['park-14'])
  await db.execute(`update due_sites set claimed_until = now() - interval '1 second'`)
  await other.share()
  assert.deepEqual(other.visited.slice(17), site_ids.slice(0, 4))
})

test('a server that stops leaves its sites to others', async () => {
  const { db } = database
  await beginRound(db, name, site_ids)
  const [stop, open] = [new AbortController(), Promise.withResolvers<void>()]
  const stopped = visitor(open.promise, stop.signal)
  const sharing = stopped.share()
  while (stopped.visited.length === 0) await left()
  stop.abort(new Error('the server stops'))
  open.resolve()
  await assert.rejects(sharing, /the server stops/)
  assert.deepEqual(stopped.visited, ['park-10'])
  assert.deepEqual(
    (await left()).filter(({ is_claimed }) => is_claimed),
    [],
  )
  const other = visitor()
  await other.share()
  assert.deepEqual(other.visited, site_ids.slice(1))
})

test('a site that a server did not finish before it stopped stays due', async () => {
  const { db } = database
  await beginRound(db, name, site_ids.slice(0, 2))
  const stop = new AbortController()
  const work = async () => {
    stop.abort(new Error('the server stops'))
    stop.signal.throwIfAborted()
  }
  await assert.rejects(shareRound(db, name, { work, signal: stop.signal }), /the server stops/)
  assert.deepEqual(
    await left(),
    site_ids.slice(0, 2).map((site_id) => ({ site_id, is_claimed: null })),
  )
})

test('a site that fails harms no other, and fails the round', async () => {
  const { db } = database
  await beginRound(db, name, site_ids)
  const visited: string[] = []
  const work = async (site_id: string) => {
    visited.push(site_id)
    if (site_id === 'park-12') throw new Error('no such plant')
  }
  await assert.rejects(shareRound(db, name, { work }), /visit_sites failed at 1 of 20 sites/)
  assert.deepEqual(visited, site_ids)
  assert.deepEqual(await left(), [])
})

test('every server takes part in a run that one of them begins', async () => {
  const { db } = database
  const [visited, everyone] = [[[], []] as string[][], Promise.withResolvers<void>()]
  const queueOf = (nth: number) => {
    const share = () =>
      shareRound(db, name, {
        work: async (site_id) => {
          visited[nth]!.push(site_id)
          if (visited.every((sites) => sites.length > 0)) everyone.resolve()
          await everyone.promise
        },
      })
    const run = async () => {
      await beginRound(db, name, site_ids)
      await share()
    }
    const job = defineJob({ name, schedule: null, seconds_max: 60, run, share })
    const { clock } = virtualTime()
    return createJobs({ db, clock, log: silent, registry: new Registry(), jobs: [job] })
  }
  const queues = [queueOf(0), queueOf(1)]
  for (const queue of queues) await queue.start()
  await queues[0]!.runNow(name)
  for (const queue of queues) await queue.stop()
  assert.deepEqual(visited.flat().sort(), site_ids)
})
