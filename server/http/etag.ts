import { hash } from 'node:crypto'
import { ApiError } from './errors.ts'

/** A strong validator of the bytes as they are before compression. */
export const etagOf = (body: string | Buffer) =>
  `"${hash('sha256', body, 'base64url').slice(0, 27)}"`

/** Compressed bytes are another representation, so their strong validator differs. */
export const etagFor = (etag: string, encoding: string | null) =>
  encoding === null ? etag : `${etag.slice(0, -1)}-${encoding}"`

/** Whether a list of validators names the representation, in whichever encoding. RFC 9110 §13.1. */
export function matches(header: string, etag: string): boolean {
  return header.split(',').some((entry) => {
    const candidate = entry.trim().replace(/^W\//, '')
    return candidate === '*' || candidate.replace(/-(br|gzip)"$/, '"') === etag
  })
}

/**
 * For writes on a resource that is served with an ETag: fails with 412 when `If-Match` was sent and
 * does not name what is stored now. `current` is exactly what GET would answer.
 */
export function requireMatch(if_match: string | null, current: unknown): void {
  if (if_match === null) return
  const etag = etagOf(JSON.stringify(current))
  const strong = if_match.split(',').filter((entry) => !entry.trim().startsWith('W/'))
  if (!matches(strong.join(','), etag)) {
    throw new ApiError('precondition_failed', { current_etag: etag }, { etag })
  }
}
