/** JSON answers of weather services. */
import { boundedGet } from '../../markets/sources/http-get.ts'
import { SourceFault } from '../../markets/sources/source.ts'

interface Answer {
  status: number
  headers: Headers
  /** null without a body, as with 304. */
  body: unknown
}

const limits = { timeout_ms: 30_000, bytes_max: 8 * 2 ** 20 }

/** @throws {SourceFault} */
export async function askJson(
  url: URL,
  { headers = {}, signal }: { headers?: Record<string, string>; signal: AbortSignal },
): Promise<Answer> {
  const accepted = { accept: 'application/json', ...headers }
  const answer = await boundedGet(url, accepted, { ...limits, signal })
  return { status: answer.status, headers: answer.headers, body: parsed(url, answer) }
}

function parsed(
  { host }: URL,
  { status, headers, text }: { status: number; headers: Headers; text: string },
): unknown {
  if (text === '' && status !== 200) return null
  try {
    return JSON.parse(text)
  } catch {
    const type = headers.get('content-type')?.split(';')[0] ?? 'an unknown type'
    const what = text === '' ? 'nothing' : `${type} that is no JSON`
    throw new SourceFault(`${host}: answered ${status} with ${what}`)
  }
}
