/**
 * Schemas in the form of the OpenAPI document: every object is a named component, a nullable field
 * has two types, enumerations have a type, and numbers have their unit in `x-unit`.
 */
import { unitOf } from './openapi-units.ts'

/** A JSON object of the document. */
export interface Json {
  [name: string]: unknown
}

export type Schemas = ReturnType<typeof schemaComponents>

interface Context {
  part: 'answer' | 'request'
  refer(schema: Json, name: string): Json
}

/** Throws when two different objects have the same name. */
export function schemaComponents() {
  const components = new Map<string, Json>()
  const sources = new Map<string, string>()

  function define(name: string, source: Json, context: Context): Json {
    const text = JSON.stringify(source)
    const known = sources.get(name)
    if (known !== undefined && known !== text) {
      throw new Error(`two different schemas are called ${name}: give one of them another $id`)
    }
    if (known === undefined) {
      sources.set(name, text)
      const component: Json = {}
      components.set(name, component)
      Object.assign(component, object(source, name, context))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function referIn(part: Context['part']) {
    const context: Context = {
      part,
      refer(schema, name) {
        const { $id, ...source } = schema
        if ($id !== undefined) return define(String($id), source, context)
        if (source['properties']) return define(nameOf(source, name), source, context)
        return inline(source, name, context)
      },
    }
    return context.refer
  }

  const refer = { answer: referIn('answer'), request: referIn('request') }
  return {
    /**
     * Registers a schema and returns a reference to it. `name` names the component of an object
     * without `$id`. Enumerations in answers are open: later versions may add values.
     */
    refer: (schema: object, name: string, part: Context['part']) =>
      refer[part](schema as Json, name),
    /** Copies the values of an example to fields that have no example. */
    illustrate: (schema: Json, example: unknown) => illustrate(schema, example, components),
    /** By name, in alphabetical order. */
    components(): Record<string, Json> {
      for (const { properties } of components.values()) nameFirstValues(properties as Json)
      return Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

/** Envelopes are named after their items: `InverterList`, or `InverterSeries` for series. */
function nameOf({ properties }: Json, name: string): string {
  const { data, meta, ...more } = properties as Record<string, Json>
  const items = data?.['items'] as Json | undefined
  if (!items?.['$id'] || !meta || Object.keys(more).length > 0) return name
  return `${items['$id']}${isSeriesMeta(meta) ? 'Series' : 'List'}`
}

const isSeriesMeta = (meta: Json) => 'previous_end' in (meta['properties'] as Json)

function object(source: Json, name: string, context: Context): Json {
  const properties = source['properties'] as Record<string, Json>
  return {
    ...source,
    properties: Object.fromEntries(
      Object.entries(properties).map(([field, schema]) => [
        field,
        withUnit(context.refer(schema, nameOfField(properties, name, field)), field),
      ]),
    ),
  }
}

function nameOfField(properties: Record<string, Json>, name: string, field: string): string {
  if (field !== 'meta' || !('data' in properties)) return `${name}${pascal(field)}`
  const meta = properties[field]!['properties'] as Json
  if ('offset' in meta) return 'PageMeta'
  if ('resolution_s' in meta) return 'ReadingSeriesMeta'
  if ('previous_end' in meta) return 'next_cursor' in meta ? 'CursorSeriesMeta' : 'SeriesMeta'
  if ('next_cursor' in meta) return 'CursorMeta'
  return 'truncated' in meta ? 'SpanMeta' : 'ListMeta'
}

function inline(schema: Json, name: string, context: Context): Json {
  if (schema['anyOf']) return union(schema, name, context)
  if (schema['enum']) return enumeration(schema, context)
  if (schema['items']) {
    return { ...schema, items: context.refer(schema['items'] as Json, `${name}Item`) }
  }
  if (schema['allOf']) {
    const parts = schema['allOf'] as Json[]
    return { ...schema, allOf: parts.map((one, at) => context.refer(one, `${name}Part${at + 1}`)) }
  }
  const patterns = schema['patternProperties'] as Record<string, Json> | undefined
  if (!patterns) return { ...schema }
  const { patternProperties: _patterns, ...own } = schema
  const [values = {}] = Object.values(patterns)
  return { ...own, additionalProperties: context.refer(values, `${name}Value`) }
}

/** `null` becomes a second type; a union of constants becomes an enumeration. */
function union(schema: Json, name: string, context: Context): Json {
  const { anyOf, ...own } = schema
  const branches = (anyOf as Json[]).filter(({ type }) => type !== 'null')
  const is_nullable = branches.length < (anyOf as Json[]).length
  const constants = branches.map((branch) => branch['const'])
  const written = branches.map((branch, at) =>
    context.refer(branch, branches.length === 1 ? name : `${name}${at + 1}`),
  )
  const [only] = constants.includes(undefined)
    ? written
    : [enumeration({ enum: constants }, context)]
  const is_one = written.length === 1 || !constants.includes(undefined)
  if (!is_one || only!['type'] === undefined) {
    return { anyOf: [...written, ...(is_nullable ? [{ type: 'null' }] : [])], ...own }
  }
  const { type, enum: values, ...rest } = only!
  return {
    ...(is_nullable ? { type: [type, 'null'].flat() } : { type }),
    ...(values ? { enum: [...(values as unknown[]), ...(is_nullable ? [null] : [])] } : {}),
    ...rest,
    ...own,
  }
}

function enumeration({ enum: values, ...own }: Json, { part }: Context): Json {
  const types = [...new Set((values as unknown[]).map((value) => typeof value))]
  return {
    type: types.length === 1 ? types[0] : types,
    enum: values,
    ...own,
    ...(part === 'answer' && { 'x-open-enum': true }),
  }
}

function withUnit(schema: Json, field: string): Json {
  const unit = isNumeric(schema) || isNumeric(schema['items'] as Json) ? unitOf(field) : null
  return unit === null ? schema : { ...schema, 'x-unit': unit }
}

export const typesOf = (schema: Json | undefined) => [schema?.['type'] ?? []].flat() as string[]

function isNumeric(schema: Json | undefined): boolean {
  return typesOf(schema).some((type) => type === 'number' || type === 'integer')
}

/** The component that a schema, nullable or not, refers to; otherwise the schema itself. */
function resolve(schema: Json, components: ReadonlyMap<string, Json>): Json {
  const [only, ...more] = ((schema['anyOf'] as Json[]) ?? []).filter((one) => one['$ref'])
  const reference = schema['$ref'] ?? (more.length === 0 ? only?.['$ref'] : undefined)
  if (reference === undefined) return schema
  return components.get(String(reference).replace('#/components/schemas/', '')) ?? {}
}

function illustrate(schema: Json, example: unknown, components: ReadonlyMap<string, Json>): void {
  const { properties, items } = resolve(schema, components)
  if (Array.isArray(example)) {
    for (const one of example) if (items) illustrate(items as Json, one, components)
  } else if (typeof example === 'object' && example !== null) {
    for (const [field, value] of Object.entries(example)) {
      const own = (properties as Record<string, Json> | undefined)?.[field]
      if (own) illustrate(own, value, components)
    }
  } else if (schema['type'] !== undefined && isOnlyNull(schema)) {
    schema['examples'] = [example]
  }
}

/** Enumerations without an example, or with null only, get their first value as example. */
function nameFirstValues(properties: Json): void {
  for (const schema of Object.values(properties) as Json[]) {
    const [first] = (schema['enum'] as unknown[]) ?? []
    if (first !== undefined && isOnlyNull(schema)) schema['examples'] = [first]
  }
}

const isOnlyNull = ({ examples }: Json) => ((examples as unknown[])?.[0] ?? null) === null

export const pascal = (name: string) =>
  name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
