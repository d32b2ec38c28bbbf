import assert from 'node:assert/strict'
import test from 'node:test'
import { type Operation, operations, paramsOf, scopeKinds } from './operations.ts'

const line = ({ method, path }: Operation) => `${method} ${path}`

test('the specification has 109 operations, so many in each chapter', () => {
  const counts: Record<string, number> = {}
  for (const { chapter } of operations) counts[chapter] = (counts[chapter] ?? 0) + 1
  assert.deepEqual(counts, {
    '4.1': 1,
    '4.2': 7,
    '4.3': 3,
    '4.4': 5,
    '4.5': 4,
    '4.6': 3,
    '4.7': 3,
    '4.8': 6,
    '4.9': 4,
    '4.10': 1,
    '4.11': 7,
    '4.12': 3,
    '4.13': 4,
    '4.14': 5,
    '4.15': 28,
    '4.16': 25,
  })
  assert.equal(operations.length, 109)
})

test('no two operations share a method and a path, whatever their parameters are called', () => {
  const shapes = operations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)
  assert.equal(new Set(shapes).size, operations.length)
})

test('each of the 17 scopes is used', () => {
  const used = new Set(operations.flatMap(({ scope }) => scope ?? []))
  assert.deepEqual([...used].sort(), Object.keys(scopeKinds).sort())
  assert.equal(used.size, 17)
})

test('a read is a GET under a reading scope, a write is neither', () => {
  for (const operation of operations) {
    const reads = operation.scope === null || scopeKinds[operation.scope] === 'read'
    assert.equal(operation.method === 'GET', reads, line(operation))
    assert.equal(operation.kind === 'read', reads, line(operation))
  }
})

test('the control writes are the three of 4.11 and the six of 4.15', () => {
  assert.deepEqual(operations.filter(({ kind }) => kind === 'control').map(line), [
    'POST /curtailment/window',
    'POST /curtailment/immediate',
    'DELETE /curtailment/group/{group_id}',
    'POST /bess/{bess_id}/optimize',
    'POST /bess/optimize-all',
    'POST /bess/schedules/{schedule_id}/approve',
    'POST /bess/schedules/{schedule_id}/reject',
    'POST /bess/schedules/approve-all',
    'PUT /bess/schedules/{schedule_id}/hours/{hour}',
  ])
})

test('the other mutations are the thirteen of 4.16', () => {
  const writes = operations.filter(({ kind }) => kind === 'write').map(line)
  assert.deepEqual(writes.sort(), [
    'DELETE /reports/subscriptions/{sub_id}',
    'PATCH /reports/subscriptions/{sub_id}',
    'POST /alerts/{alert_id}/acknowledge',
    'POST /alerts/{alert_id}/resolve',
    'POST /defects',
    'POST /reports/subscriptions',
    'POST /reports/subscriptions/{sub_id}/run',
    'POST /work-orders',
    'POST /work-orders/{wo_id}/approve',
    'PUT /defects/{defect_id}',
    'PUT /om/notifications/{notification_id}/read',
    'PUT /work-orders/{wo_id}',
    'PUT /work-orders/{wo_id}/items/{item_id}',
  ])
})

test('every limit has the cap of the table of limits (chapter 8)', () => {
  const capped = operations.flatMap(({ path, query }) =>
    Object.values(query).flatMap(({ cap }) => (cap === undefined ? [] : { path, cap })),
  )
  const byCap = Object.groupBy(capped, ({ cap }) => cap)
  const caps = Object.fromEntries(
    Object.entries(byCap).map(([cap, found = []]) => [cap, found.map(({ path }) => path)]),
  )
  assert.deepEqual(caps, {
    50: ['/iv/modules/search'],
    100: ['/reports/runs'],
    200: ['/work-orders', '/om/notifications', '/defects'],
    500: ['/gaps', '/gaps/logger/{logger_id}', '/commands/relay-history'],
    2000: ['/weather/logger/{logger_id}/history'],
    5000: ['/iv/strings/{inverter_id}/{string_index}/expected'],
    10000: [
      '/loggers/{logger_id}/history',
      '/inverters/{inverter_id}/history',
      '/strings/inverter/{inverter_id}/history',
      '/sensors/{node_id}/history',
      '/bess/{bess_id}/history',
      '/bess/{bess_id}/pcs/history',
      '/bess/{bess_id}/alarms/history',
      '/bess/{bess_id}/dispatch-log',
      '/bess/{bess_id}/control-log',
    ],
  })
})

test('a limit is capped, an offset goes with a limit, start and end go together', () => {
  for (const { path, query } of operations) {
    assert.equal('limit' in query, query.limit?.cap !== undefined, path)
    assert.ok(!('offset' in query) || 'limit' in query, path)
    assert.equal(query.start?.format, query.end?.format, path)
  }
})

test('dates where 4.18 says dates, timestamps where it says timestamps', () => {
  const pathsWith = (format: string) =>
    operations
      .filter(({ query }) => Object.values(query).some((parameter) => parameter.format === format))
      .map(({ path }) => path)
  assert.deepEqual(pathsWith('date'), [
    '/plant/summary',
    '/curtailment/suggest',
    '/markets/{market_code}/prices',
    '/markets/compare',
    '/earnings/summary',
    '/earnings/hourly',
    '/earnings/cross-border-prices',
    '/predictions/forecast',
    '/predictions/forecast/logger/{logger_id}',
    '/bess/{bess_id}/deviations',
    '/bess/{bess_id}/schedules',
    '/bess/schedules/approve-all',
  ])
  assert.equal(pathsWith('ts').length, 23)
})

test('only these query parameters must be given', () => {
  const needed = operations.flatMap(({ path, query }) =>
    Object.keys(query).flatMap((name) => (query[name]?.required ? `${path} ${name}` : [])),
  )
  assert.deepEqual(needed, [
    '/iv/modules/search q',
    '/curtailment/suggest logger_id',
    '/curtailment/suggest date',
    '/curtailment/suggest start_hour',
    '/curtailment/suggest end_hour',
  ])
})

test('the names in a path are its parameters', () => {
  assert.deepEqual(paramsOf('/iv/strings/{inverter_id}/{string_index}/expected'), [
    'inverter_id',
    'string_index',
  ])
  assert.deepEqual(paramsOf('/loggers'), [])
})
