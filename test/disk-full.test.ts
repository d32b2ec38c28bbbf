/** The database disk runs full: nothing is lost, and nothing acknowledged that is not kept. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import test from 'node:test'
import { Registry } from 'prom-client'
import { connectEdge, hello } from '../server/link/fixtures/edge-client.ts'
import { serveLink } from '../server/link/fixtures/link-server.ts'
import { foundSite, inverterFrame, noon } from '../server/link/fixtures/plant.ts'
import { type Database, openDatabase } from '../server/storage/database.ts'
import { guardDisk } from '../server/storage/disk-space.ts'
import { startEmbedded } from '../server/storage/embedded.ts'
import { migrate } from '../server/storage/migrate.ts'
import { request } from './conventions/calls.ts'
import { sampleEndpoints } from './conventions/sample-endpoints.ts'
import { sampleServer } from './conventions/sample-server.ts'
import { silent, testDatabase } from './postgres.ts'
import { smallDisk } from './small-disk.ts'

const timers = { after: () => () => {} }
const mebibyte = 2 ** 20

const count = async (db: Database) =>
  (await db.query<{ count: number }>('select count(*) from inverter_readings'))[0]!.count

test('frames are not acknowledged while there is no room, and are taken when there is', async (t) => {
  const database = await testDatabase()
  t.after(() => database.drop())
  await foundSite(database.db)
  let free_bytes = 400 * mebibyte
  const logged: string[] = []
  const log = {
    info: (_: unknown, message?: string) => logged.push(message ?? ''),
    warn() {},
    error: (_: unknown, message?: string) => logged.push(message ?? ''),
  } as never
  const metrics = new Registry()
  const freeBytes = async () => free_bytes
  const guard = await guardDisk(database.db, { data_dir: '/', timers, log, metrics, freeBytes })
  const is_full = async () => (await metrics.getSingleMetric('heliograph_disk_full')!.get()).values
  const { port, close } = await serveLink(guard.db, () => noon)
  t.after(close)
  const client = await connectEdge(port)
  client.batch('live', [inverterFrame(1, noon)])
  await client.untilAcked(1)

  free_bytes = 200 * mebibyte
  await guard.look()
  client.batch('live', [inverterFrame(2, noon - 1000)])
  assert.equal(await client.closed, 1011)
  assert.deepEqual([...client.acked], [1])
  assert.equal((await is_full())[0]?.value, 1)
  // Who comes back meanwhile is told that it will pass.
  const early = await connectEdge(port, null)
  early.send(hello)
  assert.equal((await early.until('refusal')).code, 'internal_error')
  assert.equal(await count(guard.db), 1)
  assert.equal(await guard.db.transaction(count as never, { read_only: true }), 1)

  free_bytes = 300 * mebibyte
  await guard.look()
  assert.equal((await is_full())[0]?.value, 1, 'not at the very bound')
  free_bytes = 330 * mebibyte
  await guard.look()
  const again = await connectEdge(port, { ...hello, lowest_unacked_seq: 2 })
  again.batch('backlog', [inverterFrame(2, noon - 1000)])
  await again.untilAcked(2)
  assert.equal(await count(guard.db), 2)
  assert.equal((await is_full())[0]?.value, 0)
  assert.deepEqual(logged, [
    'the disk is full: writes are rejected',
    'the disk has space again: writes are accepted',
  ])
  again.socket.terminate()
})

test('writes of the API get 503 while there is no room, and succeed with the same key after', async (t) => {
  const server = await sampleServer()
  t.after(() => server.drop())
  let free_bytes = 0
  const guard = await guardDisk(server.database.db, {
    data_dir: '/',
    timers,
    log: silent,
    metrics: new Registry(),
    freeBytes: async () => free_bytes,
  })
  const app = await server.replica({ db: guard.db })
  const byId = (id: string) => sampleEndpoints.find(({ operation_id }) => operation_id === id)!
  const write = () =>
    request(app, byId('note_create'), server.fixtures, {
      headers: { 'idempotency-key': 'disk-full-1' },
    })
  const refused = await write()
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().error.code, 'service_unavailable')
  assert.ok(refused.headers['retry-after'])
  assert.equal((await request(app, byId('bess_unit'), server.fixtures)).statusCode, 200)
  free_bytes = 1000 * mebibyte
  await guard.look()
  assert.equal((await write()).statusCode, 201)
})

test('PostgreSQL outlives a disk that is full to the last byte', async (t) => {
  const disk = await smallDisk(256)
  if (typeof disk === 'string') return t.skip(disk)
  try {
    const data_dir = path.join(disk.directory, 'data')
    await mkdir(data_dir)
    const embedded = await startEmbedded({ data_dir, log: silent, durable: false })
    const db = await openDatabase({ url: embedded.url, log: silent, application_name: 'test' })
    try {
      await migrate(db)
      await foundSite(db)
      const metrics = new Registry()
      const settings = { data_dir, timers, log: silent, metrics, free_bytes_min: 16 * mebibyte }
      const guard = await guardDisk(db, settings)
      const unguarded = await serveLink(db, () => noon)
      const client = await connectEdge(unguarded.port)
      client.batch('live', [inverterFrame(1, noon)])
      await client.untilAcked(1)

      await disk.fill()
      // 8000 new rows need pages of their own.
      const rows = Array.from({ length: 8000 }, (_, i) => inverterFrame(2 + i, noon - 1000 * i - 1))
      client.batch('live', rows.slice(0, 1000))
      for (let from = 1000; from < 8000 && client.socket.readyState === 1; from += 1000) {
        await Promise.race([client.untilAcked(1 + from), client.closed]).catch(() => {})
        if (client.socket.readyState === 1) client.batch('live', rows.slice(from, from + 1000))
      }
      assert.equal(await client.closed, 1011)
      assert.equal(await count(db), client.acked.size, 'what is stored is what was acknowledged')
      const one_row = db.execute('create table more as select generate_series(1, 100000)')
      await assert.rejects(one_row, { code: '53100' })
      await guard.look()
      await assert.rejects(guard.db.transaction(count as never), { code: '53100' })

      await disk.makeRoom()
      await guard.look()
      await guard.db.transaction(async (tx) => tx.execute('create table more (value int)'))
      const again = await connectEdge(unguarded.port)
      const missing = rows.filter(({ seq }) => !client.acked.has(seq))
      for (let from = 0; from < missing.length; from += 1000) {
        const batch = missing.slice(from, from + 1000)
        again.batch('backlog', batch)
        await again.untilAcked(...batch.map(({ seq }) => seq))
      }
      assert.equal(await count(db), 8001)
      assert.ok(process.kill(embedded.pid, 0), 'the same PostgreSQL')
      again.socket.terminate()
      await unguarded.close()
    } finally {
      await db.close()
      await embedded.stop()
    }
  } finally {
    await disk.unmount()
  }
})
