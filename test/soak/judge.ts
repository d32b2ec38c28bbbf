/** Judges answers by the API document. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { endpoints } from '@heliograph/server/endpoints'
import { answerWriters } from '@heliograph/server/http/answer'
import { type ErrorCode, errorCatalog } from '@heliograph/server/http/errors'
import { JsonText } from '@heliograph/server/http/json-text'
import { openApi } from '@heliograph/server/http/openapi'
import { pathOf } from '@heliograph/server/http/paths'
import type { AnyEndpoint } from '../conventions/calls.ts'
import type { Answered } from './exchange.ts'
import type { SoakRequest } from './requests.ts'

/** Longer answers are not parsed, so that the client keeps up with the server. */
const read_bytes_max = 512 * 1024

const document = openApi(endpoints)
const writerFor = answerWriters('strict')
const writers = new Map<AnyEndpoint, ReturnType<typeof writerFor>>()

/** Returns the fault of the answer in words, or null. */
export function faultOf(asked: SoakRequest, answered: Answered): string | null {
  const { status, headers } = answered
  if (headers['x-request-id'] === undefined) return 'no X-Request-Id'
  if (status >= 500 && status !== 503) return `status ${status}`
  const is_signing_in = asked.url.startsWith('/platform/auth/')
  if (status === 503 && headers['retry-after'] === undefined) return '503 without Retry-After'
  if (status === 503 && !isQueued(asked)) return '503 of an operation without a queue'
  if (answered.body.length > read_bytes_max || asked.method === 'HEAD') return null
  const text = plainText(answered)
  if (status >= 400) return is_signing_in ? null : errorFault(status, text)
  const { endpoint } = asked
  if (endpoint === null || status === 304) return null
  const described = document.paths[pathOf(endpoint)]?.[endpoint.method.toLowerCase()]
  if (described && !(status in described.responses)) return `status ${status} is not documented`
  if (!String(headers['content-type'] ?? '').startsWith('application/json')) return null
  let write = writers.get(endpoint)
  if (!write) {
    write = writerFor(endpoint, endpoint.operation_id)
    writers.set(endpoint, write)
  }
  try {
    write(new JsonText(text))
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** Long reads, exports, plans of batteries and sign-ins wait in queues, which may be full. */
function isQueued({ endpoint, operation, url }: SoakRequest): boolean {
  return (
    endpoint?.heavy === true ||
    endpoint?.exports !== undefined ||
    operation.startsWith('bess_optimize') ||
    url.startsWith('/platform/auth/') ||
    url.startsWith('/platform/invitations/accept')
  )
}

function errorFault(status: number, text: string): string | null {
  try {
    const { error } = JSON.parse(text)
    const known = errorCatalog[error.code as ErrorCode]
    if (known?.status !== status) return `${status} with the code ${error.code}`
    if (Object.keys(error).join() !== 'code,message,request_id,details') return 'a strange envelope'
    return null
  } catch {
    return `${status} without the envelope: ${text.slice(0, 200)}`
  }
}

function plainText({ body, headers }: Answered): string {
  const encoding = headers['content-encoding']
  if (body.length === 0) return ''
  if (encoding === 'br') return brotliDecompressSync(body).toString()
  if (encoding === 'gzip') return gunzipSync(body).toString()
  return body.toString()
}
