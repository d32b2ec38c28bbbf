/** Adds caching headers, validators and compression to an answer. */
import { chooseEncoding, compress, compress_bytes_min } from './compression.ts'
import type { Endpoint } from './endpoint.ts'
import { etagFor, etagOf, matches } from './etag.ts'
import { type Answer, bytesOf } from './execute.ts'

/** The parts of a request that decide how its answer is written. */
interface Asked {
  accept_encoding: string | undefined
  if_none_match: string | undefined
  is_read: boolean
}

interface Rendered {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

export type Cache = NonNullable<Endpoint<never>['cache']> | 'immutable'

const cacheControl: Record<Cache, string> = {
  live: 'no-store',
  resource: 'private, no-cache',
  static: 'private, max-age=300',
  immutable: 'public, max-age=31536000, immutable',
}

/** Asynchronous only when the answer is compressed. */
export function render(
  answer: Answer,
  { cache, content_type, asked }: { cache: Cache; content_type: string; asked: Asked },
): Rendered | Promise<Rendered> {
  const { status, text } = answer
  const headers: Record<string, string> = { ...answer.headers, 'cache-control': 'no-store' }
  if (text === '') return { status, headers, body: '' }
  const good = status < 300
  // Files are not compressed, as most formats already are.
  const is_file = 'content-disposition' in headers
  const is_packed = !is_file && text.length >= compress_bytes_min
  const encoding = is_packed ? chooseEncoding(asked.accept_encoding) : null
  headers['content-type'] ??= content_type
  if (good) headers['cache-control'] = cacheControl[cache]
  headers['vary'] = 'Authorization, Cookie, Accept-Encoding'
  if (good && cache !== 'live') {
    const etag = headers['etag'] ?? etagOf(text)
    headers['etag'] = etagFor(etag, encoding)
    if (asked.is_read && asked.if_none_match && matches(asked.if_none_match, etag)) {
      delete headers['content-type']
      delete headers['content-disposition']
      return { status: 304, headers, body: '' }
    }
  }
  if (encoding === null) return { status, headers, body: text }
  const compressed = answer.compressed?.(encoding) ?? compress(bytesOf(text), encoding)
  return compressed.then((body) => {
    headers['content-encoding'] = encoding
    return { status, headers, body }
  })
}
