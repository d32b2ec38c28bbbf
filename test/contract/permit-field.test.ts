/**
 * No field holds the grid permit, and nothing takes it: neither an operation, nor a message of the
 * edge link, nor a column of the database. What is measured is no secret.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import * as announced from '@heliograph/domain/announced-site'
import * as curtailment from '@heliograph/domain/curtailment'
import * as dispatch from '@heliograph/domain/dispatch'
import * as link from '@heliograph/domain/link'
import * as readings from '@heliograph/domain/readings'
import { Type } from 'typebox'
import { agentEndpoints } from '../../server/agents/endpoints.ts'
import { endpoints } from '../../server/endpoints.ts'
import { openApi } from '../../server/http/openapi.ts'
import { platformEndpoints } from '../../server/platform-endpoints.ts'

const migrations = join(import.meta.dirname, '../../server/storage/migrations')

/** A permit to work, of a work order. */
const others: readonly string[] = ['safety_permit_no']

const isPermit = (name: string) => /permit/i.test(name) && !others.includes(name)

/** Each name of a field or parameter in a schema or document, wherever it is. */
function namesIn(schema: unknown, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return []
  seen.add(schema)
  return Object.entries(schema).flatMap(([key, value]) => {
    const names = key === 'properties' ? Object.keys(value as object) : []
    const parameter = key === 'name' && 'in' in schema ? [String(value)] : []
    return [...names, ...parameter, ...namesIn(value, seen)]
  })
}

/** Each column that a migration makes. */
const columnsIn = (sql: string) =>
  [
    ...sql.matchAll(
      /(?:^\s*|add column )(\w+) (?:text|double|integer|bigint|numeric|jsonb|real)/gm,
    ),
  ].map(([, column]) => column!)

test('the search finds a field or a parameter wherever it is', () => {
  const limits = Type.Array(Type.Union([Type.Object({ permit_kw: Type.Number() }), Type.Null()]))
  const document = {
    paths: { '/a': { get: { parameters: [{ name: 'gridPermit', in: 'query' }] } } },
  }
  const names = namesIn([{ returns: Type.Object({ limits }) }, document])
  assert.deepEqual(names.filter(isPermit), ['permit_kw', 'gridPermit'])
  const sql =
    'create table plants (\n  permit_kw double precision,\n  name text\n);\nalter table plants add column site_permit_w integer;'
  assert.deepEqual(columnsIn(sql), ['permit_kw', 'name', 'site_permit_w'])
})

test('no operation has a field or a parameter for the permit', () => {
  for (const { path, params, query, body, returns } of [
    ...endpoints,
    ...platformEndpoints,
    ...agentEndpoints,
  ]) {
    const parameters = [params, query].flatMap((schemas) => Object.keys(schemas ?? {}))
    const names = [path, ...parameters, ...namesIn({ body, returns, params, query })]
    assert.deepEqual(names.filter(isPermit), [], path)
  }
  const names = namesIn(openApi(endpoints))
  assert.ok(names.length > 1000)
  assert.deepEqual(names.filter(isPermit), [])
})

test('no message of the edge link has a field for the permit', () => {
  for (const schemas of [link, curtailment, dispatch, readings, announced]) {
    const names = namesIn(Object.values(schemas))
    assert.deepEqual(names.filter(isPermit), [])
  }
  assert.ok(namesIn(Object.values(link)).includes('details'))
})

test('no column of the database is for the permit', () => {
  for (const name of readdirSync(migrations)) {
    const sql = readFileSync(join(migrations, name), 'utf8')
    assert.deepEqual(columnsIn(sql).filter(isPermit), [], name)
  }
})
