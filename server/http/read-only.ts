/**
 * Read-modify-write: a body may be the object as returned by GET, with changes. Read-only fields
 * are ignored when they equal the stored object, and rejected by name when they differ.
 */
import { isDeepStrictEqual } from 'node:util'
import { invalid, violation } from './errors.ts'
import type { Fields } from './validate.ts'

export const read_modify_write_sentence =
  'The body may be the whole object as returned by GET, with changes; read-only fields are ' +
  'ignored. Rejected with 422 `read_only_field` when a read-only field differs from the stored one.'

/** Throws 422 with each read-only field of the body that differs from the object. */
export function requireUnchanged(read_only: Fields, current: object): void {
  const stored = asSent(current)
  const errors = Object.keys(read_only)
    .filter((field) => !isSame(field, read_only[field], stored[field]))
    .map((field) =>
      violation(field, 'read_only_field', 'is read-only and differs from the stored value'),
    )
  if (errors.length > 0) throw invalid(...errors)
}

/**
 * The requested changes. A body with read-only fields is a whole object, of which only the fields
 * that differ count as changes.
 */
export function askedChange<Body extends object>(
  body: Body,
  read_only: Fields,
  current: object,
): Body {
  if (Object.keys(read_only).length === 0) return body
  const stored = asSent(current)
  const asked = Object.entries(body).filter(([field, value]) => {
    return !isSame(field, value, stored[field])
  })
  return Object.fromEntries(asked) as Body
}

const asSent = (current: object): Fields => JSON.parse(JSON.stringify(current))

/** Timestamps are compared as instants. */
function isSame(field: string, sent: unknown, stored: unknown): boolean {
  const are_instants = [sent, stored].every((value) => typeof value === 'string')
  return field.endsWith('_at') && are_instants
    ? Date.parse(String(sent)) === Date.parse(String(stored))
    : isDeepStrictEqual(sent, stored)
}
