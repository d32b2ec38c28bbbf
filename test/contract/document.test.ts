/** The OpenAPI document against the rules of the house, each of which is seen to find its fault. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { endpoints } from '../../server/endpoints.ts'
import { openApi } from '../../server/http/openapi.ts'
import { type Document, documentRules } from './document-rules.ts'

const document: Document = JSON.parse(JSON.stringify(openApi(endpoints)))

for (const [name, rule] of Object.entries(documentRules)) {
  test(`${name}`, () => assert.deepEqual(rule(document), []))
}

/** A document with one schema, and what a rule says of it. */
const withSchema = (schema: Record<string, unknown>): Document => ({
  paths: {},
  components: { schemas: { X: schema } },
})
const withProperty = (name: string, schema: Record<string, unknown>) =>
  withSchema({ properties: { [name]: schema } })
const withOperation = (operation: Record<string, unknown>): Document => ({
  paths: { '/x': { get: { ...operation } } },
  components: { schemas: {} },
})

const faults: Readonly<Record<string, readonly [document: Document, found: string[]][]>> = {
  'an operation states its scope, module, rate and whether it commands': [
    [
      withOperation({ 'x-required-scope': null, 'x-rate-limit': [], 'x-control-write': false }),
      ['get /x: x-module is missing'],
    ],
    [
      withOperation({ 'x-required-scope': null, 'x-module': null, 'x-control-write': true }),
      ['get /x: x-rate-limit is missing'],
    ],
  ],
  'the name of a number ends in its unit, unless it counts, ranks or identifies': [
    [
      withProperty('power', { type: ['number', 'null'] }),
      ['X.power ends in no unit of server/http/openapi-text.ts'],
    ],
    [
      withProperty('value', { type: 'integer' }),
      ['X.value ends in no unit of server/http/openapi-text.ts'],
    ],
    [withProperty('inverter_id', { type: 'integer' }), []],
  ],
  'a name in _at holds a timestamp': [
    [withProperty('due_at', { type: 'string' }), ['X.due_at must have format date-time']],
    [
      withProperty('previous_end', { type: 'string', format: 'date' }),
      ['X.previous_end must have format date-time'],
    ],
  ],
  'next_start holds a timestamp or a day, as the parameter start': [
    [
      withProperty('next_start', { type: 'string', format: 'time' }),
      ['X.next_start must have format date-time or date'],
    ],
    [withProperty('next_start', { type: 'string', format: 'date' }), []],
  ],
  'a name in _date holds a day': [
    [
      withProperty('target_date', { type: 'string', format: 'date-time' }),
      ['X.target_date must have format date'],
    ],
  ],
  'an enumeration has each value once': [
    [
      withProperty('state', { enum: ['on', 'off', 'on'] }),
      ['components.schemas.X.properties.state: on,off,on'],
    ],
  ],
  'an array says what its items are': [
    [withProperty('days', { type: 'array' }), ['schemas.X.properties.days: items is missing']],
  ],
  'a description holds no script': [
    [withSchema({ description: 'A <script>' }), ['document.components.schemas.X: A <script>']],
  ],
}

for (const [name, cases] of Object.entries(faults)) {
  test(`found where it does not hold: ${name}`, () => {
    for (const [bad, found] of cases) assert.deepEqual(documentRules[name]!(bad), found)
  })
}

test('every rule is seen to find something', () => {
  const stale = 'the list of numbers without a unit names numbers of the document'
  const found = documentRules[stale]!(withProperty('power_kw', { type: 'number' }))
  assert.ok(found.includes('Alert.threshold is not in the document'))
  assert.deepEqual([...Object.keys(faults), stale].sort(), Object.keys(documentRules).sort())
})
