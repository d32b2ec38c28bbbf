import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { type Endpoint, endpoint } from './endpoint.ts'
import { List, Series } from './envelope.ts'
import { openApi, openApiText } from './openapi.ts'
import type { Json } from './openapi-schemas.ts'
import { unitOf } from './openapi-units.ts'
import { LoggerId, limit, Nullable } from './params.ts'
import { rowsWindow } from './windows.ts'

const closed = { additionalProperties: false } as const
const Box = Type.Object(
  {
    logger_id: LoggerId,
    power_kw: Nullable(Type.Number({ description: 'Power.' })),
    state: Nullable(Type.Enum(['on', 'off'])),
    lid: Nullable(Type.Object({ angle_deg: Type.Number() }, closed)),
    mode: Type.Union([Type.Literal('a'), Type.Literal('b')]),
    size_m: Nullable(Type.Union([Type.Number(), Type.Array(Type.Number())])),
  },
  { ...closed, $id: 'Box' },
)
const box = {
  logger_id: 3,
  power_kw: 1.5,
  state: null,
  lid: { angle_deg: 4 },
  mode: 'a',
  size_m: 2,
} as const
const nowhere = async () => {
  throw new Error('not called')
}

const read = endpoint({
  method: 'GET',
  path: '/loggers/{logger_id}/history',
  operation_id: 'boxes_history',
  tag: 'Loggers',
  scope: 'plant:read',
  module: 'basic_scada',
  summary: 'History of a box',
  params: { logger_id: LoggerId },
  window: rowsWindow(24),
  query: { limit: limit(10, 5) },
  returns: Series(Box),
  cache: 'resource',
  example: {
    answer: {
      data: [box],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  handle: nowhere,
})
const write = endpoint({
  method: 'PUT',
  path: '/boxes/{box_id}',
  operation_id: 'boxes_change',
  tag: 'Curtailment',
  scope: 'curtailment:write',
  module: 'basic_scada',
  summary: 'Change a box',
  cache: 'resource',
  if_match: true,
  params: { box_id: Type.Integer({ description: 'A box.' }) },
  body: Type.Object({ limit_kw: Type.Number(), why: Type.Optional(Type.String()) }, closed),
  returns: Box,
  example: { body: { limit_kw: 3 }, answer: box },
  handle: nowhere,
})
const sites = endpoint({
  method: 'GET',
  path: '/v1/sites',
  operation_id: 'sites_list',
  tag: 'Sites',
  scope: null,
  module: null,
  summary: 'Sites',
  returns: List(Type.Object({ site_id: Type.String() }, { ...closed, $id: 'Site' })),
  example: { answer: { data: [{ site_id: 's' }], meta: { count: 1 } } },
  handle: nowhere,
})
const table = [read, write, sites] as Endpoint<never>[]
const { paths, components, tags } = openApi(table)
const history = paths['/v1/sites/{site_id}/loggers/{logger_id}/history']!['get']!
const change = paths['/v1/sites/{site_id}/boxes/{box_id}']!['put']!
const names = (parameters: readonly Json[]) => parameters.map((one) => one['name'] ?? one['$ref'])

test('objects become components, envelopes are called after their items', () => {
  assert.deepEqual(
    Object.keys(components.schemas),
    [
      'BoxLid',
      'BoxSeries',
      'Box',
      'BoxesChangeBody',
      'Error',
      'ErrorContent',
      'ListMeta',
      'SeriesMeta',
      'Site',
      'SiteList',
    ].sort(),
  )
  const content = history.responses['200']!['content'] as Json
  assert.deepEqual((content['application/json'] as Json)['schema'], {
    $ref: '#/components/schemas/BoxSeries',
  })
})

test('nullable is a type of two, enumerations are typed and open, numbers have their unit', () => {
  assert.deepEqual(components.schemas['Box']!['properties'], {
    logger_id: {
      type: 'integer',
      minimum: 0,
      maximum: 2147483647,
      description: 'A logger (plant) of the site.',
      examples: [1],
    },
    power_kw: {
      type: ['number', 'null'],
      description: 'Power.',
      'x-unit': 'kW',
      examples: [1.5],
    },
    state: {
      type: ['string', 'null'],
      enum: ['on', 'off', null],
      'x-open-enum': true,
      examples: ['on'],
    },
    lid: { anyOf: [{ $ref: '#/components/schemas/BoxLid' }, { type: 'null' }] },
    mode: { type: 'string', enum: ['a', 'b'], 'x-open-enum': true, examples: ['a'] },
    size_m: {
      anyOf: [
        { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'number' } }] },
        { type: 'null' },
      ],
    },
  })
  assert.deepEqual(components.schemas['BoxLid']!['properties'], {
    angle_deg: { type: 'number', 'x-unit': '°', examples: [4] },
  })
})

test('parameters: the site, the path, the query with its caps, then what the method brings', () => {
  assert.deepEqual(names(history.parameters), [
    '#/components/parameters/SiteId',
    'logger_id',
    'start',
    'end',
    'limit',
    '#/components/parameters/IfNoneMatch',
  ])
  const [, logger_id, start, , page] = history.parameters
  assert.equal(logger_id!['example'], 1)
  assert.equal(start!['required'], false)
  assert.deepEqual(page!['schema'], { type: 'integer', minimum: 1, 'x-cap': 10, default: 5 })
  assert.deepEqual(names(change.parameters).slice(2), [
    '#/components/parameters/IdempotencyKey',
    '#/components/parameters/IfMatch',
  ])
  assert.deepEqual(paths['/v1/sites']!['get']!.parameters, [])
})

test('every status that an endpoint can answer stands there, and no other', () => {
  const statuses = (operation: { responses: object }) => Object.keys(operation.responses).join(' ')
  assert.equal(statuses(history), '200 304 400 401 403 404 408 422 429 431 500 503')
  assert.equal(statuses(change), '200 400 401 403 404 408 409 412 413 415 422 429 431 500 503')
  assert.equal(statuses(paths['/v1/sites']!['get']!), '200 400 401 408 422 429 431 500 503')
})

test('412 stands where If-Match is honoured, whatever the method, 304 where a copy is at hand', () => {
  const decide = { ...write, method: 'POST', path: '/decide' } as never
  const { if_match: _, ...careless } = write
  const blind = { ...careless, path: '/blind' } as never
  const operations = Object.entries(openApi([decide, blind]).paths)
  const told = operations.map(([path, methods]) => {
    const [{ parameters, responses }] = Object.values(methods) as [typeof change]
    const has_parameter = names(parameters).includes('#/components/parameters/IfMatch')
    return [path.split('/').at(-1), has_parameter, '412' in responses, '304' in responses]
  })
  assert.deepEqual(told, [
    ['decide', true, true, false],
    ['blind', false, false, false],
  ])
})

test('a file is told by its media types, with its name and the 409 while there is none', () => {
  const file = {
    ...write,
    method: 'GET',
    path: '/file',
    body: undefined,
    if_match: undefined,
    file_types: ['application/pdf', 'text/csv'],
  } as never
  const told = openApi([file]).paths['/v1/sites/{site_id}/file']!['get']!
  const { content, headers } = told.responses['200'] as { content: object; headers: object }
  assert.deepEqual(Object.keys(content), ['application/pdf', 'text/csv'])
  assert.ok('Content-Disposition' in headers && 'ETag' in headers)
  assert.ok('409' in told.responses && '304' in told.responses)
})

test('an answer that says where what it began is has a Location', () => {
  const begun = { ...write, path: '/begun', location: () => '/boxes/1' } as never
  const told = openApi([begun]).paths['/v1/sites/{site_id}/begun']!['put']!
  assert.ok('Location' in (told.responses['200'] as { headers: object }).headers)
  assert.ok(!('Location' in (change.responses['200'] as { headers: object }).headers))
})

test('what the conventions make of an endpoint is said of it', () => {
  assert.deepEqual(change.security, [{ bearer: ['curtailment:write'] }])
  assert.equal(change['x-control-write'], true)
  assert.deepEqual(
    change['x-rate-limit'].map(({ policy, requests }) => [policy, requests]),
    [
      ['general', 120],
      ['write', 30],
    ],
  )
  assert.equal(history['x-control-write'], false)
  assert.equal(history['x-required-scope'], 'plant:read')
  assert.deepEqual(
    tags.map(({ name }) => name),
    ['Sites', 'Loggers', 'Curtailment'],
  )
})

test('a body must be sent where a field of it must', () => {
  assert.equal(change.requestBody?.['required'], true)
  const body = Type.Object({ why: Type.Optional(Type.String()) }, closed)
  const lenient = openApi([{ ...write, body } as never]).paths
  const [operation] = Object.values(Object.values(lenient)[0]!)
  assert.equal(operation!.requestBody?.['required'], false)
})

test('every reference leads somewhere', () => {
  const text = JSON.stringify({ paths, components })
  const missing = [...text.matchAll(/#\/components\/(\w+)\/([\w-]+)/g)].filter(
    ([, kind, name]) => !(name! in components[kind as keyof typeof components]),
  )
  assert.deepEqual(missing, [])
})

test('the same table gives the same text', () => {
  const again = openApi([...table])
  assert.equal(openApiText(again), openApiText(openApi(table)))
})

test('a table that cannot be described is refused', () => {
  assert.throws(() => openApi([{ ...read, tag: 'Nonsense' } as never]), /Nonsense/)
  const other = Type.Object({ site_id: Type.Integer() }, { $id: 'Box' })
  const twin = { ...write, path: '/twin', returns: other }
  assert.throws(() => openApi([read, twin] as never), /two different .* Box/)
})

test('a unit is the longest that the name ends in', () => {
  assert.equal(unitOf('specific_yield_today_kwh_kwp'), 'kWh/kWp')
  assert.equal(unitOf('price_per_mwh'), 'currency/MWh')
  assert.equal(unitOf('power_kw'), 'kW')
  assert.equal(unitOf('logger_id'), null)
  assert.equal(unitOf('a'), null)
})

test('what can be exported says so in its content, its description and its headers', () => {
  const exporting = { ...read, exports: nowhere } as Endpoint<never>
  const { paths, components } = openApi([exporting])
  const { responses, description } = Object.values(paths)[0]!['get']!
  const { content, headers } = responses['200'] as { content: Record<string, Json>; headers: Json }
  assert.deepEqual(Object.keys(content), [
    'application/json',
    'text/csv',
    'application/x-ndjson',
    'application/vnd.apache.parquet',
  ])
  assert.equal(
    content['text/csv']!['example'],
    'logger_id,power_kw,state,lid,mode,size_m\n3,1.5,,"{""angle_deg"":4}",a,2\n',
  )
  assert.equal(content['application/x-ndjson']!['example'], `${JSON.stringify(box)}\n`)
  assert.match(description, /text\/csv/)
  assert.ok('Content-Disposition' in headers && 'Content-Disposition' in components.headers)
  const plain = JSON.stringify(history)
  assert.doesNotMatch(plain, /csv|Content-Disposition/)
})
