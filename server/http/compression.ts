/**
 * Compression of answers: at once and at level 1, on the threads of libuv. Streaming compression
 * costs more and is used for exports only.
 */
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'

/** Smaller bodies cost more to compress than compression saves. */
export const compress_bytes_min = 1024

export type Encoding = 'br' | 'gzip'

const brotli = promisify(brotliCompress)
const gz = promisify(gzip)

/** The weight (`q`) of each value of an `Accept` or `Accept-Encoding` header. RFC 9110 §12.4.2. */
export function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  return weights
}

/** Prefers br to gzip at equal weight; null when neither is accepted. RFC 9110 §12.5.3. */
export function chooseEncoding(header: string | undefined): Encoding | null {
  if (header === undefined || header === '' || header === 'identity') return null
  const weights = weightsOf(header)
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

/** For documents that are compressed once and sent often: size matters, time does not. */
export function compressOnce(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gz(body, { level: 9 })
  return brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
}

/** For streamed bodies. */
export function compressor(encoding: Encoding): Transform {
  if (encoding === 'gzip') return createGzip({ level: 1 })
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
}
