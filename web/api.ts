/** The API by the session of the browser, and the operations of the platform beside it. */
import { connect, HeliographError } from '@heliograph/sdk'

export const heliograph = connect()

/**
 * Calls an operation of the platform, `/platform/…`. Throws a `HeliographError` as the API does.
 * The sign-in has error codes of its own, such as `INVALID_EMAIL_OR_PASSWORD`.
 */
export async function askPlatform<Answer = unknown>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  idempotency_key?: string,
): Promise<Answer> {
  const headers = new Headers({ 'x-heliograph-session': '1', accept: 'application/json' })
  if (method !== 'GET') headers.set('content-type', 'application/json')
  if (idempotency_key !== undefined) headers.set('idempotency-key', idempotency_key)
  const response = await fetch(`/platform${path}`, {
    method,
    headers,
    credentials: 'same-origin',
    ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
  }).catch((cause) => {
    throw failure({ code: 'network_error', message: 'The server cannot be reached.' }, null, cause)
  })
  const answer = response.status === 204 ? null : await response.json().catch(() => null)
  if (response.ok) return answer as Answer
  throw failure(answer?.error ?? answer ?? {}, response)
}

function failure(
  error: { code?: string; message?: string; details?: Record<string, unknown> },
  response: Response | null,
  cause?: unknown,
) {
  return new HeliographError(
    {
      code: error.code ?? 'unexpected_answer',
      message: error.message ?? 'Unexpected answer of the server.',
      status: response?.status ?? null,
      request_id: response?.headers.get('x-request-id') ?? null,
      details: error.details ?? null,
      retry_after_s: Number(response?.headers.get('retry-after')) || null,
    },
    cause,
  )
}
