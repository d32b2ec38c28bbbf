/**
 * The OpenAPI 3.1 document of a table of endpoints. TypeBox schemas are JSON Schema already.
 * Errors, headers and rates follow from the conventions, as they do when an endpoint is served.
 */
import type { TSchema } from 'typebox'
import type { Endpoint } from './endpoint.ts'
import { event_stream_type } from './event-stream.ts'
import { heavy_sentence } from './heavy-reads.ts'
import { export_sentence, exportContent } from './openapi-export.ts'
import {
  errorSchemas,
  headerComponents,
  otherResponses,
  responseComponents,
  responseHeaders,
} from './openapi-responses.ts'
import { type Json, pascal, type Schemas, schemaComponents } from './openapi-schemas.ts'
import { interface_version, introduction, tags, title } from './openapi-text.ts'
import { type DocumentedEvent, webhooks } from './openapi-webhooks.ts'
import { pathOf } from './paths.ts'
import { per_minute, window_s } from './rate-limit.ts'
import { read_modify_write_sentence } from './read-only.ts'
import { isWrite } from './safe-mode.ts'

export interface OpenApiDocument {
  openapi: string
  info: {
    title: string
    version: string
    description: string
    contact: Json
    license: Json
  }
  servers: readonly Json[]
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Json
  components: Record<
    'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes',
    Record<string, Json>
  >
}

export interface Operation {
  operationId: string
  tags: readonly string[]
  summary: string
  description: string
  security: readonly { bearer: readonly string[] }[]
  'x-required-scope': string | null
  'x-module': string | null
  'x-rate-limit': readonly { policy: string; requests: number; window_s: number }[]
  'x-control-write': boolean
  parameters: readonly Json[]
  requestBody?: Json
  responses: Record<string, Json>
}

/** The scopes that command the plant. */
const controlScopes: readonly unknown[] = ['curtailment:write', 'bess:write']

/**
 * The document; key order is stable. Throws for a tag without a description and for two schemas of
 * one name.
 */
export function openApi(
  endpoints: readonly Endpoint<never>[],
  events: readonly DocumentedEvent[] = [],
): OpenApiDocument {
  const schemas = schemaComponents()
  const paths: OpenApiDocument['paths'] = {}
  for (const endpoint of endpoints) {
    const path = pathOf(endpoint)
    paths[path] ??= {}
    paths[path][endpoint.method.toLowerCase()] = operation(endpoint, schemas)
  }
  const sent = webhooks(events, schemas)
  const responses = responseComponents(endpoints)
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: interface_version,
      description: introduction,
      contact: { name: 'The operator of this server' },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that serves this document.' }],
    tags: usedTags(endpoints),
    paths,
    webhooks: sent,
    components: {
      schemas: inOrder({ ...schemas.components(), ...errorSchemas }),
      responses,
      parameters: parameterComponents(endpoints),
      headers: headerComponents([paths, responses]),
      securitySchemes: { bearer },
    },
  }
}

/** The document as it is served and committed. */
export const openApiText = (document: OpenApiDocument) => `${JSON.stringify(document, null, 2)}\n`

export const isControl = ({ method, scope }: Pick<Endpoint<never>, 'method' | 'scope'>) =>
  isWrite(method) && controlScopes.includes(scope)

const bearer = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'svc_live_[0-9a-f]{12}_[0-9a-f]{64}',
  description:
    'An API key of the client, with its scopes and sites. The key is returned only once, when it ' +
    'is created.',
}

function usedTags(endpoints: readonly Endpoint<never>[]) {
  const used = new Set(endpoints.map(({ tag }) => tag))
  for (const tag of used) {
    if (!(tag in tags)) throw new Error(`the tag ${tag} has no description`)
  }
  return Object.entries(tags)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }))
}

function operation(endpoint: Endpoint<never>, schemas: Schemas): Operation {
  const { operation_id, method, tag, scope, module, summary, description, body } = endpoint
  const policies = isWrite(method) ? (['general', 'write'] as const) : (['general'] as const)
  return {
    operationId: operation_id,
    tags: [tag],
    summary,
    description: [
      description ?? `${summary}.`,
      ...(endpoint.exports ? [export_sentence] : []),
      ...(endpoint.heavy ? [heavy_sentence] : []),
      ...(endpoint.object ? [read_modify_write_sentence] : []),
    ].join(' '),
    security: [{ bearer: scope === null ? [] : [scope] }],
    'x-required-scope': scope,
    'x-module': module,
    'x-rate-limit': policies.map((policy) => ({
      policy,
      requests: per_minute[policy],
      window_s,
    })),
    'x-control-write': isControl(endpoint),
    parameters: parameters(endpoint, schemas),
    ...(body && { requestBody: requestBody(endpoint, body, schemas) }),
    responses: {
      [endpoint.status ?? 200]: answer(endpoint, schemas),
      ...otherResponses(endpoint),
    },
  }
}

function requestBody(endpoint: Endpoint<never>, body: TSchema, schemas: Schemas): Json {
  const schema = schemas.refer(body, `${pascal(endpoint.operation_id)}Body`, 'request')
  const example = endpoint.example.body
  schemas.illustrate(schema, example)
  return {
    // A body without required fields is optional.
    required: !(body as Json)['properties'] || Boolean((body as Json)['required']),
    content: { 'application/json': { schema, example } },
  }
}

const meanings = { 200: 'Success.', 201: 'Created.', 202: 'Accepted.', 204: 'Deleted.' } as const

function answer(endpoint: Endpoint<never>, schemas: Schemas): Json {
  const { status = 200, operation_id, returns, example } = endpoint
  const head = { description: meanings[status], headers: responseHeaders(endpoint) }
  if (status === 204) return head
  if (endpoint.file_types) return { ...head, content: fileContent(endpoint.file_types) }
  const schema = schemas.refer(returns, `${pascal(operation_id)}Answer`, 'answer')
  schemas.illustrate(schema, example.answer)
  const json = { 'application/json': { schema, example: example.answer } }
  const stream = endpoint.stream && { [event_stream_type]: { schema: { type: 'string' } } }
  return { ...head, content: { ...json, ...exportContent(endpoint), ...stream } }
}

/** Binary content has a media type and no schema. OpenAPI 3.1, section 4.8.14.2. */
const fileContent = (types: readonly string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema: { contentMediaType: type } }]))

function parameters(endpoint: Endpoint<never>, schemas: Schemas): Json[] {
  const { params = {}, query = {} } = endpoint
  const of = (place: 'path' | 'query', all: Readonly<Record<string, TSchema>>) =>
    Object.entries(all).map(([name, schema]) => {
      const name_of_schema = `${pascal(endpoint.operation_id)}${pascal(name)}`
      const { description, examples, ...written } = schemas.refer(schema, name_of_schema, 'request')
      return {
        name,
        in: place,
        required: place === 'path' || !('~optional' in schema),
        description,
        schema: written,
        example: (examples as unknown[])?.[0] ?? parameterExample(name, written, endpoint),
      }
    })
  return [
    ...sharedParameters
      .filter(({ place, when }) => place === 'path' && when(endpoint))
      .map(referTo),
    ...of('path', params),
    ...of('query', query),
    ...sharedParameters
      .filter(({ place, when }) => place === 'header' && when(endpoint))
      .map(referTo),
  ]
}

const referTo = ({ component }: SharedParameter) => ({
  $ref: `#/components/parameters/${component}`,
})

/** An example for a parameter, taken from the example answer where it has the field. */
function parameterExample(name: string, schema: Json, { example }: Endpoint<never>): unknown {
  if (schema['type'] === 'array') {
    return [parameterExample(name, schema['items'] as Json, { example } as Endpoint<never>)]
  }
  if (schema['default'] !== undefined) return schema['default']
  if (schema['enum']) return (schema['enum'] as unknown[])[0]
  if (schema['format'] === 'date-time') return `2026-06-0${name === 'end' ? 2 : 1}T00:00:00Z`
  if (schema['format'] === 'date') return name === 'end' ? '2026-06-30' : '2026-06-01'
  const found = firstNamed(name, example.answer)
  if (found !== undefined && found !== null) return found
  if (schema['type'] === 'integer') return Math.max(1, Number(schema['minimum'] ?? 1))
  return schema['type'] === 'boolean' ? true : undefined
}

/** The first field of this name in a JSON value, in depth-first order. */
function firstNamed(name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (name in value) return (value as Json)[name]
  for (const part of Object.values(value)) {
    const found = firstNamed(name, part)
    if (found !== undefined) return found
  }
  return undefined
}

interface SharedParameter {
  component: string
  name: string
  place: 'path' | 'header'
  when: (endpoint: Endpoint<never>) => boolean
  description: string
  schema: Json
  example: string
}

const etag_example = '"x7Vd0a2mTq5mZ4H1rB9wKc3uYpE"'

const sharedParameters: readonly SharedParameter[] = [
  {
    component: 'SiteId',
    name: 'site_id',
    place: 'path',
    when: ({ path }) => path !== '/v1/sites',
    description: 'A site that the key can access; see `/v1/sites`.',
    schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' },
    example: 'demo',
  },
  {
    component: 'IdempotencyKey',
    name: 'Idempotency-Key',
    place: 'header',
    when: ({ method }) => isWrite(method),
    description:
      'A unique value (a UUID) for each write. A retry with the same value within 24 hours ' +
      'executes nothing and returns the recorded answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  },
  {
    component: 'IfMatch',
    name: 'If-Match',
    place: 'header',
    when: ({ if_match }) => if_match === true,
    description: 'The `ETag` of the last read. Rejected with 412 when the resource has changed.',
    schema: { type: 'string' },
    example: etag_example,
  },
  {
    component: 'IfNoneMatch',
    name: 'If-None-Match',
    place: 'header',
    when: ({ method, cache = 'live' }) => !isWrite(method) && cache !== 'live',
    description:
      'The `ETag` of a cached copy. Returns 304 without a body when it is still current.',
    schema: { type: 'string' },
    example: etag_example,
  },
  {
    component: 'LastEventId',
    name: 'Last-Event-ID',
    place: 'header',
    when: ({ stream }) => stream !== undefined,
    description: 'The `id` of the last message of a stream, to resume after it.',
    schema: { type: 'string', pattern: '^\\d{1,16}$' },
    example: '1782000000000000',
  },
]

const parameterComponents = (endpoints: readonly Endpoint<never>[]) =>
  Object.fromEntries(
    sharedParameters
      .filter(({ when }) => endpoints.some(when))
      .map(({ component, name, place, description, schema, example }) => [
        component,
        { name, in: place, required: place === 'path', description, schema, example },
      ]),
  )

const inOrder = (record: Record<string, Json>) =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
