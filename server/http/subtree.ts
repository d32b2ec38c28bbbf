/** A subtree of addresses that another library answers, by the Request and Response of the web. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import { stranger_body_bytes_max } from './json-body.ts'
import { networkOf } from './rate-limit.ts'
import { readerSignal } from './reader.ts'
import type { Subtree } from './serve-options.ts'
import { visible } from './visible-text.ts'

/** Told by us alone: a client that sends them is not believed. */
export const address_header = 'x-heliograph-address'
export const request_id_header = 'x-request-id'

/** No other header reaches the library. */
const passed_headers = [
  'content-type',
  'cookie',
  'origin',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
]
/** Kept with a session, and shown to the person. */
const agent_characters_max = 256

/**
 * An answer takes up to ten statements of the database, and anybody may ask from any number of
 * addresses: without bounds they would take every connection of the pool. Addresses take turns.
 */
const strangers_max = {
  running: 4,
  running_per_client: 2,
  waiting: 40,
  waiting_per_client: 10,
  waiting_per_key: 10,
  held_bytes_per_client: Number.POSITIVE_INFINITY,
}

/** `admit` throws where the address that asks has asked too often. */
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
  const told = new Headers()
  for (const name of passed_headers) {
    const value = headers[name]
    if (typeof value === 'string') told.set(name, value)
  }
  const agent = headers['user-agent']
  if (agent) told.set('user-agent', visible(agent).slice(0, agent_characters_max))
  told.set(address_header, request.ip.slice(0, 64))
  told.set(request_id_header, request.id)
  return new Request(address, {
    method,
    headers: told,
    // As it was parsed: what no endpoint takes reaches no other library either.
    body: method === 'POST' ? JSON.stringify(body ?? {}) : null,
  })
}

/**
 * Throws 400 for a Host that is no host, as RFC 9112 §3.2 asks. `X-Forwarded-Host` and `-Proto` of
 * a trusted proxy count as they do for the framework.
 */
function originOf({ protocol, host }: FastifyRequest): string {
  const origin = `${protocol === 'https' ? 'https' : 'http'}://${host}`
  if (!URL.canParse(origin) || /[@/?#\\\s]/.test(host)) {
    throw new ApiError('malformed_request', null, { connection: 'close' })
  }
  return origin
}
