/** Serves a subtree of paths by another library, through web Request and Response. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import { stranger_body_bytes_max } from './json-body.ts'
import { networkOf } from './rate-limit.ts'
import { readerSignal } from './reader.ts'
import type { Subtree } from './serve-options.ts'
import { visible } from './visible-text.ts'

/** Set by the server; values sent by clients are dropped. */
export const address_header = 'x-heliograph-address'
export const request_id_header = 'x-request-id'

/** Other headers are not passed to the library. */
const passed_headers = [
  'content-type',
  'cookie',
  'origin',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
]
/** The user agent is stored with a session and shown to the user. */
const agent_characters_max = 256

/**
 * A sign-in takes up to ten database statements, and anonymous callers may use many addresses:
 * these bounds keep connections of the pool free. Addresses take turns.
 */
const strangers_max = {
  running: 4,
  running_per_client: 2,
  waiting: 40,
  waiting_per_client: 10,
  waiting_per_key: 10,
  held_bytes_per_client: Number.POSITIVE_INFINITY,
}

/** `admit` throws above the rate limit of the address. */
export function addSubtree(
  app: FastifyInstance,
  { path, operations, answer }: Subtree,
  admit: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  const queue = new FairQueue(strangers_max)
  app.route({
    method: ['GET', 'POST'],
    url: `${path}/*`,
    bodyLimit: stranger_body_bytes_max,
    onRequest: async (request, reply) => admit(request, reply),
    handler: async (request, reply) => {
      const [below = ''] = request.url.slice(path.length).split('?')
      if (!operations.has(below) || /%00/.test(request.url)) throw new ApiError('not_found')
      const network = networkOf(request.ip)
      const asker = { client: network, key: network, signal: readerSignal(reply.raw) }
      const response = await queue.run(asker, async () => answer(webRequest(request)))
      for (const [name, value] of response.headers) {
        if (name !== 'set-cookie') reply.header(name, value)
      }
      const cookies = response.headers.getSetCookie()
      if (cookies.length > 0) reply.header('set-cookie', cookies)
      reply.code(response.status).header('cache-control', 'no-store')
      return reply.send(Buffer.from(await response.arrayBuffer()))
    },
  })
}

function webRequest(request: FastifyRequest): Request {
  const { method, headers, url, body } = request
  const address = URL.parse(`${originOf(request)}${url}`)
  if (!address) throw new ApiError('not_found')
  const passed = new Headers()
  for (const name of passed_headers) {
    const value = headers[name]
    if (typeof value === 'string') passed.set(name, value)
  }
  const agent = headers['user-agent']
  if (agent) passed.set('user-agent', visible(agent).slice(0, agent_characters_max))
  passed.set(address_header, request.ip.slice(0, 64))
  passed.set(request_id_header, request.id)
  return new Request(address, {
    method,
    headers: passed,
    // Written again from the parsed body, which has passed our checks.
    body: method === 'POST' ? JSON.stringify(body ?? {}) : null,
  })
}

/**
 * Throws 400 for an invalid Host (RFC 9112 §3.2). The framework has already applied
 * `X-Forwarded-Host` and `-Proto` of trusted proxies.
 */
export function originOf({ protocol, host }: FastifyRequest): string {
  const origin = `${protocol === 'https' ? 'https' : 'http'}://${host}`
  if (!URL.canParse(origin) || /[@/?#\\\s]/.test(host)) {
    throw new ApiError('malformed_request', null, { connection: 'close' })
  }
  return origin
}
