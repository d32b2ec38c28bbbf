import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { Registry } from 'prom-client'
import { silent, testDatabase } from '../../test/postgres.ts'
import { openDatabase } from '../storage/database.ts'
import { linkBounds } from './bounds.ts'
import { connectEdge, hello } from './fixtures/edge-client.ts'
import { eventsFrame, foundSite, inverterFrame, lockedOut, noon, secret } from './fixtures/plant.ts'
import { attachLink } from './serve.ts'

const smallest_pool = 6
const edges = 12

test('each kind of work has a connection, and the others keep some, in pools of any size', () => {
  for (let pool_size = smallest_pool; pool_size <= 500; pool_size += 1) {
    const { live, later, presence } = linkBounds(pool_size)
    assert.ok(Math.min(live, later, presence) >= 1, `pool of ${pool_size}`)
    // The desired state and the watch of edges read with one more each.
    assert.ok(live + later + presence + 2 < pool_size, `pool of ${pool_size}`)
  }
  assert.deepEqual(linkBounds(20), { live: 6, later: 3, presence: 5 })
})

test('in the smallest pool a request has a connection while the link waits for locks', async (t) => {
  const database = await testDatabase()
  t.after(database.drop)
  await foundSite(database.db)
  await database.db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256)
     select site_id, lpad(to_hex(nth), 12, '0'), 'edge', secret_sha256
     from edges, generate_series(1, ${edges}) as nth`,
  )
  const db = await openDatabase({
    url: database.url,
    log: silent,
    application_name: 'small pool',
    max: smallest_pool,
  })
  const server = createServer()
  const link = attachLink({
    server,
    db,
    clock: { now: () => new Date(noon) },
    log: silent,
    metrics: new Registry(),
    timers: { after: () => () => {} },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients = await Promise.all(
    Array.from({ length: edges }, (_, nth) => {
      const id = (nth + 1).toString(16).padStart(12, '0')
      return connectEdge(port, hello, { authorization: `Bearer edge_${id}_${secret}` })
    }),
  )
  t.after(async () => {
    for (const { socket } of clients) socket.terminate()
    await link.close()
    server.close()
    await db.close()
  })
  const waitingSessions = async () => {
    const sessions = await database.db.query(
      `select from pg_stat_activity
       where application_name = 'small pool' and wait_event_type = 'Lock'`,
    )
    return sessions.length
  }
  const release = await lockedOut(database.db, 'lock table link_frames, edges in exclusive mode')
  try {
    for (const [nth, client] of clients.entries()) {
      client.batch('live', [inverterFrame(1, noon - nth), eventsFrame(2, noon - nth)])
      client.batch('backfill', [inverterFrame(3, noon - 1000 - nth), eventsFrame(4, noon)])
      client.send({
        type: 'status',
        at: noon,
        lowest_unacked_seq: 1,
        journal: { depth_frames: 0, depth_bytes: 0, oldest_at: null },
        devices: [],
      })
    }
    assert.ok((await settledCount(waitingSessions)) >= 3)
    for (let nth = 0; nth < 3; nth += 1) {
      assert.deepEqual(await db.query('select 1 as one'), [{ one: 1 }])
    }
  } finally {
    await release()
  }
  await Promise.all(clients.map((client) => client.untilAcked(1, 2, 3, 4)))
})

/** The number once it has not changed for many reads, longer than the link gathers readings. */
async function settledCount(read: () => Promise<number>): Promise<number> {
  let count = 0
  for (let same = 0; same < 500; ) {
    const next = await read()
    same = next === count && next > 0 ? same + 1 : 0
    count = next
  }
  return count
}
