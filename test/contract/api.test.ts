/** The table of endpoints against the specification, its examples, and the files made from it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { endpoints } from '../../server/endpoints.ts'
import { answerWriters } from '../../server/http/answer.ts'
import { type Operation, openApi } from '../../server/http/openapi.ts'
import { validators } from '../../server/http/validate.ts'
import { contractProblems } from './contract.ts'
import { operations } from './operations.ts'

/** What the specification has and the server does not yet. This list may only shrink. */
const notBuilt: readonly string[] = []

/** What the server has beyond the specification, each named as an extension where it is told. */
const added: readonly string[] = ['GET /reports/runs/{run_id}/file', 'GET /events', 'GET /metrics']

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const document = openApi(endpoints)
const described: readonly [name: string, operation: Operation][] = Object.entries(
  document.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method} ${path}`, operation] as [string, Operation],
  ),
)

test('every operation is served as specified, but for those listed as not built', () => {
  const built = operations.filter((operation) => !notBuilt.includes(nameOf(operation)))
  const chapters = [...new Set(built.map(({ chapter }) => chapter))]
  const listed = endpoints.filter((endpoint) => notBuilt.includes(nameOf(endpoint)))
  const others = endpoints.filter(
    (endpoint) => !listed.includes(endpoint) && !added.includes(nameOf(endpoint)),
  )
  assert.deepEqual(contractProblems(built, others, chapters), [])
  assert.deepEqual(
    listed.map((endpoint) => `${nameOf(endpoint)} is built: take it off the list`),
    [],
  )
  const specified = new Set(operations.map(nameOf))
  assert.deepEqual(
    notBuilt.filter((name) => !specified.has(name)),
    [],
    'listed as not built, but no operation',
  )
})

test('what is beyond the specification is there, and says so', () => {
  for (const name of added) {
    const endpoint = endpoints.find((each) => nameOf(each) === name)
    assert.match(endpoint?.description ?? '', /extension/i, name)
    assert.ok(!operations.some((operation) => nameOf(operation) === name), name)
  }
})

test('every parameter and every field of the document has a type', () => {
  const typed = ['type', '$ref', 'anyOf', 'oneOf', 'allOf']
  const has = (schema: unknown) => typed.some((word) => word in (schema as object))
  const untyped = [
    ...Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties as object).map(([field, schema]) => [`${name}.${field}`, schema]),
    ),
    ...described.flatMap(([name, { parameters }]) =>
      parameters
        .filter((one) => one['schema'] !== undefined)
        .map((one) => [`${name} ${one['name']}`, one['schema']]),
    ),
  ].filter(([, schema]) => !has(schema))
  assert.deepEqual(untyped, [])
})

test('the endpoints stand in the order of the specification', () => {
  const order = operations.map(nameOf)
  const served = endpoints.map(nameOf).filter((name) => !added.includes(name))
  assert.deepEqual(
    served,
    order.filter((name) => served.includes(name)),
  )
})

test('every example of an answer is one that the server would give', () => {
  const writer = answerWriters('strict')
  for (const endpoint of endpoints) {
    if (endpoint.status === 204 || endpoint.file_types) continue
    const write = writer(endpoint, endpoint.operation_id)
    const text = String(write(endpoint.example.answer).text)
    assert.deepEqual(JSON.parse(text), endpoint.example.answer, endpoint.operation_id)
  }
})

test('every example of a request is one that the server would accept', () => {
  const validator = validators(endpoints)
  for (const endpoint of endpoints) {
    const { operation_id, example } = endpoint
    const { parameters } = described.find(([, { operationId }]) => operationId === operation_id)![1]
    const examples = (place: string) =>
      Object.fromEntries(
        parameters
          // A cursor is whatever the page before gave.
          .filter(({ name, in: where }) => where === place && name !== 'cursor')
          .map(({ name, example }) => [name, Array.isArray(example) ? example : String(example)]),
      )
    const body = endpoint.body ? structuredClone(example.body) : undefined
    const input = { params: examples('path'), query: examples('query'), body, body_bytes: 0 }
    assert.doesNotThrow(
      () => validator(endpoint)(input),
      `the example of ${operation_id} is refused`,
    )
  }
})

test('every operation says what it does and is called by what it does', () => {
  const ids = endpoints.map(({ operation_id }) => operation_id)
  assert.equal(new Set(ids).size, ids.length, 'an operation_id is used twice')
  for (const { operation_id, summary, description = '' } of endpoints) {
    assert.match(operation_id, /^[a-z]+(_[a-z]+)+$/, `${operation_id}: not resource_action`)
    assert.match(summary, /^[A-Z].{3,78}[^.]$/, `${operation_id}: a line without a full stop`)
    if (description) assert.match(description, /[.:`)]$/, `${operation_id}: whole sentences`)
  }
})

test('every parameter has its example, so that every request shown can be sent', () => {
  const without = described.flatMap(([name, { parameters }]) =>
    parameters
      .filter((parameter) => !parameter['$ref'] && parameter['example'] === undefined)
      .map((parameter) => `${name}: ${parameter['name']} needs \`examples\` in its schema`),
  )
  assert.deepEqual(without, [])
})

interface Keywords {
  properties?: Record<string, Keywords>
  required?: string[]
  additionalProperties?: unknown
  items?: Keywords
  anyOf?: Keywords[]
  allOf?: Keywords[]
}

/** Every object of a schema with the place where it stands. */
function objectsIn(schema: Keywords, place: string): [place: string, schema: Keywords][] {
  const { properties = {}, items, anyOf = [], allOf = [] } = schema
  return [
    ...(schema.properties ? [[place, schema] as [string, Keywords]] : []),
    ...Object.entries(properties).flatMap(([name, one]) => objectsIn(one, `${place}.${name}`)),
    ...(items ? objectsIn(items, `${place}[]`) : []),
    ...[...anyOf, ...allOf].flatMap((one) => objectsIn(one, place)),
  ]
}

const answered = endpoints.flatMap(({ operation_id, returns }) =>
  objectsIn(returns as Keywords, operation_id),
)

/** Present only where an answer left out items. */
const isOmitted = (place: string, name: string) => place.endsWith('.meta') && name === 'omitted'

/** Present only if the request asks for it. */
const isOnRequest = (schema: unknown) =>
  /^With `(every|extremes|include=status)`/.test(
    (schema as { description?: string }).description ?? '',
  )

test('every list says how many items it left out', () => {
  const without = answered.filter(
    ([place, { properties = {} }]) => /^[a-z_]+\.meta$/.test(place) && !('omitted' in properties),
  )
  assert.deepEqual(
    without.map(([place]) => place),
    [],
  )
})

test('in answers every field is always present, and no other', () => {
  const open = answered.flatMap(([place, { properties = {}, required = [], ...more }]) => [
    ...Object.keys(properties)
      .filter((name) => !required.includes(name) && !isOmitted(place, name))
      .filter((name) => !isOnRequest(properties[name]))
      .map((name) => `${place}.${name} may be absent: make it nullable`),
    ...(more.additionalProperties === false ? [] : [`${place} takes fields that it does not name`]),
  ])
  assert.deepEqual(open, [])
})

// That of a work order is a permit to work, by its number.
test('no answer has a place for the grid permit', () => {
  const named = answered.flatMap(([place, { properties = {} }]) =>
    Object.keys(properties)
      .filter((name) => name.includes('permit') && name !== 'safety_permit_no')
      .map((name) => `${place}.${name}`),
  )
  assert.deepEqual(named, [])
})

test('the generated files are up to date', () => {
  const root = join(import.meta.dirname, '../..')
  const script = join(root, 'scripts/generate.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
})
