/** Lenient answer checks: repairs answers with values that break their schema. */
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { anonymous } from './anonymous-schema.ts'
import { ApiError } from './errors.ts'
import { onFirstUse } from './on-first-use.ts'

export interface AnswerFaults {
  /** Values replaced by null. */
  nulled: number
  /** Items omitted from a list. */
  omitted: number
  /** Answers replaced by a 503. */
  refused: number
  /** Dotted path of the first fault. */
  field: string
}

interface Repaired {
  value: unknown
  faults: AnswerFaults
}

interface Envelope {
  data: unknown[]
  meta: { count: number; omitted?: number }
}

/** The 503 reason for a value that can be neither nulled nor omitted. */
const unservable_reason = 'value_outside_schema'
const retry_after_s = 60

/**
 * Replaces faulty values by null where the schema allows it, then omits list items that still break
 * the schema. Throws 503 when neither helps.
 */
export function answerRepairer(ajv: Ajv, returns: TSchema): (answer: unknown) => Repaired {
  const whole = onFirstUse(() => ajv.compile(anonymous(returns)))
  const item_schema = itemOf(returns)
  const item = item_schema && onFirstUse(() => ajv.compile(anonymous(item_schema)))
  return (answer) => {
    const faults: AnswerFaults = { nulled: 0, omitted: 0, refused: 0, field: '' }
    const list = item && isEnvelope(answer) ? withoutBadItems(answer, item(), faults) : answer
    const { value, unrepairable } = withNulls(whole(), list, faults, '')
    if (unrepairable !== null) {
      const details = { reason: unservable_reason, field: unrepairable }
      throw new ApiError('service_unavailable', details, { 'retry-after': String(retry_after_s) })
    }
    return { value, faults }
  }
}

/** The fault behind a 503 of `answerRepairer`, or null for all other errors. */
export function refusedFault({ details }: ApiError): AnswerFaults | null {
  if (details?.['reason'] !== unservable_reason) return null
  return { nulled: 0, omitted: 0, refused: 1, field: String(details['field']) }
}

/** The schema of an item of `data` in an envelope with `meta`. */
function itemOf(returns: TSchema): TSchema | null {
  const { properties } = returns as { properties?: Record<string, { items?: TSchema }> }
  return (properties?.['meta'] && properties['data']?.items) ?? null
}

function isEnvelope(answer: unknown): answer is Envelope {
  const { data, meta } = (answer ?? {}) as Partial<Envelope>
  return Array.isArray(data) && typeof meta?.count === 'number'
}

/** `count` excludes omitted items too, for clients that page until they have `count` items. */
function withoutBadItems(
  { data, meta, ...others }: Envelope,
  isValid: ValidateFunction,
  faults: AnswerFaults,
): Envelope {
  const served = data.flatMap((item, position) => {
    const { value, unrepairable } = withNulls(isValid, item, faults, `data.${position}`)
    if (unrepairable === null) return [value]
    faults.omitted += 1
    faults.field ||= unrepairable
    return []
  })
  if (faults.omitted === 0) return { data: served, meta, ...others }
  const count = meta.count - faults.omitted
  return { data: served, meta: { ...meta, count, omitted: faults.omitted }, ...others }
}

/** `unrepairable` is the dotted path of a faulty value that must not be null. */
function withNulls(
  isValid: ValidateFunction,
  given: unknown,
  faults: AnswerFaults,
  place: string,
): { value: unknown; unrepairable: string | null } {
  if (isValid(given)) return { value: given, unrepairable: null }
  // The value may be cached by a store.
  const value = structuredClone(given)
  const paths = faultyPaths(isValid.errors ?? [])
  for (const path of paths) setNull(value, path)
  if (!isValid(value)) {
    const [path = []] = faultyPaths(isValid.errors ?? [])
    return { value, unrepairable: dotted(place, path) }
  }
  faults.nulled += paths.length
  faults.field ||= dotted(place, paths[0]!)
  return { value, unrepairable: null }
}

type Path = readonly string[]

/** The innermost faulty values; their parents fail because of them. */
function faultyPaths(errors: readonly ErrorObject[]): Path[] {
  const pointers = new Set(errors.map(pointerOf))
  const around = new Set([...pointers].flatMap(pointersAround))
  return [...pointers]
    .filter((pointer) => !around.has(pointer))
    .map((pointer) => pointer.split('/').slice(1).map(unescaped))
}

const pointerOf = ({ instancePath, params }: ErrorObject) =>
  typeof params['missingProperty'] === 'string'
    ? `${instancePath}/${escaped(params['missingProperty'])}`
    : instancePath

function pointersAround(pointer: string): string[] {
  const parts = pointer.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** RFC 6901 §3. */
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescaped = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

function setNull(value: unknown, path: Path): void {
  const last = path.at(-1)
  if (last === undefined) return
  const parent = path.slice(0, -1).reduce((at, name) => (at as Fields)[name], value)
  ;(parent as Fields)[last] = null
}

type Fields = Record<string, unknown>

const dotted = (place: string, path: Path) => [place, ...path].filter(Boolean).join('.')
