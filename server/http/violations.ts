/** Maps validator errors to violations: one per field, with a stable code. */
import type { ErrorObject } from 'ajv'
import type { Violation } from './errors.ts'
import { id_max } from './params.ts'
import { messageOfForm } from './text-forms.ts'

const codes: Record<string, string> = {
  type: 'invalid_type',
  required: 'required',
  additionalProperties: 'unknown_field',
  unevaluatedProperties: 'unknown_field',
  enum: 'not_allowed_value',
  const: 'not_allowed_value',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  exclusiveMinimum: 'out_of_range',
  exclusiveMaximum: 'out_of_range',
  multipleOf: 'out_of_range',
  minLength: 'too_short',
  maxLength: 'too_long',
  minItems: 'too_short',
  maxItems: 'too_long',
  minProperties: 'too_short',
  maxProperties: 'too_long',
  uniqueItems: 'repeated_value',
  pattern: 'invalid_format',
}

const messages: Record<string, string> = {
  required: 'is required',
  unknown_field: 'is not a field of this request',
  naive_timestamp: 'needs an offset, such as Z or +02:00 (%2B02:00 in a URL)',
  invalid_timestamp: 'must be a valid RFC 3339 timestamp, such as 2026-06-01T10:00:00Z',
  invalid_date: 'must be a valid date as YYYY-MM-DD',
  out_of_range_time: 'must be in the years 1970 to 2999',
}

export function describe(
  location: Violation['location'],
  errors: readonly ErrorObject[],
): Violation[] {
  const byField = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    const field = fieldOf(location, error)
    byField.set(field, [...(byField.get(field) ?? []), error])
  }
  return [...byField].map(([field, found]) => ({ location, field, ...reason(found) }))
}

function fieldOf(location: Violation['location'], { instancePath, params }: ErrorObject): string {
  const name = params['missingProperty'] ?? params['additionalProperty']
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  // A single value of a repeatable parameter has been coerced to a list.
  if (location === 'query') return path[0] ?? String(name)
  return [...path, ...(name === undefined ? [] : [String(name)])].join('.')
}

/** All branches of a union fail together; picks the most specific error. */
function reason(found: readonly ErrorObject[]): Pick<Violation, 'code' | 'message'> {
  const allowed = found.flatMap(({ keyword, params }) =>
    keyword === 'enum'
      ? (params['allowedValues'] as unknown[])
      : keyword === 'const'
        ? [params['allowedValue']]
        : [],
  )
  if (allowed.length > 0) {
    const values = [...new Set(allowed)].map((value) => JSON.stringify(value)).join(', ')
    return { code: 'not_allowed_value', message: `must be ${boundOf(found)}one of ${values}` }
  }
  const telling = found.find((error) => !isUnion(error) && !isNullBranch(error)) ?? found[0]!
  const { keyword, params, message = 'is not valid' } = telling
  if (keyword === 'format') {
    const fault = String(params['fault'])
    if (fault === 'id_out_of_range') {
      return { code: 'out_of_range', message: `must not contain an id above ${id_max}` }
    }
    const known = fault === 'out_of_range' ? messages['out_of_range_time'] : messages[fault]
    return { code: fault, message: known ?? message }
  }
  const code = codes[keyword] ?? 'invalid_value'
  return { code, message: messages[code] ?? messageOfForm(params['pattern']) ?? message }
}

/** The bound of the numbers in a union of numbers and other values. */
function boundOf(found: readonly ErrorObject[]): string {
  const bound = found.find(({ keyword }) => keyword === 'maximum' || keyword === 'minimum')
  if (bound === undefined) return ''
  return `${bound.keyword === 'maximum' ? 'at most' : 'at least'} ${bound.params['limit']}, or `
}

const isUnion = ({ keyword }: ErrorObject) => keyword === 'anyOf' || keyword === 'oneOf'
const isNullBranch = ({ keyword, params }: ErrorObject) =>
  keyword === 'type' && params['type'] === 'null'
