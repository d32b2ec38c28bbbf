/** How a test calls an endpoint of the table: rightly by default, wrongly in what it changes. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Endpoint } from '../../server/http/endpoint.ts'
import { pathOf } from '../../server/http/paths.ts'
import type { Fixtures } from './fixtures.ts'

export type AnyEndpoint = Endpoint<never>

export interface Subject {
  app: FastifyInstance
  fixtures: Fixtures
  /** Puts back what writes can do once only; called before each convention that follows a write. */
  restore?(): Promise<void>
  drop(): Promise<void>
}

/** One endpoint of a running server, and how to call it. */
export interface Called {
  endpoint: AnyEndpoint
  fixtures: Fixtures
  call(change?: Call): Promise<LightMyRequestResponse>
}

export interface Call {
  /** null: no key at all. */
  key?: string | null
  site?: string
  method?: string
  query?: string
  headers?: Record<string, string>
  /** A Buffer is sent as it is, all else as JSON. */
  body?: unknown
  /** Of path parameters, in place of those of the fixtures. */
  values?: Record<string, string>
}

let calls = 0

export function request(
  app: FastifyInstance,
  endpoint: AnyEndpoint,
  fixtures: Fixtures,
  change: Call = {},
): Promise<LightMyRequestResponse> {
  const method = change.method ?? endpoint.method
  const key = change.key === undefined ? fixtures.keys.full : change.key
  const body = change.body === undefined ? endpoint.example.body : change.body
  calls += 1
  const options = {
    method,
    // From everywhere, or the tests of refused keys would spend the allowance of one address.
    remoteAddress: `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`,
    url: addressOf(endpoint, fixtures, change),
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...change.headers },
    ...(endpoint.method !== 'GET' && body !== undefined && { payload: body }),
  }
  return app.inject(options as InjectOptions)
}

/** The address, with every path parameter and every required query parameter filled in. */
export function addressOf(endpoint: AnyEndpoint, fixtures: Fixtures, change: Call = {}): string {
  const site = change.site ?? fixtures.sites.live
  const own = fixtures.of?.[endpoint.operation_id]
  const values = change.values ?? { ...fixtures.values, ...own }
  const path = pathOf(endpoint)
    .replace('{site_id}', site)
    .replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? '1')
  const given = change.query ?? ''
  const required = Object.entries(endpoint.query ?? {})
    .filter(([name, schema]) => !('~optional' in schema) && !given.includes(`${name}=`))
    .map(([name]) => `${name}=${encodeURIComponent(fixtures.values[name] ?? '1')}`)
  const query = [...required, given].filter(Boolean).join('&')
  return `${path}${query && `?${query}`}`
}
