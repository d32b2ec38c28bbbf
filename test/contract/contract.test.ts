import assert from 'node:assert/strict'
import test from 'node:test'
import { type TSchema, Type } from 'typebox'
import { contractProblems, type DeclaredEndpoint } from './contract.ts'
import { type Operation, operations } from './operations.ts'

const Instant = Type.Optional(Type.String({ format: 'date-time' }))
const Count = Type.Optional(Type.Integer())
const Limit = (cap: number) => Type.Optional(Type.Integer({ minimum: 1, 'x-cap': cap }))

const history: Operation = {
  chapter: '1',
  method: 'GET',
  path: '/boxes/{box_id}/history',
  scope: 'plant:read',
  module: 'basic_scada',
  kind: 'read',
  params: ['box_id'],
  query: {
    start: { format: 'ts', required: false },
    limit: { format: 'integer', required: false, cap: 10 },
    hour: { format: 'integer', required: true, range: [0, 23] },
    status: { format: 'string', required: false, repeatable: true },
  },
  body: { is: 'none' },
  status: 200,
}
const historyQuery = {
  start: Instant,
  limit: Limit(10),
  hour: Type.Integer({ minimum: 0, maximum: 23 }),
  status: Type.Optional(Type.Array(Type.Enum(['open', 'shut']))),
}
const historyEndpoint: DeclaredEndpoint = {
  method: 'GET',
  path: '/boxes/{box_id}/history',
  scope: 'plant:read',
  module: 'basic_scada',
  params: { box_id: Type.Integer() },
  query: historyQuery,
}

const order: Operation = {
  ...history,
  chapter: '2',
  method: 'POST',
  path: '/orders',
  scope: 'curtailment:write',
  kind: 'control',
  params: [],
  query: {},
  body: { is: 'fields', required: ['what'], optional: ['why'] },
  status: 201,
}
const orderBody = { what: Type.String(), why: Type.Optional(Type.String()) }
const orderEndpoint: DeclaredEndpoint = {
  method: 'POST',
  path: '/orders',
  scope: 'curtailment:write',
  module: 'basic_scada',
  body: Type.Object(orderBody),
  status: 201,
}

const both = [history, order]

function problemsOf(changes: Partial<DeclaredEndpoint>): string[] {
  return contractProblems(both, [{ ...historyEndpoint, ...changes }, orderEndpoint], ['1', '2'])
}

function queryProblems(changes: Record<string, TSchema>): string[] {
  return problemsOf({ query: { ...historyQuery, ...changes } })
}

function bodyProblems(specified: Operation['body'], served?: TSchema): string[] {
  const { body: _, ...without } = orderEndpoint
  const endpoint = served ? { ...without, body: served } : without
  return contractProblems([{ ...order, body: specified }], [endpoint], ['2'])
}

const inHistory = (text: string) => [`GET /boxes/{box_id}/history: ${text}.`]
const inOrder = (text: string) => [`POST /orders: ${text}.`]

test('endpoints that are the operations have no problems', () => {
  assert.deepEqual(problemsOf({}), [])
})

test('a missing operation is one of a chapter that is built', () => {
  assert.deepEqual(contractProblems(both, [historyEndpoint], ['1']), [])
  assert.deepEqual(contractProblems(both, [historyEndpoint], ['1', '2']), [
    'POST /orders is missing (chapter 2).',
  ])
  assert.deepEqual(contractProblems(both, [historyEndpoint], ['1', '3']), [
    'Chapter 3 is to be built, but has no operations.',
  ])
})

test('an endpoint that is no operation is one too many, and so is a second for the same', () => {
  const further = (changes: Partial<DeclaredEndpoint>) =>
    contractProblems([], [{ ...orderEndpoint, ...changes }], [])
  assert.deepEqual(further({}), ['POST /orders is a control that is not specified.'])
  assert.deepEqual(further({ scope: 'om:write', method: 'PUT' }), [
    'PUT /orders is a write that is not specified.',
  ])
  assert.deepEqual(further({ method: 'GET' }), ['GET /orders is a read that is not specified.'])
  assert.deepEqual(contractProblems([order], [orderEndpoint, orderEndpoint], []), [
    'POST /orders and POST /orders are one operation.',
  ])
})

test('an operation that is served has to be right before its chapter is built', () => {
  assert.deepEqual(
    contractProblems([order], [{ ...orderEndpoint, status: 200 }], []),
    inOrder('the status is 200, specified is 201'),
  )
})

test('scope, module, status and kind', () => {
  assert.deepEqual(
    problemsOf({ scope: 'om:read' }),
    inHistory('the scope is om:read, specified is plant:read'),
  )
  assert.deepEqual(
    problemsOf({ scope: null }),
    inHistory('the scope is null, specified is plant:read'),
  )
  assert.deepEqual(
    problemsOf({ module: 'om' }),
    inHistory('the module is om, specified is basic_scada'),
  )
  assert.deepEqual(problemsOf({ status: 202 }), inHistory('the status is 202, specified is 200'))
  assert.deepEqual(contractProblems([order], [{ ...orderEndpoint, scope: 'om:write' }], []), [
    'POST /orders: the scope is om:write, specified is curtailment:write.',
    'POST /orders: the kind is write, specified is control.',
  ])
})

test('the method is part of what an operation is', () => {
  assert.deepEqual(contractProblems([order], [{ ...orderEndpoint, method: 'PUT' }], ['2']), [
    'POST /orders is missing (chapter 2).',
    'PUT /orders is a control that is not specified.',
  ])
})

test('path parameters, by name and both ways', () => {
  assert.deepEqual(
    problemsOf({ path: '/boxes/{id}/history', params: { id: Type.Integer() } }),
    inHistory('the path is /boxes/{id}/history, specified is /boxes/{box_id}/history'),
  )
  assert.deepEqual(problemsOf({ params: {} }), inHistory('no path parameter box_id'))
  assert.deepEqual(
    problemsOf({ params: { box_id: Type.Integer(), lid: Type.Integer() } }),
    inHistory('the path parameter lid is not specified'),
  )
})

test('query parameters, by name and both ways', () => {
  const { start: _, ...without } = historyQuery
  assert.deepEqual(problemsOf({ query: without }), inHistory('no query parameter start'))
  assert.deepEqual(
    queryProblems({ end: Instant }),
    inHistory('the query parameter end is not specified'),
  )
})

test('query parameters that must be given', () => {
  assert.deepEqual(
    queryProblems({ start: Type.String({ format: 'date-time' }) }),
    inHistory('start is required, specified is optional'),
  )
  assert.deepEqual(
    queryProblems({ hour: Type.Optional(Type.Integer({ minimum: 0, maximum: 23 })) }),
    inHistory('hour is optional, specified is required'),
  )
})

test('the forms of query parameters', () => {
  const start = (schema: TSchema) => queryProblems({ start: schema })
  const found = (form: string) => inHistory(`start is ${form}, specified is ts`)
  assert.deepEqual(start(Type.Optional(Type.String({ format: 'date' }))), found('date'))
  assert.deepEqual(start(Type.Optional(Type.String())), found('string'))
  assert.deepEqual(start(Type.Optional(Type.Enum(['now']))), found('string'))
  assert.deepEqual(start(Type.Optional(Type.Literal('now'))), found('string'))
  assert.deepEqual(start(Type.Optional(Type.Boolean())), found('boolean'))
  assert.deepEqual(start(Type.Optional(Type.Number())), found('number'))
  assert.deepEqual(start(Type.Optional(Type.Unknown())), found('anything'))
  const either = Type.Union([Type.String({ format: 'date-time' }), Type.Integer()])
  assert.deepEqual(start(Type.Optional(either)), found('ts or integer'))
})

test('query parameters that may be repeated', () => {
  assert.deepEqual(
    queryProblems({ status: Type.Optional(Type.String()) }),
    inHistory('status is single, specified is repeatable'),
  )
  assert.deepEqual(
    queryProblems({ start: Type.Optional(Type.Array(Type.String({ format: 'date-time' }))) }),
    inHistory('start is repeatable, specified is single'),
  )
  assert.deepEqual(
    queryProblems({ status: Type.Optional(Type.Array(Type.Integer())) }),
    inHistory('status is integer, specified is string'),
  )
  const either = Type.Union([Type.String(), Type.Array(Type.String())])
  assert.deepEqual(queryProblems({ status: Type.Optional(either) }), [])
})

test('caps, and that a limit above its cap is not refused', () => {
  assert.deepEqual(
    queryProblems({ limit: Limit(11) }),
    inHistory('the cap of limit is 11, specified is 10'),
  )
  assert.deepEqual(
    queryProblems({ limit: Count }),
    inHistory('the cap of limit is undefined, specified is 10'),
  )
  assert.deepEqual(
    queryProblems({ hour: Type.Integer({ minimum: 0, maximum: 23, 'x-cap': 5 }) }),
    inHistory('the cap of hour is 5, specified is undefined'),
  )
  assert.deepEqual(
    queryProblems({ limit: Type.Optional(Type.Integer({ 'x-cap': 10, maximum: 10 })) }),
    inHistory('limit above 10 is refused, specified is to clamp it'),
  )
})

test('the range of a number', () => {
  assert.deepEqual(
    queryProblems({ hour: Type.Integer({ minimum: 1, maximum: 24 }) }),
    inHistory('the range of hour is 1 to 24, specified is 0 to 23'),
  )
  assert.deepEqual(
    queryProblems({ hour: Type.Integer() }),
    inHistory('the range of hour is undefined to undefined, specified is 0 to 23'),
  )
})

test('a body, or none', () => {
  assert.deepEqual(
    problemsOf({ body: Type.Object({}) }),
    inHistory('it takes a body, specified is none'),
  )
  assert.deepEqual(bodyProblems(order.body), inOrder('it takes no body, specified is one'))
  assert.deepEqual(bodyProblems({ is: 'open' }), [])
  assert.deepEqual(bodyProblems({ is: 'open' }, Type.Object(orderBody)), [])
})

test('the fields of a body that the specification shows', () => {
  const { why: _, ...withoutWhy } = orderBody
  assert.deepEqual(bodyProblems(order.body, Type.Object(withoutWhy)), inOrder('no body field why'))
  assert.deepEqual(
    bodyProblems(order.body, Type.Object({ ...orderBody, how: Type.Optional(Type.String()) })),
    inOrder('the body field how is not specified'),
  )
  assert.deepEqual(
    bodyProblems(order.body, Type.Object({ ...orderBody, what: Type.Optional(Type.String()) })),
    inOrder('body field what is optional, specified is required'),
  )
  assert.deepEqual(
    bodyProblems(order.body, Type.Object({ ...orderBody, why: Type.String() })),
    inOrder('body field why is required, specified is optional'),
  )
})

test('a field of a union is required where every alternative has it', () => {
  const briefly = Type.Object({ what: Type.String() })
  const fully = Type.Object({ what: Type.String(), why: Type.String() })
  assert.deepEqual(bodyProblems(order.body, Type.Union([briefly, fully])), [])
  const reason = Type.Object({ why: Type.Optional(Type.String()) })
  assert.deepEqual(bodyProblems(order.body, Type.Intersect([briefly, reason])), [])
  assert.deepEqual(
    bodyProblems(order.body, Type.Union([fully, reason])),
    inOrder('body field what is optional, specified is required'),
  )
})

test('the fields of a body that the specification shows in part', () => {
  const some: Operation['body'] = { is: 'some', fields: ['what'] }
  assert.deepEqual(bodyProblems(some, Type.Object(orderBody)), [])
  assert.deepEqual(
    bodyProblems(some, Type.Object({ why: Type.String() })),
    inOrder('no body field what'),
  )
  assert.deepEqual(bodyProblems(some), inOrder('it takes no body, specified is one'))
})

/** An endpoint as the specification wants it. */
function endpointOf(operation: Operation): DeclaredEndpoint {
  const { method, path, scope, module, params, query, body, status } = operation
  const schemas = Object.entries(query).map(([name, { format, required, ...more }]) => {
    const one = {
      ts: Type.String({ format: 'date-time' }),
      date: Type.String({ format: 'date' }),
      integer: Type.Integer({
        ...(more.cap && { 'x-cap': more.cap }),
        ...(more.range && { minimum: more.range[0], maximum: more.range[1] }),
      }),
      boolean: Type.Boolean(),
      string: Type.String(),
    }[format]
    const schema = more.repeatable ? Type.Array(one) : one
    return [name, required ? schema : Type.Optional(schema)]
  })
  const field = (name: string, required: boolean) => [
    name,
    required ? Type.String() : Type.Optional(Type.String()),
  ]
  const fields =
    body.is === 'fields'
      ? [
          ...body.required.map((name) => field(name, true)),
          ...body.optional.map((name) => field(name, false)),
        ]
      : body.is === 'some'
        ? body.fields.map((name) => field(name, true))
        : null
  return {
    method,
    path,
    scope,
    module,
    status,
    params: Object.fromEntries(params.map((name) => [name, Type.String()])),
    query: Object.fromEntries(schemas),
    ...(fields && { body: Type.Object(Object.fromEntries(fields)) }),
  }
}

test('each of the specified operations can be satisfied, and each can be missed', () => {
  const endpoints = operations.map(endpointOf)
  const chapters = [...new Set(operations.map(({ chapter }) => chapter))]
  assert.deepEqual(contractProblems(operations, endpoints, chapters), [])
  assert.equal(contractProblems(operations, [], chapters).length, 109)
})
