/** Sends answers: JSON of the API, documents, and the page of the platform. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { compressOnce } from './compression.ts'
import { etagOf } from './etag.ts'
import { type Answer, bytesOf } from './execute.ts'
import { onFirstUse } from './on-first-use.ts'
import { type Cache, render } from './render.ts'
import type { Document } from './serve-options.ts'

const json = 'application/json; charset=utf-8'

export async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  cache: Cache = 'live',
  answer: Answer,
  content_type = json,
): Promise<FastifyReply> {
  const { method, headers } = request
  const rendering = render(answer, {
    cache,
    content_type,
    asked: {
      accept_encoding: headers['accept-encoding'] as string | undefined,
      if_none_match: headers['if-none-match'],
      is_read: method === 'GET' || method === 'HEAD',
    },
  })
  const rendered = rendering instanceof Promise ? await rendering : rendering
  reply.code(rendered.status).headers(rendered.headers)
  return reply.send(rendered.body === '' ? undefined : rendered.body)
}

export function sendDocument(request: FastifyRequest, reply: FastifyReply, document: Document) {
  const { content_type, text, headers = {}, cache = 'static', compressed } = document
  const answer = { status: 200, headers, text, ...(compressed && { compressed }) }
  return send(request, reply, cache, answer, content_type)
}

/** Caches a constant document: its ETag, and its compressed bytes from the first request on. */
export function cachedDocument(document: Document): Document {
  const bytes = bytesOf(document.text)
  const compressed = {
    br: onFirstUse(() => compressOnce(bytes, 'br')),
    gzip: onFirstUse(() => compressOnce(bytes, 'gzip')),
  }
  return {
    ...document,
    text: bytes,
    headers: { ...document.headers, etag: etagOf(bytes) },
    compressed: (encoding) => compressed[encoding](),
  }
}

/** True when a request is the navigation of a browser to a page of the platform. */
export function isForPage({ method, url, headers }: FastifyRequest): boolean {
  const [path = ''] = url.split('?')
  if (/^\/(v1|platform|docs|assets)(\/|$)|\.\w+$/.test(path)) return false
  return (method === 'GET' || method === 'HEAD') && /text\/html/.test(headers.accept ?? '')
}
