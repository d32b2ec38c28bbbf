import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { linkHeader, linkPath, linkProtocol, up_bytes_max } from '@heliograph/domain/link'
import fc from 'fast-check'
import { Registry } from 'prom-client'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { connectEdge, type EdgeClient, hello, refusedStatus } from './fixtures/edge-client.ts'
import {
  edge_id,
  eventsFrame,
  foundSite,
  inverterFrame,
  lockedOut,
  noon,
  site_id,
  token,
  untilLockedOut,
} from './fixtures/plant.ts'
import { attachLink, type Link } from './serve.ts'

let database: TestDatabase
let server: Server
let link: Link
let metrics: Registry
let port: number
let clients: EdgeClient[]
let due: Set<() => void>
let releases: (() => Promise<void>)[]

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
after(() => database.drop())

beforeEach(async () => {
  await database.db.execute(
    `truncate link_frames, rejected_frames, events, inverter_readings, inverter_latest,
       touched_hours, device_status;
     update edges set acked_epoch = null, acked_below_seq = null, revoked_at = null`,
  )
  clients = []
  due = new Set()
  releases = []
  await serve()
})
afterEach(async () => {
  for (const release of releases) await release()
  for (const { socket } of clients) socket.terminate()
  await link.close()
  server.close()
})

async function serve(held_bytes_max?: number): Promise<void> {
  server = createServer()
  metrics = new Registry()
  link = attachLink({
    server,
    db: database.db,
    clock: { now: () => new Date(noon) },
    log: silent,
    metrics,
    timers: {
      after(_, callback) {
        due.add(callback)
        return () => due.delete(callback)
      },
    },
    ...(held_bytes_max === undefined ? {} : { held_bytes_max }),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
}

async function connect(greeting?: Record<string, unknown> | null): Promise<EdgeClient> {
  const client = await connectEdge(port, greeting)
  clients.push(client)
  return client
}

const importer = { ...hello, role: 'importer', epoch: 'history-1' }

const count = async (table: string) =>
  (await database.db.query<{ count: number }>(`select count(*) from ${table}`))[0]!.count

/** Without what the server says of its edges. */
const deviceEvents = "events where source_kind = 'inverter'"

async function gauge(name: string): Promise<number> {
  const { values } = await metrics.getSingleMetric(name)!.get()
  return values.reduce((sum, { value }) => sum + value, 0)
}

async function lockOut(statement: string): Promise<() => Promise<void>> {
  const release = await lockedOut(database.db, statement)
  releases.push(release)
  return release
}

const claim = (seq: number) =>
  `insert into link_frames values ('park', '${edge_id}', '${hello.epoch}', ${seq})`

test('only an edge with its token is let in', async () => {
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
  assert.equal(await refusedStatus(port, {}), 401)
  assert.equal(await refusedStatus(port, bearer('nonsense')), 401)
  assert.equal(await refusedStatus(port, bearer(token.replace(/.$/, '0'))), 401)
  assert.equal(await refusedStatus(port, bearer(token.replace(edge_id, 'f'.repeat(12)))), 401)
  assert.equal(await refusedStatus(port, bearer(token), '/edge/v2'), 404)
  assert.equal(await refusedStatus(port, bearer(token), linkPath, 'edge.v2'), 400)
  await database.db.execute('update edges set revoked_at = now()')
  assert.equal(await refusedStatus(port, bearer(token)), 401)
  await database.db.execute('update edges set revoked_at = null')
  assert.equal((await connect()).socket.protocol, linkProtocol)
})

test('hello is answered by the welcome and recorded', async () => {
  const edge = await connect({ ...hello, sent_at: noon - 1500, lowest_unacked_seq: 4 })
  const welcome = await edge.until('welcome')
  assert.deepEqual(welcome, {
    type: 'welcome',
    server_time: noon,
    window_frames: 1000,
    have: [],
    inventory: null,
  })
  assert.deepEqual(
    await database.db.query(
      'select connected_at, last_seen_at, agent_version, clock_offset_ms, acked_below_seq from edges',
    ),
    [
      {
        connected_at: new Date(noon),
        last_seen_at: new Date(noon),
        agent_version: '1.0.0',
        clock_offset_ms: -1500,
        acked_below_seq: 1,
      },
    ],
  )
  const astray = await connect(null)
  astray.send({ ...hello, site_id: 'elsewhere' })
  assert.equal((await astray.until('refusal')).code, 'wrong_site')
  assert.equal(await astray.closed, 1008)
})

test('an importer hears which frames are there and is no agent', async () => {
  const agent = await connect()
  const first = await connect(importer)
  first.batch(
    'backfill',
    [1, 2, 3, 7, 9, 10].map((seq) => inverterFrame(seq, noon - seq)),
  )
  await first.untilAcked(1, 2, 3, 7, 9, 10)
  const second = await connect(importer)
  assert.deepEqual((await second.until('welcome')).have, [
    [1, 3],
    [7, 7],
    [9, 10],
  ])
  // Neither of them is replaced, nor the agent.
  first.batch('backfill', [inverterFrame(4, noon - 4)])
  second.batch('backfill', [inverterFrame(5, noon - 5)])
  agent.batch('live', [inverterFrame(4, noon)])
  await Promise.all([first.untilAcked(4), second.untilAcked(5), agent.untilAcked(4)])
  first.batch('live', [inverterFrame(6, noon - 6)])
  assert.equal((await first.until('refusal')).code, 'bad_message')
  second.send({ ...status(), lowest_unacked_seq: 1 })
  assert.equal((await second.until('refusal')).code, 'bad_message')
})

test('one frame by two sockets at once counts once and is acknowledged to both', async () => {
  const [one, other] = await Promise.all([connect(importer), connect(importer)])
  const frames = Array.from({ length: 50 }, (_, nth) => eventsFrame(nth + 1, noon))
  const seqs = frames.map(({ seq }) => seq)
  for (let at = 0; at < 50; at += 10) {
    one.batch('backfill', frames.slice(at, at + 10))
    other.batch('backfill', frames.slice(40 - at, 50 - at).reverse())
  }
  await Promise.all([one.untilAcked(...seqs), other.untilAcked(...seqs)])
  assert.equal(await count('events'), 50)
})

test('live data does not wait for the backlog of its connection', async () => {
  const edge = await connect()
  const release = await lockOut(claim(1))
  edge.batch('backlog', [inverterFrame(1, noon - 9)])
  await untilLockedOut(database.db)
  edge.batch('backlog', [inverterFrame(2, noon - 8)])
  edge.batch('live', [inverterFrame(3, noon)])
  await edge.untilAcked(3)
  assert.deepEqual([...edge.acked], [3])
  await release()
  await edge.untilAcked(1, 2)
})

test('a second connection of the edge replaces the first, once its transaction is done', async () => {
  const first = await connect()
  const release = await lockOut('lock table inverter_latest')
  first.batch('live', [inverterFrame(1, noon)])
  await untilLockedOut(database.db)
  const second = await connect(null)
  second.send(hello)
  // Time enough for a hello: this one is refused by the database as well.
  const stranger = token.replace(/.$/, '0')
  assert.equal(await refusedStatus(port, { authorization: `Bearer ${stranger}` }), 401)
  assert.deepEqual(second.messages, [])
  await release()
  assert.equal((await first.until('refusal')).code, 'replaced')
  assert.equal(await first.closed, 1008)
  assert.deepEqual([...first.acked], [1])
  await second.until('welcome')
  second.batch('live', [inverterFrame(1, noon), inverterFrame(2, noon + 1)])
  await second.untilAcked(1, 2)
  assert.equal(await count('inverter_readings'), 2)
})

test('a lost database connection leaves nothing half-written and acknowledges nothing', async () => {
  const edge = await connect()
  const release = await lockOut('lock table inverter_latest')
  const frames = [inverterFrame(1, noon), eventsFrame(2, noon)]
  edge.batch('live', frames)
  const pid = await untilLockedOut(database.db)
  await database.db.query('select pg_terminate_backend($1)', [pid])
  assert.equal((await edge.until('refusal')).code, 'internal_error')
  assert.equal(await edge.closed, 1011)
  await release()
  assert.deepEqual([...edge.acked], [])
  for (const table of ['link_frames', 'inverter_readings', deviceEvents, 'touched_hours']) {
    assert.equal(await count(table), 0, table)
  }
  const again = await connect()
  again.batch('live', frames)
  await again.untilAcked(1, 2)
  assert.equal(await count('inverter_readings'), 1)
  assert.equal(await count(deviceEvents), 1)
})

const status = () => ({
  type: 'status',
  at: noon + 20,
  lowest_unacked_seq: 3,
  journal: { depth_frames: 7, depth_bytes: 900, oldest_at: noon - 5 },
  devices: [device('1', 'stale'), device('1', null), { ...device('2\0', null), last_ok_at: null }],
})

const device = (id: string, error: string | null) => ({
  kind: 'inverter',
  id,
  comm_state: 'connected',
  since: noon - 9,
  last_ok_at: noon,
  error,
  identity: { manufacturer: 'Maker', model: null, serial_number: 'S\0', firmware_version: '1' },
})

test('a status tells of devices and journal, and frames below its mark are forgotten', async () => {
  const edge = await connect()
  edge.batch(
    'live',
    [1, 2, 3, 4].map((seq) => inverterFrame(seq, noon - seq)),
  )
  await edge.untilAcked(1, 2, 3, 4)
  edge.send(status())
  // The last one with readings is remembered: what is lost would be after it.
  while ((await count('link_frames')) !== 3);
  assert.deepEqual(
    await database.db.query(
      'select clock_offset_ms, journal_depth_frames, journal_depth_bytes, journal_oldest_at from edges',
    ),
    [
      {
        clock_offset_ms: 20,
        journal_depth_frames: 7,
        journal_depth_bytes: 900,
        journal_oldest_at: new Date(noon - 5),
      },
    ],
  )
  const devices = 'select id, error, last_ok_at, serial_number from device_status order by id'
  assert.deepEqual(await database.db.query(devices), [
    { id: '1', error: null, last_ok_at: new Date(noon), serial_number: 'S\ufffd' },
    { id: '2\ufffd', error: null, last_ok_at: null, serial_number: 'S\ufffd' },
  ])
  edge.batch('live', [inverterFrame(1, noon - 1), inverterFrame(2, noon - 2)])
  await edge.untilAcked(1, 2)
  assert.equal(await count('inverter_readings'), 4)
})

test('a status updates the power of the site from fresh readings', async () => {
  await database.db.execute(
    `insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
       updated_at) values ('${site_id}', 1, 'L', 100, 100, now(), now());
     insert into inverters (site_id, inverter_id, logger_id, name, rated_ac_power_kw, phase_count,
       mppt_count, string_count, dc_capacity_kwp, driver, modbus_unit_id, created_at, updated_at)
     values ('${site_id}', 1, 1, 'I', 100, 3, 1, 1, 100, 'sunspec', 1, now(), now())`,
  )
  const edge = await connect()
  edge.batch('live', [inverterFrame(1, noon - 5000, 42)])
  await edge.untilAcked(1)
  edge.send(status())
  while ((await count('site_status')) === 0);
  assert.deepEqual(
    await database.db.query('select site_id, ac_power_kw, power_at from site_status'),
    [{ site_id, ac_power_kw: 42, power_at: new Date(noon - 5000) }],
  )
  await database.db.execute('delete from site_status; delete from inverters; delete from loggers')
})

test('a device is written again only when its status has changed', async () => {
  const edge = await connect()
  const versions = () =>
    database.db.query<{ id: string; version: string }>(
      'select kind, id, xmin::text as version from device_status order by kind, id',
    )
  const node = { ...device('9', null), kind: 'node' }
  const report = async (devices: readonly object[], depth_frames: number) => {
    const journal = { ...status().journal, depth_frames }
    edge.send({ ...status(), devices, journal })
    const stored = 'select from edges where journal_depth_frames = $1'
    while ((await database.db.query(stored, [depth_frames])).length === 0);
    // The report before this one was stored whole.
    edge.batch('live', [eventsFrame(depth_frames, noon)])
    await edge.untilAcked(depth_frames)
  }
  await report([device('1', null), device('2', null), node], 1)
  const first = await versions()
  assert.equal(first.length, 3)
  const later = { last_ok_at: noon + 10 }
  const lost = { ...device('2', null), comm_state: 'disconnected' }
  await report([{ ...device('1', null), ...later }, lost, { ...node, ...later }], 2)
  await report([], 3)
  const changed = (await versions()).filter(({ version }, nth) => version !== first[nth]!.version)
  assert.deepEqual(
    changed.map(({ id }) => id),
    ['2', '9'],
  )
})

test('a token that is revoked ends its connection at the next status', async () => {
  const edge = await connect()
  await database.db.execute('update edges set revoked_at = now()')
  edge.send(status())
  assert.equal((await edge.until('refusal')).code, 'unknown_edge')
})

test('a connection with too much in hand is not read until it is stored', async () => {
  await link.close()
  server.close()
  await serve(2000)
  const edge = await connect()
  const release = await lockOut('lock table inverter_latest')
  const seqs = Array.from({ length: 60 }, (_, nth) => nth + 1)
  for (const seq of seqs) edge.batch('live', [inverterFrame(seq, noon - seq)])
  await untilLockedOut(database.db)
  // It reads on for a moment: what came in one piece is taken in one piece.
  while ((await gauge('heliograph_link_paused_connections')) !== 1) await count('edges')
  assert.deepEqual([...edge.acked], [])
  await release()
  await edge.untilAcked(...seqs)
  assert.equal(await gauge('heliograph_link_paused_connections'), 0)
  assert.equal(await count('inverter_readings'), 60)
})

test('an edge that sends beyond its window is refused', async () => {
  const edge = await connect()
  const release = await lockOut('lock table inverter_latest')
  const frames = (first: number) =>
    Array.from({ length: 600 }, (_, nth) => inverterFrame(first + nth, noon - first - nth))
  edge.batch('backlog', frames(1))
  await untilLockedOut(database.db)
  edge.batch('backlog', frames(601))
  await release()
  assert.match((await edge.until('refusal')).message, /frames under way in lane backlog/)
})

test('who is silent, or says no hello, is hung up on', async () => {
  const mute = await connect(null)
  const edge = await connect()
  for (let beats = 0; beats < 4; beats += 1) {
    const ponged = once(edge.socket, 'ping')
    beat()
    if (beats < 3) await ponged
    // The answer to a message comes after the pong before it.
    edge.batch('live', [eventsFrame(beats + 1, noon)])
    await edge.untilAcked(beats + 1)
  }
  assert.equal(await mute.closed, 1006)
  edge.socket.pause()
  for (let beats = 0; beats < 4; beats += 1) beat()
  edge.socket.resume()
  assert.equal(await edge.closed, 1006)

  function beat() {
    const now = [...due]
    due.clear()
    for (const callback of now) callback()
  }
})

test('a shutdown finishes and acknowledges what runs, and lets no one in', async () => {
  const edge = await connect()
  const release = await lockOut('lock table inverter_latest')
  edge.batch('live', [inverterFrame(1, noon)])
  await untilLockedOut(database.db)
  edge.batch('live', [inverterFrame(2, noon + 1)])
  const closing = link.close()
  assert.equal(await refusedStatus(port, { authorization: `Bearer ${token}` }), 503)
  await release()
  assert.equal((await edge.until('refusal')).code, 'shutting_down')
  assert.equal(await edge.closed, 1001)
  await closing
  assert.deepEqual([...edge.acked], [1])
  assert.equal(await count('inverter_readings'), 1)
})

test('nothing that is sent brings the server down', async () => {
  const valid = [
    hello,
    status(),
    { type: 'batch', lane: 'live', frames: [inverterFrame(1, noon), eventsFrame(2, noon)] },
  ].map((message) => JSON.stringify(message))
  const mutated = fc
    .tuple(fc.constantFrom(...valid), fc.nat(), fc.nat(12), fc.string({ maxLength: 6 }))
    .map(([text, at, cut, put]) => {
      const start = at % text.length
      return text.slice(0, start) + put + text.slice(start + cut)
    })
  const frame = fc.record({
    seq: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.double()),
    kind: fc.oneof(fc.constantFrom('readings', 'events', 'inventory'), fc.string()),
    payload: fc.oneof(
      fc.json().map((text) => JSON.parse(text)),
      fc.anything(),
    ),
  })
  const batch = fc
    .array(frame, { minLength: 1, maxLength: 4 })
    .map((frames) => JSON.stringify({ type: 'batch', lane: 'live', frames }, plain))
  const message = fc.oneof(mutated, batch, fc.json(), fc.string(), fc.uint8Array())
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(message, { maxLength: 5 }), async (greet, messages) => {
      const fuzzed = await connect(greet ? hello : null)
      for (const one of messages) fuzzed.socket.send(one)
      fuzzed.socket.close()
      await fuzzed.closed
      const edge = await connect()
      edge.batch('live', [eventsFrame(1000, noon)])
      await edge.untilAcked(1000)
    }),
    { numRuns: 60 },
  )

  function plain(_: string, value: unknown): unknown {
    return typeof value === 'bigint' ? String(value) : value
  }
})

test('an edge that asks for it hears which frames were refused, and why', async () => {
  const told = await connectEdge(port, hello, { [linkHeader]: 'other, refused' })
  clients.push(told)
  const bad = { seq: 1, kind: 'riddle', payload: null }
  told.batch('live', [bad, inverterFrame(2, noon, 1)])
  await told.untilAcked(1, 2)
  const { frames } = await told.until('refused')
  assert.deepEqual(frames, [{ seq: 1, kind: 'riddle', reason: 'unknown kind of frame: riddle' }])

  const other = await connectEdge(port, { ...hello, epoch: 'journal-2' })
  clients.push(other)
  other.batch('live', [bad])
  await other.untilAcked(1)
  assert.ok(other.messages.every(({ type }) => type !== 'refused'))
})

test('a status with a device of a kind that only a newer edge knows has the others', async () => {
  const client = await connectEdge(port, hello)
  clients.push(client)
  const device = {
    kind: 'tracker',
    id: '7',
    comm_state: 'connected',
    since: noon,
    last_ok_at: noon,
    error: null,
    identity: null,
  }
  client.send({
    type: 'status',
    at: noon,
    lowest_unacked_seq: 1,
    journal: { depth_frames: 0, depth_bytes: 0, oldest_at: null },
    devices: [device, { ...device, kind: 'meter' }],
  })
  client.batch('live', [inverterFrame(1, noon, 1)])
  await client.untilAcked(1)
  await link.close()
  assert.deepEqual(await database.db.query('select kind, id from device_status'), [
    { kind: 'meter', id: '7' },
  ])
})

test('no claim of what was acknowledged makes the server drop frames that never came', async () => {
  const liar = await connectEdge(port, { ...hello, lowest_unacked_seq: Number.MAX_SAFE_INTEGER })
  clients.push(liar)
  liar.batch('live', [inverterFrame(1, noon, 1)])
  await liar.untilAcked(1)
  liar.send({
    type: 'status',
    at: noon,
    lowest_unacked_seq: Number.MAX_SAFE_INTEGER,
    devices: [],
    journal: { depth_frames: 0, depth_bytes: 0, oldest_at: null },
  })
  liar.batch('live', [inverterFrame(2, noon + 1, 2)])
  await liar.untilAcked(2)
  const edge = await connectEdge(port, { ...hello, lowest_unacked_seq: 3 })
  clients.push(edge)
  edge.batch('live', [inverterFrame(3, noon + 2, 3)])
  await edge.untilAcked(3)
  const powers = await database.db.query<{ ac_power_kw: number }>(
    'select ac_power_kw from inverter_readings order by measured_at',
  )
  assert.deepEqual(
    powers.map(({ ac_power_kw }) => ac_power_kw),
    [1, 2, 3],
  )
})

test('a message above the bound ends its connection, one within it is taken', async () => {
  const edge = await connectEdge(port)
  const payload = (bytes: number) => ['x'.repeat(bytes)]
  edge.batch('live', [{ seq: 1, kind: 'events', payload: payload(up_bytes_max - 1024) }])
  await edge.untilAcked(1)
  edge.batch('live', [{ seq: 2, kind: 'events', payload: payload(up_bytes_max) }])
  assert.equal(await edge.closed, 1009)
  const again = await connectEdge(port)
  again.batch('live', [inverterFrame(3, noon)])
  await again.untilAcked(3)
})

test('connections of one token are bounded, importers too: the oldest makes room', async () => {
  const agent = await connectEdge(port, hello)
  clients.push(agent)
  const importers: EdgeClient[] = []
  for (let nth = 0; nth < 6; nth += 1) {
    const importer = await connectEdge(port, {
      ...hello,
      role: 'importer',
      epoch: `history-${nth}`,
    })
    clients.push(importer)
    importers.push(importer)
  }
  for (const importer of importers.slice(0, 3)) {
    assert.equal((await importer.until('refusal')).code, 'replaced')
  }
  for (const one of [agent, ...importers.slice(3)]) {
    assert.equal(one.socket.readyState, one.socket.OPEN)
  }
})
