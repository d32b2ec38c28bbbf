import assert from 'node:assert/strict'
import test from 'node:test'
import { Ajv } from 'ajv'
import formatsModule from 'ajv-formats'
import type { TSchema } from 'typebox'
import { agentEndpoints } from './agents/endpoints.ts'
import { endpoints as ofSites } from './endpoints.ts'
import { anonymous } from './http/anonymous-schema.ts'
import { platformEndpoints } from './platform-endpoints.ts'

const endpoints = [...ofSites, ...platformEndpoints, ...agentEndpoints]

for (const { operation_id, returns, body, example } of endpoints) {
  test(`${operation_id}: its example is what it declares`, () => {
    assert.deepEqual(violations(returns, example.answer), [])
    if (body) assert.deepEqual(violations(body, example.body), [])
  })
}

function violations(schema: TSchema, value: unknown) {
  const ajv = new Ajv({ strict: false, allErrors: true })
  formatsModule.default(ajv)
  ajv.validate(anonymous(schema), value)
  return ajv.errors ?? []
}

test('no endpoint reads the bounds of a window but by its rule', () => {
  for (const { operation_id, query = {}, window } of endpoints) {
    const bounds = ['start', 'end', 'since'].filter((name) => name in query)
    const of_rule = Object.keys(window?.query ?? {})
    assert.deepEqual(bounds, of_rule, operation_id)
  }
})

test('a read that answers without a bound, or with a thousand rows, is declared heavy', () => {
  const reads = ofSites.filter(({ method, heavy }) => method === 'GET' && !heavy)
  for (const { operation_id, window, query = {} } of reads) {
    const cap = (query['limit'] as { 'x-cap'?: number } | undefined)?.['x-cap']
    assert.ok(cap === undefined ? !window : cap < 1000, operation_id)
  }
})

test('what is heavy is a read of a site, which a thread computes without a session', () => {
  for (const { operation_id, method, role, file_types } of endpoints.filter(({ heavy }) => heavy)) {
    assert.deepEqual([method, role, file_types], ['GET', undefined, undefined], operation_id)
  }
})

test('no integer of a request is larger than what the database holds', () => {
  for (const { operation_id, params, query, body } of endpoints) {
    // Of a subscription they are looked up among the plants of the site, and unknown.
    const refers = operation_id.startsWith('report_subscription_')
    const unbounded = integersOf({ params, query, body: refers ? undefined : body }).filter(
      (one) => one['maximum'] === undefined && one['x-cap'] === undefined,
    )
    assert.deepEqual(unbounded, [], operation_id)
  }
})

function integersOf(schema: unknown): Record<string, unknown>[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = schema as Record<string, unknown>
  const inner = Object.values(own).flatMap(integersOf)
  return own['type'] === 'integer' ? [own, ...inner] : inner
}
