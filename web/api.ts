/** The API, by the session of who signed in; and the operations of the platform beside it. */
import { connect, HeliographError } from '@heliograph/sdk'

export const heliograph = connect()

export interface SessionUser {
  user_id: string
  name: string
  email: string
  role: Role
  two_factor_enabled: boolean
  client: string
  modules: string[]
  scopes: string[]
  mail_is_sent: boolean
}

export type Role = 'viewer' | 'operator' | 'administrator'

/**
 * An operation of the platform, `/platform/…`. Fails with a `HeliographError` as the API does;
 * refusals of the sign-in have codes of their own, such as `INVALID_EMAIL_OR_PASSWORD`.
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
  const told = answer?.error ?? answer ?? {}
  throw failure(told, response)
}

function failure(
  told: { code?: string; message?: string; details?: Record<string, unknown> },
  response: Response | null,
  cause?: unknown,
) {
  return new HeliographError(
    {
      code: told.code ?? 'unexpected_answer',
      message: told.message ?? 'The server gave an unexpected answer.',
      status: response?.status ?? null,
      request_id: response?.headers.get('x-request-id') ?? null,
      details: told.details ?? null,
      retry_after_s: Number(response?.headers.get('retry-after')) || null,
    },
    cause,
  )
}
