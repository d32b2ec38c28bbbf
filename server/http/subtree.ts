/** A subtree of addresses that another library answers, by the Request and Response of the web. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Subtree } from './serve-options.ts'

/** Told by us alone: a client that sends it is not believed. */
export const address_header = 'x-heliograph-address'

export function addSubtree(app: FastifyInstance, { path, answer }: Subtree): void {
  app.route({
    method: ['GET', 'POST'],
    url: `${path}/*`,
    handler: async (request, reply) => {
      const response = await answer(webRequest(request))
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
  const { method, protocol, headers, url, body } = request
  const told = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) told.append(name, each)
  }
  told.set(address_header, request.ip.slice(0, 64))
  return new Request(`${protocol}://${request.host}${url}`, {
    method,
    headers: told,
    // As it was parsed: what no endpoint takes reaches no other library either.
    body: method === 'POST' ? JSON.stringify(body ?? {}) : null,
  })
}
