/** Parses request bodies: JSON in UTF-8, without prototype keys, duplicates or unstorable text. */
import { ApiError, badField } from './errors.ts'

export const body_bytes_max = 1024 * 1024
/** Maximum body of requests without a key or a session. */
export const stranger_body_bytes_max = 8 * 1024
const depth_max = 64
const told_key_max = 100
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Throws 400 `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw new ApiError('malformed_json')
  }
  inspect(value, '', 0)
  refuseDuplicates(text)
  return value
}

/**
 * Rejects duplicate keys in an object, of which each reader may pick another (RFC 8259 §4): a plant
 * must not be limited to the wrong one. In valid JSON, a string before a colon is a key.
 */
function refuseDuplicates(text: string): void {
  const open: Set<string>[] = []
  for (const [token, string, colon] of text.matchAll(json_token)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (string && colon) {
      const key: string = string.includes('\\') ? JSON.parse(string) : string.slice(1, -1)
      const keys = open.at(-1)!
      const reason = `key ${string.slice(0, told_key_max)} twice`
      if (keys.has(key)) throw new ApiError('malformed_json', { reason })
      keys.add(key)
    }
  }
}

/** Braces, and strings with a colon that follows. */
const json_token = /[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g

/** Rejects keys `__proto__`, which an assignment would take for the prototype. */
function inspect(value: unknown, field: string, depth: number): void {
  if (depth > depth_max) throw new ApiError('malformed_json', { reason: 'nested too deeply' })
  if (typeof value === 'string') refuseUnstorable(value, field)
  else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      inspect(item, join(field, String(index)), depth + 1)
    })
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (name === '__proto__') throw new ApiError('malformed_json', { reason: 'key __proto__' })
      refuseUnstorable(name, field)
      inspect(item, join(field, name), depth + 1)
    }
  }
}

/** Rejects U+0000 and lone surrogates, which PostgreSQL cannot store. */
function refuseUnstorable(text: string, field: string): void {
  const message = text.includes('\0')
    ? 'must not contain the character U+0000'
    : 'must not contain half of a surrogate pair'
  if (!text.includes('\0') && text.isWellFormed()) return
  throw badField(field, 'invalid_character', message)
}

const join = (field: string, name: string) => (field === '' ? name : `${field}.${name}`)

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
