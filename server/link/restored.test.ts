/** A server whose database is older than what it acknowledged: restored from a backup. */
import assert from 'node:assert/strict'
import test, { afterEach, beforeEach } from 'node:test'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { connectEdge, type EdgeClient, hello } from './fixtures/edge-client.ts'
import { serveLink } from './fixtures/link-server.ts'
import { edge_id, foundSite, inverterFrame, noon, site_id } from './fixtures/plant.ts'
import { forgetFrames } from './presence.ts'

let database: TestDatabase
let link: Awaited<ReturnType<typeof serveLink>>
let now: number

beforeEach(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  now = noon
  link = await serveLink(database.db, () => now)
})
afterEach(async () => {
  await link.close()
  await database.drop()
})

const connect = (lowest_unacked_seq: number) =>
  connectEdge(link.port, { ...hello, lowest_unacked_seq })

const frame = (seq: number) => inverterFrame(seq, noon - seq * 1000)

async function deliver(client: EdgeClient, ...seqs: number[]): Promise<void> {
  client.batch('live', seqs.map(frame))
  await client.untilAcked(...seqs)
}

/** Resolves when the server has taken the report in. */
async function report(client: EdgeClient, lowest_unacked_seq: number): Promise<void> {
  const journal = { depth_frames: 0, depth_bytes: 0, oldest_at: null }
  client.send({ type: 'status', at: now, lowest_unacked_seq, journal, devices: [] })
  for (;;) {
    const [edge] = await database.db.query<{ acked_below_seq: number }>('select * from edges')
    if (edge?.acked_below_seq === lowest_unacked_seq) return
  }
}

async function leave({ socket, closed }: EdgeClient): Promise<void> {
  socket.close()
  await closed
}

const missing = async () =>
  (
    await database.db.query<{ details: unknown }>(
      `select details from events where code = 'frames_missing' order by event_id`,
    )
  ).map(({ details }) => details)

const kept = ['edges', 'link_frames', 'inverter_readings', 'inverter_latest']

const backUp = () =>
  database.db.execute(kept.map((name) => `create table old_${name} as table ${name}`).join(';'))

async function restore(): Promise<void> {
  for (const name of kept) {
    await database.db.execute(`delete from ${name}; insert into ${name} table old_${name}`)
  }
}

test('an edge goes on with a restored server, and what is lost is told once', async () => {
  const before = await connect(1)
  await deliver(before, 1, 2, 3)
  await report(before, 3)
  await backUp()
  now = noon + 60_000
  await deliver(before, 4, 5, 6, 7, 8)
  await report(before, 6)
  await leave(before)
  assert.deepEqual(await missing(), [])

  await restore()
  now = noon + 120_000
  // The edge still holds 6 and 9; 7 and 8 overtook 6 and were acknowledged.
  const after = await connect(6)
  const heard = { last_seen_at: new Date(noon).toISOString() }
  // Only a frame that came says that the edge is as far as it claims.
  assert.deepEqual(await missing(), [])
  await deliver(after, 6, 9)
  await report(after, 10)
  const ranges = [
    [4, 5],
    [7, 8],
  ]
  const lost = { epoch: hello.epoch, frames: 4, first_seq: 4, last_seq: 8, ranges }
  const lost_after = [noon - 3000, noon - 6000]
  assert.deepEqual(await missing(), [{ ...lost, ...heard, lost_after }])
  now = noon + 180_000
  await deliver(after, 10, 11)
  await report(after, 12)
  await leave(after)
  await leave(await connect(12))
  assert.equal((await missing()).length, 1)
  const stored = await database.db.query<{ seq: number }>(
    `select round(extract(epoch from ($1::timestamptz - measured_at)))::int as seq
     from inverter_readings order by 1`,
    [new Date(noon)],
  )
  assert.deepEqual(
    stored.map(({ seq }) => seq),
    [1, 2, 3, 6, 9, 10, 11],
  )
})

test('a journal that goes on under a new enrolment lacks nothing', async () => {
  const client = await connect(1)
  await deliver(client, 1, 2, 3, 4)
  await report(client, 3)
  await leave(client)
  const other = 'f'.repeat(12)
  await database.db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256) values ($1, $2, 'new', 'x')`,
    [site_id, other],
  )
  const source = { site_id, edge_id: other, epoch: hello.epoch }
  const heard = { last_seen_at: null, at: new Date(now) }
  await forgetFrames(database.db, source, 5, heard)
  assert.deepEqual(await missing(), [])
  // Nor does the old one when it comes back with what it had.
  await forgetFrames(database.db, { ...source, edge_id }, 4, heard)
  assert.deepEqual(await missing(), [])
})
