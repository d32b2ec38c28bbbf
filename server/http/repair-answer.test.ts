import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { silent, testDatabase } from '../../test/postgres.ts'
import { answerWriters } from './answer.ts'
import { endpoint } from './endpoint.ts'
import { List, list } from './envelope.ts'
import { ApiError } from './errors.ts'
import { createMetrics } from './metrics.ts'
import { Nullable } from './params.ts'
import { serve } from './serve.ts'

const closed = { additionalProperties: false } as const
const Unit = Type.Object(
  {
    unit_id: Type.Integer(),
    power_kw: Nullable(Type.Number()),
    cells: Type.Array(Nullable(Type.Number({ minimum: 0 }))),
    place: Nullable(Type.Object({ row: Type.Integer(), 'a/b': Nullable(Type.String()) }, closed)),
  },
  closed,
)
const units = List(Unit)
type Unit = (typeof example)['data'][number]
const unit = { unit_id: 1, power_kw: 2, cells: [3.1, 3.2], place: { row: 1, 'a/b': 'x' } }
const example = list([unit])
/** What a handler gives although its types say otherwise. */
const wrong = (change: object) => ({ ...unit, ...change }) as unknown as Unit

const declared = (returns: typeof units | typeof Unit) =>
  endpoint({
    method: 'GET',
    path: '/units',
    operation_id: 'units_list',
    tag: 'Samples',
    scope: null,
    module: null,
    summary: 'Units',
    returns,
    example: { answer: example as never },
    handle: async () => example as never,
  })

const written = (answer: unknown, returns: typeof units | typeof Unit = units) => {
  const { text, faults } = answerWriters('lenient')(declared(returns), 'units_list')(answer)
  return { answer: JSON.parse(String(text)), faults }
}

test('a value outside its schema becomes null where null is allowed', () => {
  const given = list([
    wrong({ power_kw: Number.NaN }),
    wrong({ cells: [3.1, -1, Number.POSITIVE_INFINITY] }),
    wrong({ power_kw: undefined, place: { row: 1, 'a/b': 7 } }),
    wrong({ place: { row: 'one', 'a/b': null } }),
  ])
  const kept = structuredClone(given)
  const { answer, faults } = written(given)
  assert.deepEqual(answer, {
    data: [
      { ...unit, power_kw: null },
      { ...unit, cells: [3.1, null, null] },
      { ...unit, power_kw: null, place: { row: 1, 'a/b': null } },
    ],
    meta: { count: 3, omitted: 1 },
  })
  const field = 'data.0.power_kw'
  assert.deepEqual(faults, { nulled: 5, omitted: 1, refused: 0, field })
  assert.deepEqual(given, kept, 'what a store may keep is not changed')
})

test('an item that cannot be served is left out of its list, and not counted', () => {
  const { answer, faults } = written(list([unit, wrong({ unit_id: 'two' }), unit], 7))
  assert.deepEqual(answer, { data: [unit, unit], meta: { count: 6, omitted: 1 } })
  assert.deepEqual(faults, { nulled: 0, omitted: 1, refused: 0, field: 'data.1.unit_id' })
})

test('what is right is served as it is, without a word', () => {
  assert.deepEqual(written(example), { answer: example, faults: null })
})

test('else the answer is 503, which names the field', () => {
  const refusedOf = (answer: unknown, returns: typeof units | typeof Unit) => {
    try {
      written(answer, returns)
    } catch (error) {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'service_unavailable')
      assert.ok(error.headers['retry-after'])
      return error.details?.['field']
    }
    assert.fail('it was served')
  }
  assert.equal(refusedOf(wrong({ unit_id: 1.5 }), Unit), 'unit_id')
  assert.equal(refusedOf({ data: [unit], meta: { count: -1 } }, units), 'meta.count')
  assert.equal(refusedOf(null, units), '')
})

test('a strict server answers 500, a lenient one mends; each fault is counted', async (t) => {
  const database = await testDatabase()
  const apps: { close(): Promise<unknown> }[] = []
  t.after(async () => {
    for (const app of apps) await app.close()
    await database.drop()
  })
  let answer: unknown
  const sites = { ...declared(units), path: '/v1/sites', handle: async () => answer as never }
  const object = {
    ...declared(Unit),
    path: '/v1/sites/unit',
    role: 'anyone' as const,
    operation_id: 'unit_get',
    handle: async () => answer as never,
  }
  const list_of_anyone = { ...sites, role: 'anyone' as const }
  const served = async (check_answers: 'strict' | 'lenient') => {
    const metrics = createMetrics()
    const app = await serve({
      endpoints: [list_of_anyone, object],
      needs: {},
      db: database.db,
      clock: { now: () => new Date('2026-06-01T10:00:00Z') },
      timers: { after: () => () => {} },
      newId: () => check_answers,
      log: silent,
      options: { check_answers, metrics, sessions: { isPresent: () => false } as never },
    })
    apps.push(app)
    return { app, metrics }
  }
  const strict = await served('strict')
  const { app, metrics } = await served('lenient')

  answer = list([unit, wrong({ power_kw: 'high' }), wrong({ unit_id: null })])
  const failed = await strict.app.inject({ url: '/v1/sites' })
  assert.equal(failed.json().error.code, 'internal_error')
  const mended = await app.inject({ url: '/v1/sites' })
  assert.equal(mended.statusCode, 200)
  assert.deepEqual(mended.json().meta, { count: 2, omitted: 1 })

  answer = wrong({ unit_id: null })
  const refused = await app.inject({ url: '/v1/sites/unit' })
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().error.details.field, 'unit_id')
  const text = await metrics.registry.metrics()
  const counted = [...text.matchAll(/^http_answer_faults_total\{(.*)\} (\d+)$/gm)]
  assert.deepEqual(counted.map(([, labels, count]) => `${labels} ${count}`).sort(), [
    'operation="unit_get",outcome="refused" 1',
    'operation="units_list",outcome="nulled" 1',
    'operation="units_list",outcome="omitted" 1',
  ])
})
