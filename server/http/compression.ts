/**
 * Answers are compressed whole, at level 1 and off the main thread: far cheaper than streams, which
 * only exports are.
 */
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'

/** Below this the saving is less than the cost. */
export const compress_bytes_min = 1024

export type Encoding = 'br' | 'gzip'

const brotli = promisify(brotliCompress)
const gz = promisify(gzip)

/** br before gzip where the client likes both alike; null for neither. RFC 9110 §12.5.3. */
export function chooseEncoding(header: string | undefined): Encoding | null {
  if (header === undefined || header === '' || header === 'identity') return null
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const weight = (name: Encoding) =>
    weights.get(name) ??
    (name === 'gzip' ? weights.get('x-gzip') : undefined) ??
    weights.get('*') ??
    0
  const [br, gzip_] = [weight('br'), weight('gzip')]
  if (br === 0 && gzip_ === 0) return null
  return br >= gzip_ ? 'br' : 'gzip'
}

export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gz(body, { level: 1 })
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 1,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  }
  return brotli(body, { params })
}

/** For what is compressed once and sent often: small counts, time does not. */
export function compressOnce(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gz(body, { level: 9 })
  return brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
}

/** For bodies that are never held whole. */
export function compressor(encoding: Encoding): Transform {
  if (encoding === 'gzip') return createGzip({ level: 1 })
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
}
