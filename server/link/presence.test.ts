import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { Registry } from 'prom-client'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { revokeEdge } from '../access/edges.ts'
import { connectEdge, type EdgeClient, hello } from './fixtures/edge-client.ts'
import { edge_id, foundSite, lockedOut, noon, site_id, untilLockedOut } from './fixtures/plant.ts'
import { recordHello, recordOffline } from './presence.ts'
import { attachLink } from './serve.ts'

interface Replica {
  port: number
  /** Resolves when it has noticed that all who said hello are gone. */
  untilLeft(): Promise<void>
  /** Once it returns, everything that its connections had to store is stored. */
  stop(): Promise<void>
}

let database: TestDatabase
let now: number
let replicas: Replica[]
let clients: EdgeClient[]

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
after(() => database.drop())

beforeEach(async () => {
  await database.db.execute('truncate events')
  now = noon
  replicas = []
  clients = []
})
afterEach(async () => {
  for (const { socket } of clients) socket.terminate()
  for (const { stop } of replicas) await stop()
})

async function serve(): Promise<Replica> {
  const server = createServer()
  const metrics = new Registry()
  const link = attachLink({
    server,
    db: database.db,
    clock: { now: () => new Date(now) },
    log: silent,
    metrics,
    timers: { after: () => () => {} },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const replica = {
    port: (server.address() as AddressInfo).port,
    async untilLeft() {
      const gauge = metrics.getSingleMetric('heliograph_link_connections')!
      for (;;) {
        const { values } = await gauge.get()
        if (values.every(({ value }) => value === 0)) return
        await database.db.query('select')
      }
    },
    async stop() {
      await link.close()
      server.close()
    },
  }
  replicas.push(replica)
  return replica
}

async function connect({ port }: Replica, greeting?: Record<string, unknown> | null) {
  const client = await connectEdge(port, greeting)
  clients.push(client)
  return client
}

interface Stored {
  edge: string
  at: Date
  severity: string
  reason: string | null
}

/** What was recorded of the edge going and coming, in this order. */
const stored = () =>
  database.db.query<Stored>(
    `select edge, at, severity, details->>'reason' as reason from events
     where site_id = 'park' and source_kind = 'edge' and source_id = $1
       and code = 'edge_offline' and received_at = at
     order by event_id`,
    [edge_id],
  )

async function untilStored(count: number): Promise<void> {
  while ((await stored()).length < count);
}

const edges = async () => (await stored()).map(({ edge }) => edge)

test('an edge that drops is offline until its next hello', async () => {
  const replica = await serve()
  const first = await connect(replica)
  assert.deepEqual(await edges(), [])
  now = noon + 1000
  first.socket.terminate()
  await untilStored(1)
  now = noon + 2000
  const second = await connect(replica)
  const outage = [
    {
      edge: 'rising',
      at: new Date(noon + 1000),
      severity: 'major',
      reason: 'connection_lost',
    },
    { edge: 'falling', at: new Date(noon + 2000), severity: 'info', reason: null },
  ]
  assert.deepEqual(await stored(), outage)
  second.socket.send('nonsense')
  await untilStored(3)
  const third = await connect(replica)
  third.socket.close()
  await untilStored(5)
  assert.deepEqual(
    (await stored()).slice(2).map(({ edge, reason }) => [edge, reason]),
    [
      ['rising', 'bad_message'],
      ['falling', null],
      ['rising', 'connection_lost'],
    ],
  )
})

test('an edge that another connection of its own replaces is not offline', async () => {
  const replica = await serve()
  const first = await connect(replica)
  await connect(replica)
  assert.equal(await first.closed, 1008)
  await replica.stop()
  assert.deepEqual(await edges(), [])
})

test('an edge that connects to another server is taken over by it at once', async () => {
  const [left, right] = [await serve(), await serve()]
  const first = await connect(left)
  const second = await connect(right)
  assert.equal((await first.until('refusal')).code, 'replaced')
  assert.equal(await first.closed, 1008)
  const third = await connect(left)
  assert.equal((await second.until('refusal')).code, 'replaced')
  await left.stop()
  assert.equal(await third.closed, 1001)
  assert.deepEqual(await edges(), [])
})

test('a revoked edge is gone at once, from whatever server', async () => {
  const { db } = database
  const [left, right] = [await serve(), await serve()]
  const importer = { ...hello, role: 'importer', epoch: 'history-1' }
  const all = [await connect(left), await connect(right, importer)]
  const admin = { db, clock: { now: () => new Date(noon) }, randomBytes }
  await revokeEdge(admin, { site_id, edge_id })
  try {
    for (const client of all) {
      assert.equal((await client.until('refusal')).code, 'unknown_edge')
    }
  } finally {
    await db.execute('update edges set revoked_at = null')
  }
})

test('an importer leaves unnoticed', async () => {
  const replica = await serve()
  const importer = await connect(replica, { ...hello, role: 'importer', epoch: 'history-1' })
  importer.socket.terminate()
  await replica.untilLeft()
  await replica.stop()
  assert.deepEqual(await edges(), [])
})

test('a server that shuts down says nothing; what one left active the next one ends', async () => {
  const before = await serve()
  const first = await connect(before)
  await before.stop()
  assert.equal(await first.closed, 1001)
  assert.deepEqual(await edges(), [])
  const between = await serve()
  const second = await connect(between)
  second.socket.terminate()
  await untilStored(1)
  await between.stop()
  await connect(await serve())
  assert.deepEqual(await edges(), ['rising', 'falling'])
})

test('an edge that is connected to another server is not offline', async () => {
  const left = await serve()
  const first = await connect(left)
  const second = await connect(await serve())
  first.socket.terminate()
  await left.untilLeft()
  await left.stop()
  assert.deepEqual(await edges(), [])
  second.socket.terminate()
  await untilStored(1)
})

test('a hello ends what the connection before it is about to raise', async () => {
  const left = await serve()
  const first = await connect(left)
  const release = await lockedOut(database.db, 'select from edges for update')
  first.socket.terminate()
  // What follows the first hello may wait for the lock as well.
  await untilLockedOut(database.db, 'and connected_at = ')
  const second = await connect(await serve(), null)
  second.send(hello)
  // One that comes just as the lock is free goes before those that wait for it.
  await untilLockedOut(database.db, 'set connected_at = case')
  await release()
  await second.until('welcome')
  await left.stop()
  assert.deepEqual(await edges(), ['rising', 'falling'])
})

test('a server whose clock is behind does not turn a pair around', async () => {
  const first = await connect(await serve())
  now = noon + 5000
  first.socket.terminate()
  await untilStored(1)
  now = noon
  await connect(await serve())
  assert.deepEqual(
    (await stored()).map(({ at }) => at.getTime()),
    [noon + 5000, noon + 5000],
  )
})

test('what is active is not raised again', async () => {
  const edge = { site_id, edge_id }
  const greeting = { agent_version: '1.0.0', sent_at: noon, received_at: noon }
  const mark = await recordHello(database.db, edge, greeting)
  const end = { mark, reason: 'connection_lost', at: new Date(noon) }
  await Promise.all([1, 2, 3].map(() => recordOffline(database.db, edge, end)))
  assert.deepEqual(await edges(), ['rising'])
  const greetings = [1, 2, 3].map(() => recordHello(database.db, edge, greeting))
  assert.equal(new Set([mark, ...(await Promise.all(greetings))]).size, 4)
  assert.deepEqual(await edges(), ['rising', 'falling'])
})

test('an edge goes and comes in pairs, whatever servers and sockets it uses', async () => {
  const pair = [await serve(), await serve()] as const
  for (let round = 0; round < 8; round += 1) {
    const all = await Promise.all([0, 1, 0, 1].map((nth) => connect(pair[nth as 0 | 1], null)))
    for (const client of all) client.send(hello)
    await Promise.race(all.map((client) => client.until('welcome').catch(() => client.closed)))
    for (const { socket } of all) socket.terminate()
  }
  for (const { stop } of pair) await stop()
  const last = await connect(await serve())
  const { length } = await edges()
  last.socket.terminate()
  await untilStored(length + 1)
  const seen = await edges()
  assert.deepEqual(
    seen,
    seen.map((_, nth) => (nth % 2 === 0 ? 'rising' : 'falling')),
  )
  assert.equal(seen.at(-1), 'rising')
})
