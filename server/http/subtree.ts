/** A subtree of addresses that another library answers, by the Request and Response of the web. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import type { Subtree } from './serve-options.ts'

/** Told by us alone: a client that sends them is not believed. */
export const address_header = 'x-heliograph-address'
export const request_id_header = 'x-request-id'

export function addSubtree(app: FastifyInstance, { path, operations, answer }: Subtree): void {
  app.route({
    method: ['GET', 'POST'],
    url: `${path}/*`,
    handler: async (request, reply) => {
      const asked = webRequest(request)
      const [below = ''] = request.url.slice(path.length).split('?')
      if (!asked || !operations.has(below)) throw new ApiError('not_found')
      const response = await answer(asked)
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

/** Null where its address is none: by a Host that is no host, or with what no row can hold. */
function webRequest(request: FastifyRequest): Request | null {
  const { method, protocol, headers, url, body } = request
  const address = URL.parse(`${protocol}://${request.host}${url}`)
  if (!address || address.pathname !== url.split('?')[0] || /%00/.test(url)) return null
  const told = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) told.append(name, each)
  }
  told.set(address_header, request.ip.slice(0, 64))
  told.set(request_id_header, request.id)
  return new Request(address, {
    method,
    headers: told,
    // As it was parsed: what no endpoint takes reaches no other library either.
    body: method === 'POST' ? JSON.stringify(body ?? {}) : null,
  })
}
