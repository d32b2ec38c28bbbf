/**
 * Read-modify-write: a body may be the object as GET gave it, with changes. Its read-only fields
 * are ignored while they are as GET would give them, and refused by name where they differ.
 */
import { isDeepStrictEqual } from 'node:util'
import { ApiError } from './errors.ts'
import type { Fields } from './validate.ts'

export const read_modify_write_sentence =
  'The body may be the whole object as it was read, with changes: its read-only fields are ' +
  'ignored. Rejected with 422 `read_only_field`, which names the field, when one of them differs ' +
  'from what is stored.'

/** Throws 422 with each read-only field of the body that differs from the object. */
export function requireUnchanged(read_only: Fields, current: object): void {
  const stored = asSent(current)
  const errors = Object.keys(read_only)
    .filter((field) => !isSame(field, read_only[field], stored[field]))
    .map((field) => ({
      location: 'body',
      field,
      code: 'read_only_field',
      message: 'is read-only and differs from what is stored',
    }))
  if (errors.length > 0) throw new ApiError('validation_error', { errors })
}

/**
 * What a body changes of the object: where it has read-only fields it is the whole object, of which
 * only the fields that differ are asked for.
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

/** Instants are the same by what they name. */
function isSame(field: string, sent: unknown, stored: unknown): boolean {
  const are_instants = [sent, stored].every((value) => typeof value === 'string')
  return field.endsWith('_at') && are_instants
    ? Date.parse(String(sent)) === Date.parse(String(stored))
    : isDeepStrictEqual(sent, stored)
}
