/**
 * Validates requests by the declaration of their endpoint: by its schemas, and by conventions that
 * schemas cannot express (unknown and repeated parameters, reversed windows, caps). All violations
 * are reported at once.
 */
import { Ajv } from 'ajv'
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js'
import formatsModule, { type FormatName } from 'ajv-formats'
import type { TSchema } from 'typebox'
import { anonymous } from './anonymous-schema.ts'
import { readCursor } from './cursor.ts'
import type { Endpoint } from './endpoint.ts'
import { ApiError, type Violation, violation } from './errors.ts'
import { oncePer, onFirstUse } from './on-first-use.ts'
import { id_max } from './params.ts'
import { parseDate, parseTimestamp } from './time-windows.ts'
import { describe } from './violations.ts'

export type Fields = Record<string, unknown>

export interface Input {
  params: Fields
  query: Fields
  body: unknown
  /** Size of the received body. */
  body_bytes: number
}

interface Valid {
  params: Fields
  /** Without the cursor, which is read into `after`. */
  query: Fields
  after: unknown
  /** Without the read-only fields of `object`. */
  body: unknown
  read_only: Fields
}

/**
 * Throws 422 with all violations. Returns the input with defaults, UTC timestamps and capped
 * limits; path and query are coerced to their types.
 */
export type Validate = (input: Input) => Valid

export type Declared = Pick<
  Endpoint<never>,
  'method' | 'params' | 'query' | 'cursor' | 'body' | 'object' | 'returns'
>

const violations_max = 100
/** Above this size only the first violation is reported: a long array may have a million. */
const all_errors_bytes_max = 64 * 1024

/** Compiled once, as tests start hundreds of servers in a process with the same endpoints. */
export const validators = oncePer((endpoints: readonly Declared[]) => {
  const keywords = [...new Set(endpoints.flatMap(extensionKeywords))]
  const options = { strict: true, strictTypes: false, useDefaults: true, allowUnionTypes: true }
  // Path and query are coerced from text; bodies are typed.
  const coercing = withTime(
    new Ajv({ ...options, coerceTypes: 'array', allErrors: true, keywords }),
  )
  const strict = withTime(new Ajv({ ...options, allErrors: true, keywords }))
  const strictFirst = withTime(new Ajv({ ...options, keywords }))

  return oncePer((endpoint: Declared): Validate => {
    const checkParams = compileFields(coercing, 'path', endpoint.params)
    const checkQuery = compileFields(coercing, 'query', endpoint.query)
    const placeAfter = compileCursor(strict, endpoint.cursor)
    const withoutReadOnly = readOnlySplit(endpoint)
    const checkBody = compileBody(endpoint.body, strict, strictFirst)
    const caps = Object.entries(endpoint.query ?? {}).flatMap(([name, schema]) => {
      const cap = (schema as { 'x-cap'?: number })['x-cap']
      return cap === undefined ? [] : [[name, cap] as const]
    })

    return (input) => {
      const violations: Violation[] = []
      const params = checkParams(input.params, violations)
      const { cursor, ...query } = checkQuery(input.query, violations)
      const after = placeAfter(cursor, violations)
      const { given, read_only } = withoutReadOnly(input.body)
      const body = checkBody(given, input.body_bytes, violations)
      if (violations.length === 0) refuseReversedWindow(query, violations)
      if (violations.length > 0) {
        throw new ApiError('validation_error', { errors: violations.slice(0, violations_max) })
      }
      for (const [name, cap] of caps) {
        if ((query[name] as number) > cap) query[name] = cap
      }
      return { params, query, after, body, read_only }
    }
  })
})

const whole = /^-?\d+$/
const decimal = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/

/** Checks path or query parameters: declared names only, given once, numbers in decimal. */
function compileFields(
  ajv: Ajv,
  location: 'path' | 'query',
  schemas: Readonly<Record<string, TSchema>> = {},
) {
  const declared = new Map(Object.entries(schemas).map(([name, schema]) => [name, typeOf(schema)]))
  const required = Object.keys(schemas).filter((name) => !('~optional' in schemas[name]!))
  const any_case = new Set(Object.keys(schemas).filter((name) => 'x-any-case' in schemas[name]!))
  const checker = onFirstUse(() =>
    ajv.compile(anonymous({ type: 'object', properties: schemas, required })),
  )
  const unknown_message =
    declared.size === 0
      ? 'is not a parameter of this endpoint; it has none'
      : `is not a parameter of this endpoint; those are ${[...declared.keys()].join(', ')}`

  return (given: Fields, violations: Violation[]): Fields => {
    const faults: Violation[] = []
    const fields: Fields = {}
    const fault = (field: string, code: string, message: string) =>
      faults.push(violation(field, code, message, location))
    for (const name in given) {
      const type = declared.get(name)
      const value = given[name]
      if (type === undefined) {
        // The path also contains site_id, which has been checked before.
        if (location === 'query') fault(name, 'unknown_parameter', unknown_message)
      } else if (Array.isArray(value) && type !== 'array') {
        fault(name, 'repeated_parameter', 'must be given only once')
      } else if (String(value).includes('\0')) {
        fault(name, 'invalid_character', 'must not contain the character U+0000')
      } else if (
        (type === 'integer' && !whole.test(String(value))) ||
        (type === 'number' && !decimal.test(String(value)))
      ) {
        fault(name, 'invalid_type', `must be ${type === 'integer' ? 'an integer' : 'a number'}`)
      } else fields[name] = any_case.has(name) ? String(value).toLowerCase() : value
    }
    const check = checker()
    if (!check(fields)) {
      const named = new Set(faults.map(({ field }) => field))
      faults.push(
        ...describe(location, check.errors ?? []).filter(({ field }) => !named.has(field)),
      )
    }
    violations.push(...faults)
    return fields
  }
}

/** Decodes the cursor; null without one. */
function compileCursor(ajv: Ajv, place: Endpoint<never>['cursor']) {
  if (!place) return () => null
  const checker = onFirstUse(() =>
    ajv.compile(
      anonymous({
        type: 'object',
        properties: place,
        required: Object.keys(place),
        additionalProperties: false,
      }),
    ),
  )
  return (cursor: unknown, violations: Violation[]): unknown => {
    if (typeof cursor !== 'string') return null
    const after = readCursor(cursor)
    if (checker()(after)) return after
    const message = 'must be the unchanged `meta.next_cursor` of the previous page'
    violations.push(violation('cursor', 'invalid_cursor', message, 'query'))
    return null
  }
}

const typeOf = (schema: TSchema) => String((schema as { type?: unknown }).type ?? '')

/** Separates the read-only fields of `object` from a body. */
function readOnlySplit({ object, body }: Declared) {
  const writable = (body as { properties?: object } | undefined)?.properties ?? {}
  const names = new Set(Object.keys(object?.properties ?? {}).filter((name) => !(name in writable)))
  return (given: unknown): { given: unknown; read_only: Fields } => {
    if (names.size === 0 || typeof given !== 'object' || given === null || Array.isArray(given)) {
      return { given, read_only: {} }
    }
    const fields = Object.entries(given)
    return {
      given: Object.fromEntries(fields.filter(([name]) => !names.has(name))),
      read_only: Object.fromEntries(fields.filter(([name]) => names.has(name))),
    }
  }
}

function compileBody(schema: TSchema | undefined, all: Ajv, first: Ajv) {
  if (schema === undefined) return refuseBody
  const withoutIgnored = ignoredFields(schema)
  const allChecker = onFirstUse(() => all.compile(anonymous(schema)))
  const firstChecker = onFirstUse(() => first.compile(anonymous(schema)))
  return (given: unknown, bytes: number, violations: Violation[]): unknown => {
    // A missing body counts as an empty object.
    const body = given === undefined ? {} : withoutIgnored(given)
    const check = bytes > all_errors_bytes_max ? firstChecker() : allChecker()
    if (!check(body)) violations.push(...describe('body', check.errors ?? []))
    else refuseReversed(body, violations)
    return body
  }
}

/** Removes fields that are ignored for the values of other fields. */
function ignoredFields(schema: TSchema) {
  const { properties = {} } = schema as { properties?: Record<string, object> }
  const conditions = Object.entries(properties).flatMap(([name, own]) =>
    'x-ignored-unless' in own
      ? [[name, Object.entries(own['x-ignored-unless'] as object)] as const]
      : [],
  )
  return (body: unknown): unknown => {
    const has_fields = typeof body === 'object' && body !== null && !Array.isArray(body)
    if (conditions.length === 0 || !has_fields) return body
    const fields = { ...body } as Fields
    for (const [name, others] of conditions) {
      if (others.some(([other, value]) => fields[other] !== value)) delete fields[name]
    }
    return fields
  }
}

/** A write without a body accepts an empty object, and rejects any field. */
function refuseBody(given: unknown, _bytes: number, violations: Violation[]): unknown {
  const empty = given === undefined || given === null
  const message = 'this endpoint takes no body'
  if (!empty && (typeof given !== 'object' || Array.isArray(given))) {
    violations.push(violation('', 'invalid_type', message))
  } else if (!empty) {
    const fields = Object.keys(given)
    violations.push(...fields.map((field) => violation(field, 'unknown_field', message)))
  }
  return undefined
}

function refuseReversed(body: unknown, violations: Violation[]): void {
  const { start_at, end_at } = (body ?? {}) as Fields
  if (typeof start_at !== 'string' || typeof end_at !== 'string' || end_at > start_at) return
  violations.push(notAfter('body', 'end_at', 'start_at'))
}

const notAfter = (location: 'query' | 'body', field: string, start: string) =>
  violation(field, 'end_not_after_start', `must be later than ${start}`, location)

/** Requires `end` to be later than `start`; days may be equal. */
function refuseReversedWindow(query: Fields, violations: Violation[]): void {
  const { start, end } = query
  if (typeof start !== 'string' || typeof end !== 'string') return
  const are_days = start.length === 'YYYY-MM-DD'.length
  if (are_days ? end < start : end <= start) violations.push(notAfter('query', 'end', 'start'))
}

/** The `x-…` keywords, which the validator must ignore. */
function extensionKeywords({ params, query, body, returns }: Declared): string[] {
  const found: string[] = []
  JSON.stringify([params, query, body, returns], (name, value) => {
    if (name.startsWith('x-')) found.push(name)
    return value
  })
  return found
}

/**
 * Replaces the `format` keyword of the validator: our rules for times report the kind of fault, and
 * convert timestamps to UTC.
 */
function withTime(ajv: Ajv): Ajv {
  ajv.removeKeyword('format')
  return ajv.addKeyword({
    keyword: 'format',
    type: 'string',
    schemaType: 'string',
    modifying: true,
    errors: 'full',
    compile: (format: string) => ownFormats[format] ?? other(format),
  })
}

type FormatCheck = DataValidateFunction & ((text: string, place?: DataValidationCxt) => boolean)

const checkTimestamp: FormatCheck = (text, place) => {
  const instant = parseTimestamp(text)
  if (typeof instant === 'string') return faulty(checkTimestamp, instant)
  if (place) place.parentData[place.parentDataProperty] = instant.toISOString()
  return true
}

const checkDate: FormatCheck = (text) => {
  const day = parseDate(text)
  return typeof day === 'string' ? faulty(checkDate, day) : true
}

/** Rejects ids above `id_max` in a well-formed list. */
const checkIds: FormatCheck = (text: string) =>
  text.split(',').every((id) => Number(id) <= id_max) || faulty(checkIds, 'id_out_of_range')

const ownFormats: Readonly<Record<string, FormatCheck>> = {
  'date-time': checkTimestamp,
  date: checkDate,
  ids: checkIds,
}

/** A format of ajv-formats (email, uuid, uri …). */
function other(name: string): FormatCheck {
  const definition = formatsModule.default.get(name as FormatName)
  const rule =
    typeof definition === 'object' && 'validate' in definition ? definition.validate : definition
  const check: FormatCheck = (text) => {
    const good =
      rule instanceof RegExp
        ? rule.test(text)
        : typeof rule === 'function'
          ? (rule as (text: string) => boolean)(text)
          : rule === true
    return good || faulty(check, 'invalid_format', `must be of the form ${name}`)
  }
  return check
}

function faulty(check: FormatCheck, fault: string, message = 'is not valid'): false {
  check.errors = [{ keyword: 'format', params: { fault }, message }]
  return false
}
