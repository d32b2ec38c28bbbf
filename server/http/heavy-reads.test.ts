/** Heavy reads in turn, over real sockets; what computes them is ended by the tests. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, json } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { systemClock } from '@heliograph/domain/clock'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { addFixtures, addKey, type Fixtures } from '../../test/conventions/fixtures.ts'
import { eventually, virtualTime } from '../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { endpoint } from './endpoint.ts'
import { List, list } from './envelope.ts'
import type { Answer } from './execute.ts'
import { patience } from './export.ts'
import { heavy_reads_max } from './heavy-reads.ts'
import { serve } from './serve.ts'

const bounded = { timeout: 30_000 }
const small: Answer = { status: 200, headers: {}, text: '{"data":[],"meta":{"count":0}}' }
/** More than the buffers of a connection take. */
const large: Answer = { ...small, text: Buffer.alloc(heavy_reads_max.held_bytes_per_client, ' ') }

let database: TestDatabase
let fixtures: Fixtures
let app: FastifyInstance
let other: string
const time = virtualTime()
/** Reads that are being computed, by their name; each is ended by its answer. */
const computing = new Map<string, (answer: Answer) => void>()
/** Requests that have arrived and are neither answered nor closed. */
let open = 0

before(async () => {
  database = await testDatabase()
  fixtures = await addFixtures(database.db)
  other = await addKey(database.db, { key_id: 'bbbbbbbbbbb1', client_id: 102 })
  const read = endpoint({
    method: 'GET',
    path: '/long/{name}',
    operation_id: 'long_get',
    tag: 'Energy',
    scope: 'energy:read',
    module: 'basic_scada',
    summary: 'A long read',
    params: { name: Type.String() },
    heavy: true,
    returns: List(Type.Object({})),
    example: { answer: list([]) },
    handle: async (_request, _needs: object) => list([]),
  })
  app = await serve({
    endpoints: [read],
    needs: {},
    db: database.db,
    clock: systemClock,
    timers: time.timers,
    newId: randomUUID,
    log: silent,
    options: {
      reading: {
        read: (_operation, { params }) =>
          new Promise((resolve) => {
            computing.set((params as { name: string }).name, resolve)
          }),
        export: () => assert.fail('nothing is exported'),
      },
    },
  })
  app.server.on('request', (_request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
after(async () => {
  // A test that failed leaves some open.
  app.server.closeAllConnections()
  await app.close()
  await database.drop()
})

function ask(name: string, key = fixtures.keys.full, site = fixtures.sites.live) {
  const { port } = app.server.address() as AddressInfo
  const request = get({
    host: '127.0.0.1',
    port,
    path: `/v1/sites/${site}/long/${name}`,
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  })
  const response = once(request, 'response').then(([one]) => one as IncomingMessage)
  // Those that are cut off are not asked for it.
  response.catch(() => {})
  return { request, response }
}

const askOther = (name: string) => ask(name, other, fixtures.sites.foreign)
const begun = (name: string) => eventually(async () => assert.ok(computing.has(name), name))
const status = async ({ response }: ReturnType<typeof ask>) => {
  const answered = await response
  await buffer(answered)
  return answered.statusCode
}

function end(name: string, answer = small) {
  computing.get(name)!(answer)
  computing.delete(name)
}

/** As many as one client may have under way, and further ones that wait. */
async function filled(waiting: number) {
  const names = Array.from({ length: heavy_reads_max.running_per_client }, (_, nth) => `run-${nth}`)
  const running = names.map((name) => ask(name))
  for (const name of names) await begun(name)
  const waits = Array.from({ length: waiting }, (_, nth) => ask(`wait-${nth}`))
  await unanswered(names.length + waiting)
  return {
    waits,
    async end() {
      for (const name of names) end(name)
      for (const each of running) assert.equal(await status(each), 200)
    },
  }
}

const unanswered = (count: number) => eventually(async () => assert.equal(open, count))

test('another client is served while one client waits behind itself', bounded, async () => {
  const busy = await filled(3)
  const stranger = askOther('stranger')
  await begun('stranger')
  assert.equal(computing.has('wait-0'), false)
  end('stranger')
  assert.equal(await status(stranger), 200)
  await busy.end()
  for (const [nth, waiting] of busy.waits.entries()) {
    await begun(`wait-${nth}`)
    end(`wait-${nth}`)
    assert.equal(await status(waiting), 200)
  }
})

test('a request whose connection closes leaves the queue', bounded, async () => {
  const busy = await filled(2)
  busy.waits[0]!.request.destroy()
  await unanswered(heavy_reads_max.running_per_client + 1)
  await busy.end()
  await begun('wait-1')
  assert.deepEqual([...computing.keys()], ['wait-1'])
  end('wait-1')
  assert.equal(await status(busy.waits[1]!), 200)
})

test('a full queue answers 503 with Retry-After, and others are served', bounded, async () => {
  const { waiting_per_key } = heavy_reads_max
  const busy = await filled(waiting_per_key)
  const refused = await ask('too-many').response
  assert.equal(refused.statusCode, 503)
  assert.match(refused.headers['retry-after']!, /^[1-9]\d?$/)
  const { error } = (await json(refused)) as { error: Record<string, unknown> }
  assert.deepEqual([error['code'], error['details']], ['service_unavailable', null])
  assert.equal(error['request_id'], refused.headers['x-request-id'])
  const stranger = askOther('stranger')
  await begun('stranger')
  end('stranger')
  assert.equal(await status(stranger), 200)
  for (const { request } of busy.waits) request.destroy()
  await unanswered(heavy_reads_max.running_per_client)
  await busy.end()
  assert.equal(computing.size, 0)
})

test('a client that holds many bytes waits until they are read', bounded, async () => {
  const slow = ask('slow')
  await begun('slow')
  end('slow', large)
  const response = await slow.response
  const next = ask('next')
  await unanswered(2)
  const stranger = askOther('stranger')
  await begun('stranger')
  assert.equal(computing.has('next'), false)
  const { length } = await buffer(response)
  assert.equal(length, heavy_reads_max.held_bytes_per_client)
  await begun('next')
  for (const name of ['next', 'stranger']) end(name)
  assert.deepEqual([await status(next), await status(stranger)], [200, 200])
})

test(
  'an answer that is not read loses its connection, and is held no longer',
  bounded,
  async () => {
    const stuck = ask('stuck')
    await begun('stuck')
    end('stuck', large)
    const response = await stuck.response
    const next = ask('next')
    const stranger = askOther('stranger')
    await begun('stranger')
    assert.equal(computing.has('next'), false)
    const least_s = large.text.length / 1024 / patience.min_kib_s
    time.advance(1000 * (patience.wait_s + least_s))
    await assert.rejects(buffer(response), /aborted/)
    await begun('next')
    for (const name of ['next', 'stranger']) end(name)
    assert.deepEqual([await status(next), await status(stranger)], [200, 200])
  },
)
