import { hash } from 'node:crypto'
import { ApiError } from './errors.ts'

/** A strong validator of the uncompressed bytes. */
export const etagOf = (body: string | Buffer) =>
  `"${hash('sha256', body, 'base64url').slice(0, 27)}"`

/** The validator of a compressed representation, which must differ from the uncompressed one. */
export const etagFor = (etag: string, encoding: string | null) =>
  encoding === null ? etag : `${etag.slice(0, -1)}-${encoding}"`

/** True when a list of validators contains this one, in any encoding. RFC 9110 §13.1. */
export function matches(header: string, etag: string): boolean {
  return header.split(',').some((entry) => {
    const candidate = entry.trim().replace(/^W\//, '')
    return candidate === '*' || candidate.replace(/-(br|gzip)"$/, '"') === etag
  })
}

/**
 * Fails with 412 when `If-Match` was sent and does not match the stored resource. `current` must
 * equal the answer of GET.
 */
export function requireMatch(if_match: string | null, current: unknown): void {
  if (if_match === null) return
  const etag = etagOf(JSON.stringify(current))
  const strong = if_match.split(',').filter((entry) => !entry.trim().startsWith('W/'))
  if (!matches(strong.join(','), etag)) {
    throw new ApiError('precondition_failed', { current_etag: etag }, { etag })
  }
}
