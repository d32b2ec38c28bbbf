import { type Get, SourceFault } from './source.ts'

const usual = { timeout_ms: 30_000, bytes_max: 16_000_000 }

/**
 * GET with a time and size limit. Redirects are not followed: they could send the token in the URL
 * to another host. Error messages name the host, never the URL.
 */
export async function boundedGet(
  url: URL,
  headers: Record<string, string>,
  { signal, timeout_ms, bytes_max }: typeof usual & { signal: AbortSignal },
) {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)])
  try {
    const response = await fetch(url, { redirect: 'manual', signal: bounded, headers })
    const text = await boundedText(response, url, bytes_max)
    return { status: response.status, headers: response.headers, text }
  } catch (error) {
    // Shutdown, not a failure of the source.
    if (signal.aborted) throw signal.reason
    if (error instanceof SourceFault) throw error
    const why = bounded.aborted ? `no answer within ${timeout_ms / 1000} s` : causeOf(error)
    throw new SourceFault(`${url.host}: ${why}`)
  }
}

export function createGet(limits = usual): Get {
  return async (url, signal) => {
    const headers = { 'user-agent': 'heliograph' }
    const { status, text } = await boundedGet(url, headers, { ...limits, signal })
    return { status, text }
  }
}

async function boundedText(response: Response, url: URL, bytes_max: number): Promise<string> {
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
