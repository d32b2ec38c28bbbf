import { type Answer, type Get, SourceFault } from './source.ts'

const usual = { timeout_ms: 30_000, bytes_max: 16_000_000 }

/**
 * GET with a time and size limit. Redirects are not followed: they could send the token in the URL
 * to another host. Error messages name the host, never the URL.
 */
export function createGet({ timeout_ms, bytes_max } = usual): Get {
  return async (url, signal) => {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)])
    try {
      const response = await fetch(url, {
        redirect: 'manual',
        signal: bounded,
        headers: { 'user-agent': 'heliograph' },
      })
      return { status: response.status, text: await boundedText(response, url, bytes_max) }
    } catch (error) {
      // Shutdown, not a failure of the source.
      if (signal.aborted) throw signal.reason
      if (error instanceof SourceFault) throw error
      const why = bounded.aborted ? `no answer within ${timeout_ms / 1000} s` : causeOf(error)
      throw new SourceFault(`${url.host}: ${why}`)
    }
  }
}

async function boundedText(
  response: Response,
  url: URL,
  bytes_max: number,
): Promise<Answer['text']> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytes_max) throw new SourceFault(`${url.host}: response exceeds ${bytes_max} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** `fetch` reports only that it failed; `cause` has the system error. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  const inner = cause instanceof Error ? cause : error
  const { code, message } = inner as { code?: string; message?: string }
  return message || code || 'connection failed'
}
