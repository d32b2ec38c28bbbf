/** A read ends when its client goes away: over real sockets and a real database. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { addFixtures, type Fixtures } from '../../test/conventions/fixtures.ts'
import { eventually } from '../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { giveTurn, runForAll } from '../storage/reader.ts'
import { endpoint } from './endpoint.ts'
import { List, list } from './envelope.ts'
import { serve } from './serve.ts'

const reads: Record<string, () => Promise<unknown>> = {
  statement: () => database.db.query("SELECT 'statement', pg_sleep(600)"),
  transaction: () =>
    database.db.transaction((tx) => tx.query("SELECT 'transaction', pg_sleep(600)")),
  async loop() {
    for (;;) await database.db.query("SELECT 'loop'")
  },
  async computation() {
    for (;;) await giveTurn()
  },
  shared: () =>
    runForAll(async () => {
      await left.promise
      await database.db.query('SELECT 1')
    }),
}

let database: TestDatabase
let fixtures: Fixtures
let app: FastifyInstance
let began = Promise.withResolvers<void>()
let left = Promise.withResolvers<void>()
let ended = Promise.withResolvers<unknown>()
const failures: unknown[] = []

before(async () => {
  database = await testDatabase()
  fixtures = await addFixtures(database.db)
  const long = endpoint({
    method: 'GET',
    path: '/long/{kind}',
    operation_id: 'long_get',
    tag: 'Energy',
    scope: 'energy:read',
    module: 'basic_scada',
    summary: 'A read without an end',
    params: { kind: Type.String() },
    returns: List(Type.Object({})),
    example: { answer: list([]) },
    async handle({ params: { kind } }, _needs: object) {
      const read = reads[kind]!()
      began.resolve()
      read.then(
        () => ended.resolve('done'),
        (error) => ended.resolve(error),
      )
      await read
      return list([])
    },
  })
  app = await serve({
    endpoints: [long],
    needs: {},
    db: database.db,
    clock: systemClock,
    timers: systemTimers,
    newId: randomUUID,
    log: { ...silent, error: (details: unknown) => void failures.push(details) },
  })
  app.server.on('request', (_request, response) => response.once('close', () => left.resolve()))
  await app.listen({ port: 0, host: '127.0.0.1' })
})
after(async () => {
  await app.close()
  await database.drop()
})

/** Goes away once the read runs; how that ended. */
async function leave(kind: string): Promise<unknown> {
  began = Promise.withResolvers()
  left = Promise.withResolvers()
  ended = Promise.withResolvers()
  const request = get({
    host: '127.0.0.1',
    port: (app.server.address() as AddressInfo).port,
    path: `/v1/sites/${fixtures.sites.live}/long/${kind}`,
    headers: { authorization: `Bearer ${fixtures.keys.full}` },
    agent: false,
  })
  request.on('error', () => {})
  await began.promise
  request.destroy()
  return ended.promise
}

for (const kind of ['statement', 'transaction', 'loop', 'computation']) {
  test(`a ${kind} ends with its reader`, { timeout: 30_000 }, async () => {
    const error = (await leave(kind)) as { code: string }
    assert.equal(error.code, 'service_unavailable')
    for (;;) {
      const running = await database.db.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
           AND query LIKE $1`,
        [`SELECT '${kind}'%`],
      )
      if (running.length === 0) break
    }
    // The server reads its keys now and then.
    await eventually(async () => {
      const { idle, total, waiting } = database.db.connections()
      assert.deepEqual({ idle, waiting }, { idle: total, waiting: 0 })
    })
    assert.deepEqual(failures, [], 'nothing has failed')
  })
}

test('what others wait for, too, goes on', async () => {
  assert.equal(await leave('shared'), 'done')
})
