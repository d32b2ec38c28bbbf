/** The reason of a refusal as text, at a cost that the sender of the value cannot drive up. */
import { isUnstorableJson, Refused } from './refused.ts'

export interface Checker<Value> {
  Check(value: unknown): value is Value
  Errors(value: unknown): { instancePath: string; message: string }[]
}

type Path = readonly string[]

/** Longer lists are halved before the search for faults. */
const entries_max = 64
/** No schema has more fields; larger objects are not searched. */
const fields_max = 1000
const depth_max = 6

/**
 * The first fault of a refused value, such as `/frames/3/seq: must be integer`. Finding faults
 * costs a hundred times the check, so a long list is first halved by checks until the faulty part
 * is short.
 */
export function firstFault(checker: Checker<unknown>, value: unknown): string {
  let rest = value
  /** By path of a halved list: the number of entries left out before the rest. */
  const skipped = new Map<string, number>()
  for (;;) {
    const found = findLarge(rest)
    if (found === null) break
    const { path, large: list } = found
    if (!Array.isArray(list)) return `${pointer(path, skipped)}: has too many fields`
    const middle = list.length >> 1
    const halves = [list.slice(0, middle), list.slice(middle)].map((half) => put(rest, path, half))
    const wrong = halves.findIndex((half) => !checker.Check(half))
    if (wrong < 0) return `${pointer(path, skipped)}: ${list.length} entries are too many`
    rest = halves[wrong]
    const key = path.join('/')
    skipped.set(key, (skipped.get(key) ?? 0) + wrong * middle)
  }
  const [fault] = checker.Errors(rest)
  const path = fault?.instancePath.split('/').slice(1) ?? []
  return `${pointer(path, skipped)}: ${fault?.message ?? 'not valid'}`
}

/** @throws Refused for a payload that its schema does not allow */
export function checked<Value>(checker: Checker<Value>, payload: unknown): Value {
  if (checker.Check(payload)) return payload
  throw new Refused(`payload${firstFault(checker, payload)}`)
}

/** @throws Refused for a payload that `jsonb` refuses */
export function storableJson(payload: unknown): string {
  const json = JSON.stringify(payload)
  if (!isUnstorableJson(json)) return json
  throw new Refused('payload: text contains NUL or an unpaired surrogate')
}

/** The first oversized list or object, outermost first; null without one. */
function findLarge(value: unknown, path: Path = []): { path: Path; large: object } | null {
  if (typeof value !== 'object' || value === null || path.length > depth_max) return null
  const is_large = Array.isArray(value)
    ? value.length > entries_max
    : Object.keys(value).length > fields_max
  if (is_large) return { path, large: value }
  for (const [key, inner] of Object.entries(value)) {
    const found = findLarge(inner, [...path, key])
    if (found) return found
  }
  return null
}

/** A copy of the value with another list at the path. */
function put(value: unknown, [step, ...rest]: Path, list: readonly unknown[]): unknown {
  if (step === undefined) return list
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  const inner = (value as Record<string, unknown>)[step]
  Object.assign(copy, { [step]: put(inner, rest, list) })
  return copy
}

/** The path in the original value. */
function pointer(path: Path, skipped: ReadonlyMap<string, number>): string {
  const steps = path.map((step, index) => {
    const before = skipped.get(path.slice(0, index).join('/'))
    return before === undefined ? step : Number(step) + before
  })
  return steps.map((step) => `/${step}`).join('')
}
