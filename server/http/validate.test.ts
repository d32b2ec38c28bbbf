import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { ApiError, type Violation } from './errors.ts'
import { AnyCase, ignoredUnless, limit, Nullable, Timestamp, timeWindow } from './params.ts'
import { type Input, validators } from './validate.ts'

const declared = {
  method: 'POST' as const,
  params: { logger_id: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }) },
  query: {
    ...timeWindow,
    limit: limit(500, 100),
    ratio: Type.Optional(Type.Number()),
    refresh: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Array(Type.Enum(['active', 'resolved']))),
    facing: Type.Optional(AnyCase(['east', 'west'], { description: 'Which way.' })),
  },
  body: Type.Object(
    {
      at: Nullable(Timestamp),
      hours: Type.Array(Type.Object({ power_kw: Type.Number() }, { additionalProperties: false })),
      level: Type.Optional(Type.Integer({ default: 3 })),
      unit: Type.Optional(Type.String()),
      unit_id: Type.Optional(ignoredUnless({ unit: 'one' }, Nullable(Type.Integer()))),
    },
    { additionalProperties: false },
  ),
  returns: Type.Null(),
}
const validate = validators([declared])(declared)

const input = (change: Partial<Input> = {}): Input => ({
  params: { site_id: 's', logger_id: '7' },
  query: {},
  body: { at: null, hours: [] },
  body_bytes: 2,
  ...change,
})

function violations(change: Partial<Input>): string[] {
  try {
    validate(input(change))
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'validation_error')
    const errors = error.details!['errors'] as Violation[]
    return errors.map(({ location, field, code }) => `${location} ${field} ${code}`)
  }
  return []
}

test('text becomes what is declared, times become UTC, what is missing its default', () => {
  const query = {
    start: '2026-06-01T10:00:00.5+02:00',
    limit: '9999',
    ratio: '-1.5e1',
    refresh: 'true',
    status: 'active',
  }
  const body = { at: '2026-01-01t00:00:00-05:30', hours: [{ power_kw: 1 }] }
  assert.deepEqual(validate(input({ query, body })), {
    params: { logger_id: 7 },
    query: {
      start: '2026-06-01T08:00:00.500Z',
      limit: 500,
      ratio: -15,
      refresh: true,
      status: ['active'],
    },
    after: null,
    body: { at: '2026-01-01T05:30:00.000Z', hours: [{ power_kw: 1 }], level: 3 },
    read_only: {},
  })
  assert.equal(validate(input()).query['limit'], 100)
})

test('every violation is told at once, each with its place', () => {
  const change = {
    params: { site_id: 's', logger_id: '0x7' },
    query: { limit: '1.0', refresh: '1', status: ['active', 'gone'], extra: '1', end: 'soon' },
    body: { at: '2026-06-01T10:00:00', hours: [{ power_kw: '5' }, {}], level: 1.5, no: 1 },
  }
  assert.deepEqual(violations(change).sort(), [
    'body at naive_timestamp',
    'body hours.0.power_kw invalid_type',
    'body hours.1.power_kw required',
    'body level invalid_type',
    'body no unknown_field',
    'path logger_id invalid_type',
    'query end invalid_timestamp',
    'query extra unknown_parameter',
    'query limit invalid_type',
    'query refresh invalid_type',
    'query status not_allowed_value',
  ])
})

test('a body is never coerced, and a missing one lacks what is required', () => {
  assert.deepEqual(violations({ body: undefined }), ['body at required', 'body hours required'])
  assert.deepEqual(violations({ body: [] }), ['body  invalid_type'])
  assert.deepEqual(violations({ body: { at: null, hours: [], level: '3' } }), [
    'body level invalid_type',
  ])
})

test('a large wrong body is told its first violation only', () => {
  const body = { at: null, hours: Array.from({ length: 10_000 }, () => ({})) }
  assert.deepEqual(violations({ body, body_bytes: 100_000 }), ['body hours.0.power_kw required'])
})

test('a field that does not count is ignored whatever it holds, and else held to its schema', () => {
  const body = { at: null, hours: [], level: 3 }
  for (const ignored of ['South', 1.5, null, { deep: [] }]) {
    const given = { ...body, unit: 'all', unit_id: ignored }
    assert.deepEqual(validate(input({ body: given })).body, { ...body, unit: 'all' })
  }
  for (const unit_id of [7, null]) {
    const given = { ...body, unit: 'one', unit_id }
    assert.deepEqual(validate(input({ body: given })).body, given)
  }
  const wrong = { ...body, unit: 'one', unit_id: 'South' }
  assert.deepEqual(violations({ body: wrong }), ['body unit_id invalid_type'])
})

test('a word that any case will do for is handed on in lower case', () => {
  for (const facing of ['East', 'EAST', 'east', 'eAsT']) {
    assert.equal(validate(input({ query: { facing } })).query['facing'], 'east')
  }
  assert.deepEqual(violations({ query: { facing: 'Eastern' } }), ['query facing not_allowed_value'])
})
