/**
 * A path that another library answers for API keys. It calls operations as the key of its request:
 * through the server's own routes, so that each call passes every check, limit and audit.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Method } from './endpoint.ts'
import { ApiError } from './errors.ts'
import { readerSignal } from './reader.ts'
import type { KeyedPath, OperationAnswer } from './serve-options.ts'
import { originOf } from './subtree.ts'

/** `admit` authenticates the key, and throws above its rate limit. */
export function addKeyedPath(
  app: FastifyInstance,
  { path, origin, answer }: KeyedPath,
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  app.route({
    method: 'POST',
    url: path,
    config: { operation_id: path.slice(1) } as object,
    onRequest: async (request, reply) => {
      // A page of another site must not use a key, also with the address of this server.
      const from = request.headers.origin
      if (from !== undefined && from !== origin) throw new ApiError('cross_site_request')
      await admit(request, reply)
    },
    handler: async (request, reply) => {
      const response = await answer(webRequest(request), request.body, {
        caller: request.admission!.principal.caller,
        origin: originOf(request),
        call: callerOf(app, request, readerSignal(reply.raw)),
      })
      const type = response.headers.get('content-type')
      if (type) reply.header('content-type', type)
      reply.code(response.status).header('cache-control', 'no-store')
      const bytes = Buffer.from(await response.arrayBuffer())
      return reply.send(bytes.length > 0 ? bytes : undefined)
    },
  })
}

function callerOf(app: FastifyInstance, { headers, id, ip }: FastifyRequest, signal: AbortSignal) {
  const { authorization } = headers
  return async (method: Method, url: string, body?: object): Promise<OperationAnswer> => {
    const { statusCode, payload } = await app.inject({
      method,
      url,
      headers: { authorization, 'x-request-id': id },
      remoteAddress: ip,
      signal,
      ...(body && { payload: body }),
    })
    return { status: statusCode, body: payload === '' ? null : JSON.parse(payload) }
  }
}

const passed_headers = /^(accept|content-type|mcp-.+)$/

function webRequest(request: FastifyRequest): Request {
  const headers = Object.entries(request.headers).filter(
    (header): header is [string, string] =>
      passed_headers.test(header[0]) && typeof header[1] === 'string',
  )
  return new Request(`${originOf(request)}${request.url}`, {
    method: 'POST',
    headers,
    // Written again from the parsed body, which has passed our checks.
    body: JSON.stringify(request.body ?? null),
  })
}
