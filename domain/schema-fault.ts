/** Problems found by the schema, in words for the engineer who wrote the file. */

import type { TLocalizedValidationError } from 'typebox/error'
import type { SitePath, SiteProblem } from './site-check.ts'

interface Fault {
  keyword: string
  schemaPath: string
  instancePath: string
  params: Record<string, unknown>
  message: string
}

/** Lists and objects of a site without which the rest cannot be checked. */
const containers = [
  'locations',
  'panel_models',
  'connections',
  'loggers',
  'inverters',
  'string_groups',
  'instruments',
  'bms',
  'pcs',
]

/**
 * Reports each problem once, at the field to change. `whole` is false if a list or an object is
 * missing or has another type, so that checks that walk the site would fail.
 */
export function plainFaults(
  errors: readonly TLocalizedValidationError[],
  value: unknown,
): { faults: SiteProblem[]; whole: boolean } {
  const relevant = (errors as unknown as Fault[]).filter((fault) => isRelevant(fault, value))
  const faults = relevant.flatMap((fault) => inWords(fault, value))
  return { faults, whole: !relevant.some((fault) => breaksTheWhole(fault, value)) }
}

/**
 * A connection is checked against each protocol's form. Only the problems of its own protocol
 * count; without a valid protocol, only that problem.
 */
function isRelevant({ schemaPath, instancePath }: Fault, value: unknown): boolean {
  const form = /\/anyOf\/(\d)/.exec(schemaPath)?.[1]
  if (form === undefined) return true
  const connection = valueAt(value, pathOf(instancePath).slice(0, 2))
  const protocol = isObject(connection) ? connection['protocol'] : undefined
  if (protocol === 'modbus_rtu') return form === '1'
  if (protocol === 'modbus_tcp' || protocol === 'rtu_over_tcp') return form === '0'
  return false
}

function breaksTheWhole({ keyword, params, instancePath }: Fault, value: unknown): boolean {
  if (keyword === 'anyOf') return !isObject(valueAt(value, pathOf(instancePath)))
  if (keyword === 'type') return params['type'] === 'object' || params['type'] === 'array'
  const missing = keyword === 'required' ? (params['requiredProperties'] as string[]) : []
  return missing.some((name) => containers.includes(name))
}

function inWords({ keyword, instancePath, params, message }: Fault, value: unknown): SiteProblem[] {
  const path = pathOf(instancePath)
  const found = valueAt(value, path)
  const at = (words: string): SiteProblem[] => [{ path, message: words }]
  switch (keyword) {
    case 'boolean':
      return []
    case 'additionalProperties':
      return (params['additionalProperties'] as string[]).map((name) => ({
        path: [...path, name],
        message: 'there is no such field here',
      }))
    case 'required':
      return (params['requiredProperties'] as string[]).map((name) => ({
        path: [...path, name],
        message: 'is missing',
      }))
    case 'anyOf':
      return protocolFault(path, value)
    case 'type':
      return at(`must be ${typeNames[String(params['type'])]}, not ${shown(found)}`)
    case 'enum':
      return at(
        `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}, not ${shown(found)}`,
      )
    case 'minimum':
      return at(`must be at least ${params['limit']}, not ${shown(found)}`)
    case 'maximum':
      return at(`must be at most ${params['limit']}, not ${shown(found)}`)
    case 'exclusiveMinimum':
      return at(`must be above ${params['limit']}, not ${shown(found)}`)
    case 'exclusiveMaximum':
      return at(`must be below ${params['limit']}, not ${shown(found)}`)
    case 'minLength':
      return at('must not be empty')
    case 'maxLength':
      return at(`must have at most ${params['limit']} characters`)
    case 'minItems':
      return at('must have at least one entry')
    case 'format':
      return at(`must be a date such as 2024-05-31, not ${shown(found)}`)
    case 'pattern':
      return at(`${patternWords[String(path.at(-1))] ?? message}, not ${shown(found)}`)
    default:
      return at(message)
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a set of fields',
}

const patternWords: Readonly<Record<string, string>> = {
  site_id: 'must be 1 to 64 lower-case letters, digits, - or _, the first a letter or digit',
  country_code: 'must be two capital letters (ISO 3166-1), such as DE',
  currency: 'must be three capital letters (ISO 4217), such as EUR',
  node_id: 'must be 1 to 40 lower-case letters, digits, - or _, the first a letter or digit',
  channel: 'must be 1 to 40 lower-case letters, digits, - or _, the first a letter or digit',
  url: 'must be mqtt://host:port or mqtts://host:port, without user and password',
  prefix: 'must be letters, digits, - and _, in levels separated by /',
  driver: 'must be sunspec, the name of a profile, or ./ and the path of a profile',
}

function protocolFault(path: SitePath, value: unknown): SiteProblem[] {
  const connection = valueAt(value, path)
  if (!isObject(connection)) {
    return [{ path, message: `must be a set of fields, not ${shown(connection)}` }]
  }
  const protocol = connection['protocol']
  // The form of a known protocol was reported in single problems.
  if (['modbus_tcp', 'rtu_over_tcp', 'modbus_rtu'].includes(String(protocol))) return []
  const choice = 'must be one of modbus_tcp, rtu_over_tcp, modbus_rtu'
  const message = protocol === undefined ? 'is missing' : `${choice}, not ${shown(protocol)}`
  return [{ path: [...path, 'protocol'], message }]
}

function shown(value: unknown): string {
  if (typeof value === 'string') {
    return `'${value.length > 60 ? `${value.slice(0, 57)}...` : value}'`
  }
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'a set of fields'
  return value === null ? 'nothing' : String(value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A JSON pointer as the steps of a path. */
function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}

function valueAt(value: unknown, path: SitePath): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null
        ? (at as Record<string | number, unknown>)[step]
        : undefined,
    value,
  )
}
