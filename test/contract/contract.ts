/** Holds a table of endpoints against the operations written down from the specification. */
import type { TSchema } from 'typebox'
import {
  type Kind,
  type Method,
  type Operation,
  paramsOf,
  type QueryParameter,
  type Scope,
  scopeKinds,
} from './operations.ts'

/** What of an endpoint its clients can see, as server/http/endpoint.ts declares it. */
export interface DeclaredEndpoint {
  method: Method
  path: string
  scope: Scope | null
  module: string | null
  params?: Readonly<Record<string, TSchema>>
  query?: Readonly<Record<string, TSchema>>
  body?: TSchema
  status?: number
}

/** The keywords of a schema that are looked at here. */
interface Keywords {
  type?: string
  format?: string
  enum?: readonly unknown[]
  const?: unknown
  items?: TSchema
  anyOf?: readonly TSchema[]
  allOf?: readonly TSchema[]
  properties?: Readonly<Record<string, TSchema>>
  required?: readonly string[]
  minimum?: number
  maximum?: number
  'x-cap'?: number
}

/**
 * Every way in which the endpoints are not the operations, as sentences; none when they are. An
 * operation may be missing while its chapter is not built; one that is served has to be right, and
 * an endpoint that is no operation is always one too many.
 */
export function contractProblems(
  operations: readonly Operation[],
  endpoints: readonly DeclaredEndpoint[],
  built_chapters: readonly string[],
): string[] {
  const chapters = new Set(operations.map(({ chapter }) => chapter))
  const byShape = Map.groupBy(endpoints, shapeOf)
  const specified = new Set(operations.map(shapeOf))
  return [
    ...built_chapters
      .filter((chapter) => !chapters.has(chapter))
      .map((chapter) => `Chapter ${chapter} is to be built, but has no operations.`),
    ...operations
      .filter((operation) => built_chapters.includes(operation.chapter))
      .filter((operation) => !byShape.has(shapeOf(operation)))
      .map((operation) => `${nameOf(operation)} is missing (chapter ${operation.chapter}).`),
    ...[...byShape.values()]
      .filter((alike) => alike.length > 1)
      .map((alike) => `${alike.map(nameOf).join(' and ')} are one operation.`),
    ...endpoints
      .filter((endpoint) => !specified.has(shapeOf(endpoint)))
      .map((endpoint) => `${nameOf(endpoint)} is a ${kindOf(endpoint)} that is not specified.`),
    ...operations.flatMap((operation) =>
      (byShape.get(shapeOf(operation)) ?? []).flatMap((endpoint) =>
        differences(operation, endpoint).map((text) => `${nameOf(operation)}: ${text}.`),
      ),
    ),
  ]
}

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

/** Method and path with nameless parameters: what a client's request can tell apart. */
const shapeOf = ({ method, path }: { method: string; path: string }) =>
  `${method} ${path.replace(/\{\w+\}/g, '{}')}`

/** What the conventions make of an endpoint: they know it by method and scope. */
function kindOf({ method, scope }: DeclaredEndpoint): Kind {
  if (method === 'GET') return 'read'
  return scope && scopeKinds[scope] === 'control' ? 'control' : 'write'
}

function differences(operation: Operation, endpoint: DeclaredEndpoint): string[] {
  return [
    ...changed('the path', operation.path, endpoint.path),
    ...changed('the scope', operation.scope, endpoint.scope),
    ...changed('the module', operation.module, endpoint.module),
    ...changed('the kind', operation.kind, kindOf(endpoint)),
    ...changed('the status', operation.status, endpoint.status ?? 200),
    ...namesDiffer('path parameter', paramsOf(endpoint.path), Object.keys(endpoint.params ?? {})),
    ...queryDifferences(operation, endpoint.query ?? {}),
    ...bodyDifferences(operation.body, endpoint.body),
  ]
}

function changed(what: string, specified: unknown, served: unknown): string[] {
  return specified === served ? [] : [`${what} is ${served}, specified is ${specified}`]
}

function namesDiffer(what: string, specified: readonly string[], served: readonly string[]) {
  return [
    ...specified.filter((name) => !served.includes(name)).map((name) => `no ${what} ${name}`),
    ...served
      .filter((name) => !specified.includes(name))
      .map((name) => `the ${what} ${name} is not specified`),
  ]
}

/** Optional query parameters beyond those of the specification. */
const further_parameters: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/sites': ['q', 'sort', 'limit', 'include'],
  'GET /earnings/summary': ['timezone'],
  'GET /efficiency/loggers': ['rank_by'],
  'GET /efficiency/inverters': ['rank_by'],
  'GET /inverters/alarms/decode': ['inverter_id', 'table_id'],
  'GET /weather/logger/{logger_id}/history': ['every'],
  'GET /iv/strings/{inverter_id}/{string_index}/expected': ['every'],
  ...Object.fromEntries(
    [
      '/loggers/{logger_id}',
      '/inverters/{inverter_id}',
      '/strings/inverter/{inverter_id}',
      '/sensors/{node_id}',
      '/bess/{bess_id}',
      '/bess/{bess_id}/pcs',
    ].map((device) => [`GET ${device}/history`, ['every', 'fields', 'extremes']]),
  ),
}

function queryDifferences(
  operation: Operation,
  served: Readonly<Record<string, TSchema>>,
): string[] {
  const specified = operation.query
  const further = further_parameters[nameOf(operation)] ?? []
  // Further pages by `cursor` are an extension of lists that the specification bounds.
  const names = Object.keys(served).filter(
    (name) => name !== 'cursor' && !(further.includes(name) && '~optional' in served[name]!),
  )
  return [
    ...namesDiffer('query parameter', Object.keys(specified), names),
    ...Object.entries(specified).flatMap(([name, parameter]) => {
      const schema = served[name]
      return schema ? parameterDifferences(name, parameter, schema) : []
    }),
  ]
}

function parameterDifferences(name: string, specified: QueryParameter, schema: TSchema): string[] {
  const { minimum, maximum, 'x-cap': cap } = schema as Keywords
  const alternatives = alternativesOf(schema)
  const repeatable = alternatives.some(({ type }) => type === 'array')
  const formats = alternatives.map((keywords) =>
    keywords.type === 'array' ? formatsOf(keywords.items) : formatOf(keywords),
  )
  const said = (word: boolean | undefined, yes: string, no: string) => (word ? yes : no)
  return [
    ...changed(
      name,
      said(specified.required, 'required', 'optional'),
      said(!('~optional' in schema), 'required', 'optional'),
    ),
    ...changed(name, specified.format, [...new Set(formats)].join(' or ')),
    ...changed(
      name,
      said(specified.repeatable, 'repeatable', 'single'),
      said(repeatable, 'repeatable', 'single'),
    ),
    ...changed(`the cap of ${name}`, specified.cap, cap),
    ...(specified.cap !== undefined && maximum !== undefined
      ? [`${name} above ${maximum} is refused, specified is to clamp it`]
      : []),
    ...(specified.range
      ? changed(`the range of ${name}`, specified.range.join(' to '), `${minimum} to ${maximum}`)
      : []),
  ]
}

function alternativesOf(schema: TSchema): Keywords[] {
  const keywords = schema as Keywords
  return keywords.anyOf ? keywords.anyOf.flatMap(alternativesOf) : [keywords]
}

function formatsOf(schema: TSchema | undefined): string {
  return [...new Set(alternativesOf(schema ?? {}).map(formatOf))].join(' or ')
}

/** A parameter's form in the specification's word, or the schema's where it has none. */
function formatOf({ type, format, enum: values, const: value }: Keywords): string {
  const choices = values ?? (value === undefined ? [] : [value])
  const form = type ?? (choices.length > 0 ? [...new Set(choices.map((v) => typeof v))].join() : '')
  if (form !== 'string') return form || 'anything'
  if (format === 'date-time') return 'ts'
  return format === 'date' ? 'date' : 'string'
}

function bodyDifferences(specified: Operation['body'], served: TSchema | undefined): string[] {
  if (specified.is === 'open') return []
  if (specified.is === 'none') return served ? ['it takes a body, specified is none'] : []
  if (!served) return ['it takes no body, specified is one']
  const fields = fieldsOf(served)
  if (specified.is === 'some') {
    return specified.fields
      .filter((name) => !fields.names.has(name))
      .map((name) => `no body field ${name}`)
  }
  const all = [...specified.required, ...specified.optional]
  const isRequired = (yes: boolean) => (yes ? 'required' : 'optional')
  return [
    ...namesDiffer('body field', all, [...fields.names]),
    ...all
      .filter((name) => fields.names.has(name))
      .flatMap((name) =>
        changed(
          `body field ${name}`,
          isRequired(specified.required.includes(name)),
          isRequired(fields.required.has(name)),
        ),
      ),
  ]
}

interface Fields {
  names: Set<string>
  /** Those that every accepted body has. */
  required: Set<string>
}

/** The fields of an object, of all parts of an intersection, of any alternative of a union. */
function fieldsOf(schema: TSchema): Fields {
  const { properties = {}, required = [], allOf = [], anyOf = [] } = schema as Keywords
  const parts = allOf.map(fieldsOf)
  const alternatives = anyOf.map(fieldsOf)
  const inEvery = (name: string) => alternatives.every((fields) => fields.required.has(name))
  return {
    names: new Set([
      ...Object.keys(properties),
      ...[...parts, ...alternatives].flatMap(({ names }) => [...names]),
    ]),
    required: new Set([
      ...required,
      ...parts.flatMap((fields) => [...fields.required]),
      ...[...(alternatives[0]?.required ?? [])].filter(inEvery),
    ]),
  }
}
