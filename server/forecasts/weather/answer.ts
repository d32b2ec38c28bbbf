/** JSON answers of weather services, with limits of time and size. */

/** A failure of a source. The message never contains the URL, which may hold a key. */
export class SourceError extends Error {}

interface Answer {
  status: number
  headers: Headers
  /** null without a body, as with 304. */
  body: unknown
}

const answer_ms_max = 30_000
const bytes_max = 8 * 2 ** 20

/** @throws {SourceError} */
export async function askJson(
  url: URL,
  { headers = {}, signal }: { headers?: Record<string, string>; signal: AbortSignal },
): Promise<Answer> {
  const by = url.host
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(answer_ms_max)])
    const asked = { accept: 'application/json', ...headers }
    const response = await fetch(url, { headers: asked, signal: within, redirect: 'error' })
    const text = await boundedText(response, by)
    return { status: response.status, headers: response.headers, body: parsed(text, response, by) }
  } catch (error) {
    if (error instanceof SourceError || signal.aborted) throw error
    throw new SourceError(`${by}: ${reasonOf(error)}`)
  }
}

async function boundedText(response: Response, by: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytes_max) throw new SourceError(`${by}: an answer of more than ${bytes_max} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parsed(text: string, { status, headers }: Response, by: string): unknown {
  if (text === '' && status !== 200) return null
  try {
    return JSON.parse(text)
  } catch {
    const type = headers.get('content-type')?.split(';')[0] ?? 'an unknown type'
    const what = text === '' ? 'nothing' : `${type} that is no JSON`
    throw new SourceError(`${by}: answered ${status} with ${what}`)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  if (error.name === 'TimeoutError') return `no answer within ${answer_ms_max / 1000} s`
  // Only the cause of a fetch error is informative.
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? `not reached (${code})` : 'not reached'
}
