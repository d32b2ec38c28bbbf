/** One request over HTTP and its whole answer, as it came. */
import { Agent, request } from 'node:http'
import type { DrawnRequest } from '../conventions/drawn-requests.ts'

export interface Answered {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  elapsed_ms: number
}

export interface Exchanges {
  /** Rejects where the connection breaks before the answer is whole. */
  ask(sent: DrawnRequest): Promise<Answered>
  close(): void
}

const answer_ms_max = 120_000

export function exchanges(url: string, sockets: number): Exchanges {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })

  function askOnce({ method, url: path, headers, payload }: DrawnRequest, fresh: boolean) {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>()
    const began = performance.now()
    const sent = request(
      {
        host: hostname,
        port,
        method,
        path,
        agent: fresh ? false : agent,
        headers: {
          ...headers,
          ...(payload !== undefined && { 'content-length': Buffer.byteLength(payload) }),
        },
        signal: AbortSignal.timeout(answer_ms_max),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks),
            elapsed_ms: performance.now() - began,
          }),
        )
      },
    )
    sent.on('error', (error) => {
      // The server may have closed a connection that was idle in the moment it was used again.
      if (sent.reusedSocket && /ECONNRESET|EPIPE/.test((error as NodeJS.ErrnoException).code ?? ''))
        askOnce(
          { method, url: path, headers, ...(payload !== undefined && { payload }) },
          true,
        ).then(resolve, reject)
      else reject(error)
    })
    sent.end(payload)
    return promise
  }

  return { ask: (sent) => askOnce(sent, false), close: () => agent.destroy() }
}
