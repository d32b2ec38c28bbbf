/**
 * All error codes with their status, message and the action for the client. The reference page
 * shows this list. A new code must call for an action of its own.
 */
export const errorCatalog = {
  malformed_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    action: 'Fix the client or the proxy. The connection is closed.',
  },
  malformed_json: {
    status: 400,
    message: 'The body is not valid JSON.',
    action: 'Send one JSON value in UTF-8, at most 64 levels deep, without duplicate keys.',
  },
  missing_api_key: {
    status: 401,
    message: 'The request carries no API key.',
    action: 'Send `Authorization: Bearer <API key>`. Keys are accepted in no other place.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is unknown, or not sent as `Authorization: Bearer <API key>`.',
    action: 'Check that the key was copied completely. Do not retry with the same key.',
  },
  expired_api_key: {
    status: 401,
    message: 'The API key has expired.',
    action: 'Ask the administrator for a new key.',
  },
  revoked_api_key: {
    status: 401,
    message: 'The API key was revoked.',
    action: 'Ask the administrator for a new key.',
  },
  not_signed_in: {
    status: 401,
    message: 'Nobody is signed in, or the session has ended.',
    action: 'Sign in again. API keys are not accepted here.',
  },
  cross_site_request: {
    status: 403,
    message: 'The request does not come from the pages of this server.',
    action:
      'Send `X-Heliograph-Session: 1` from a page of the same origin. Programs use an API key.',
  },
  forbidden_role: {
    status: 403,
    message: 'Your role does not allow this.',
    action: 'Ask an administrator of the client for the role in `details.required_role`.',
  },
  forbidden_scope: {
    status: 403,
    message: 'The key lacks the scope of this operation.',
    action: 'Use a key with the scope in `details.required_scope`.',
  },
  forbidden_module: {
    status: 403,
    message: 'The plan of the client does not include this operation.',
    action: 'Add the module in `details.module` to the plan.',
  },
  not_found: {
    status: 404,
    message: 'The resource does not exist.',
    action: 'Check the path and the ids. Sites that the key cannot access are not found either.',
  },
  method_not_allowed: {
    status: 405,
    message: 'The path does not support this method.',
    action: 'Use a method from the `Allow` header.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    action: 'Send the complete request again.',
  },
  conflict_safe_mode: {
    status: 409,
    message: 'The site is in commissioning safe mode and accepts no writes.',
    action: 'Retry when commissioning is complete. Reads are not affected.',
  },
  conflict_state: {
    status: 409,
    message: 'The state of the resource does not allow this.',
    action:
      'Read the resource. `details` contains its state and the states that allow the operation.',
  },
  idempotency_in_progress: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running.',
    action: 'Send the same request again after `Retry-After`.',
  },
  precondition_failed: {
    status: 412,
    message: 'The resource has changed since it was read.',
    action: 'Read the resource again and repeat the change on it.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is too large.',
    action: 'Send a smaller body. The limit is 1 MiB unless the operation documents another.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The content type is not JSON.',
    action: 'Send `Content-Type: application/json`.',
  },
  validation_error: {
    status: 422,
    message: 'The request is not valid.',
    action: 'Correct every entry of `details.errors`. The same request will fail again.',
  },
  idempotency_conflict: {
    status: 422,
    message: 'This Idempotency-Key was used for a different request.',
    action: 'Use a new Idempotency-Key for each write.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests.',
    action: 'Wait for the seconds in `Retry-After`. Pace requests by the `RateLimit` header.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request line and headers are too large.',
    action: 'Shorten the URL and the headers to less than 16 KiB.',
  },
  internal_error: {
    status: 500,
    message: 'The server failed.',
    action: 'Read the resource before you retry. Report `request_id` if the error persists.',
  },
  service_unavailable: {
    status: 503,
    message: 'The service is temporarily unavailable.',
    action: 'Retry after the seconds in `Retry-After`. `details.reason` is set when known.',
  },
} as const

export type ErrorCode = keyof typeof errorCatalog

/** One violation of a request; `details.errors` lists all of them. */
export interface Violation {
  location: 'path' | 'query' | 'body' | 'header'
  /** Dotted path of the field; '' for the body as a whole. */
  field: string
  code: string
  message: string
}

/** An error with a code of the catalogue, answered as the error envelope. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | null
  readonly headers: Readonly<Record<string, string>>
  constructor(
    code: ErrorCode,
    details: Record<string, unknown> | null = null,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(errorCatalog[code].message)
    this.name = 'ApiError'
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** The value that was looked up by an id. @throws ApiError not_found without one */
export function found<Of>(value: Of | null | undefined, id: Record<string, unknown>): Of {
  if (value === null || value === undefined) throw new ApiError('not_found', id)
  return value
}

export const invalid = (...errors: Violation[]) => new ApiError('validation_error', { errors })

export const violation = (
  field: string,
  code: string,
  message: string,
  location: Violation['location'] = 'body',
): Violation => ({ location, field, code, message })

export const unknownReference = (field: string, message: string) =>
  violation(field, 'unknown_reference', message)

export const badField = (...given: Parameters<typeof violation>) => invalid(violation(...given))

/** The 429 of a policy, with more `details` for a rate. */
export const rateLimited = (details: {
  policy: string
  limit: number
  retry_after_s: number
  window_s?: number
}) => new ApiError('rate_limited', details, { 'retry-after': String(details.retry_after_s) })

export const unavailable = (retry_after_s = 1) =>
  new ApiError('service_unavailable', null, { 'retry-after': String(retry_after_s) })

export function errorText(
  { code, message, details }: Pick<ApiError, 'code' | 'message' | 'details'>,
  request_id: string,
): string {
  return JSON.stringify({ error: { code, message, request_id, details } })
}

/**
 * Maps an exception to the error for the client: framework and database errors by their codes, a
 * lost database to 503, everything else to 500. A numeric overflow comes from the sent values in a
 * write (422) and from stored values in a read (503).
 */
export function toApiError(error: unknown, { is_write = false } = {}): ApiError {
  if (error instanceof ApiError) return error
  const code = codeOf(error)
  const known = frameworkCodes[code]
  if (known) return new ApiError(known)
  if (databaseIsGone(error)) return unavailable()
  const failure = databaseFailures[code]
  if (!failure) return new ApiError('internal_error')
  if (failure.reason === 'numeric_overflow' && is_write) {
    const message = 'contains or results in a number or timestamp outside the storable range'
    return badField('', 'out_of_range', message)
  }
  const { reason, retry_after_s } = failure
  const headers = { 'retry-after': String(retry_after_s) }
  return new ApiError('service_unavailable', { reason }, headers)
}

/** True when the cause must be logged. A lost database is already logged by its pool. */
export const isForOperator = (known: ApiError, cause: unknown): boolean =>
  known.code === 'internal_error' ||
  (known !== cause && known.code === 'service_unavailable' && known.details !== null)

/**
 * By SQLSTATE. https://www.postgresql.org/docs/current/errcodes-appendix.html
 * The transaction was rolled back: nothing was stored.
 */
const databaseFailures: Readonly<Record<string, { reason: string; retry_after_s: number }>> = {
  '22003': { reason: 'numeric_overflow', retry_after_s: 60 },
  '22008': { reason: 'numeric_overflow', retry_after_s: 60 },
  '40001': { reason: 'serialization_failure', retry_after_s: 1 },
  '40P01': { reason: 'serialization_failure', retry_after_s: 1 },
  '55P03': { reason: 'lock_timeout', retry_after_s: 1 },
  '57014': { reason: 'statement_timeout', retry_after_s: 10 },
}

const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
}

/**
 * SQLSTATE classes 08 (connection), 53 (resources, too many connections) and 57P (shutdown), and
 * the errors of sockets and of the driver's pool when the server is unreachable.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function databaseIsGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (/^(08...|53...|57P..|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT)$/.test(codeOf(error))) return true
  return lostConnections.some((message) => error.message.includes(message))
}

const lostConnections = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error',
  'not queryable',
]

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')
