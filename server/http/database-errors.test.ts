import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import type { Queries } from '../storage/database.ts'
import { endpoint } from './endpoint.ts'
import { serve } from './serve.ts'

let database: TestDatabase
let app: FastifyInstance
const statement = { statement: Type.String() }

const shared = { tag: 'Samples', scope: null, module: null, role: 'anyone' } as const
const read = endpoint({
  ...shared,
  method: 'GET',
  path: '/v1/sites',
  operation_id: 'samples_read',
  summary: 'A read',
  query: statement,
  returns: Type.Null(),
  example: { answer: null },
  async handle({ query }, { db }: { db: Queries }) {
    await db.query(query.statement)
    return null
  },
})
const write = endpoint({
  ...shared,
  method: 'POST',
  path: '/v1/sites',
  operation_id: 'samples_write',
  summary: 'A write',
  body: Type.Object(statement),
  returns: Type.Null(),
  example: { body: { statement: 'select 1' }, answer: null },
  async handle({ body, tx }) {
    await tx.query(body.statement)
    return null
  },
})

before(async () => {
  database = await testDatabase()
  app = await serve({
    endpoints: [read, write],
    needs: { db: database.db },
    db: database.db,
    clock: { now: () => new Date('2026-06-01T10:00:00Z') },
    timers: { after: () => () => {} },
    newId: () => 'test',
    log: silent,
    options: { sessions: { isPresent: () => false } as never },
  })
})
after(async () => {
  await app.close()
  await database.drop()
})

const raised = (sqlstate: string) => `do $$ begin raise sqlstate '${sqlstate}'; end $$`

const readOf = (sql: string) => app.inject({ url: '/v1/sites', query: { statement: sql } })
const writeOf = (sql: string) =>
  app.inject({ method: 'POST', url: '/v1/sites', payload: { statement: sql } })

const passing: readonly [sql: string, reason: string | undefined][] = [
  [raised('40001'), 'serialization_failure'],
  [raised('40P01'), 'serialization_failure'],
  [raised('55P03'), 'lock_timeout'],
  ['set local statement_timeout = 10; select pg_sleep(5)', 'statement_timeout'],
  [raised('53300'), undefined],
]

for (const [sql, reason] of passing) {
  test(`a read and a write are 503 after: ${sql}`, async () => {
    for (const answer of [await readOf(sql), await writeOf(sql)]) {
      assert.equal(answer.statusCode, 503, answer.body)
      assert.ok(Number(answer.headers['retry-after']) >= 1)
      const { code, details } = answer.json().error
      assert.equal(code, 'service_unavailable')
      assert.equal(details?.reason, reason)
    }
  })
}

for (const sql of [
  'select 2147483647::int4 + 1',
  "select '294276-01-01'::timestamptz + interval '1 year'",
]) {
  test(`an overflow is 422 in a write, 503 in a read: ${sql}`, async () => {
    const refused = await writeOf(sql)
    assert.equal(refused.statusCode, 422, refused.body)
    const [error] = refused.json().error.details.errors
    assert.deepEqual([error.location, error.code], ['body', 'out_of_range'])
    const answer = await readOf(sql)
    assert.equal(answer.statusCode, 503, answer.body)
    assert.equal(answer.json().error.details.reason, 'numeric_overflow')
  })
}

test('what no rule knows stays a 500', async () => {
  assert.equal((await readOf('select 1 / 0')).statusCode, 500)
})
