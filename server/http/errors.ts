/**
 * Every code that a client can meet: its status, its message, and what the reader should do.
 * The reference page is built from this list; a code is added only if a client would act on it.
 */
export const errorCatalog = {
  malformed_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    action: 'Mend the client or the proxy between; the connection is closed.',
  },
  malformed_json: {
    status: 400,
    message: 'The body is not valid JSON.',
    action: 'Send one JSON value in UTF-8, nested at most 64 deep, no key of an object twice.',
  },
  missing_api_key: {
    status: 401,
    message: 'The request carries no API key.',
    action: 'Send `Authorization: Bearer <API key>`; a key is read from nowhere else.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not known, or not sent as `Authorization: Bearer <API key>`.',
    action: 'Check that the key was copied whole; do not retry with it.',
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
    action: 'Sign in again; a key is not taken here.',
  },
  cross_site_request: {
    status: 403,
    message: 'The request does not come from the pages of this server.',
    action: 'Send `X-Heliograph-Session: 1` from a page of the same origin; programs use a key.',
  },
  forbidden_role: {
    status: 403,
    message: 'This takes another role.',
    action: 'Ask an administrator of the client; `details.required_role` says which role it takes.',
  },
  forbidden_scope: {
    status: 403,
    message: 'The key lacks the scope that this endpoint needs.',
    action: 'Use a key with `details.required_scope`.',
  },
  forbidden_module: {
    status: 403,
    message: "The client's plan does not include this endpoint.",
    action: 'Add `details.module` to the plan.',
  },
  not_found: {
    status: 404,
    message: 'There is no such resource.',
    action: 'Check path and ids; a site outside the key is not found either.',
  },
  method_not_allowed: {
    status: 405,
    message: 'The path exists, the method does not.',
    action: 'Use a method of the `Allow` header.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    action: 'Send it again, whole.',
  },
  conflict_safe_mode: {
    status: 409,
    message: 'The site is in commissioning safe mode and accepts no writes.',
    action: 'Read on; write again when commissioning is complete.',
  },
  conflict_state: {
    status: 409,
    message: 'The resource is not in a state that allows this.',
    action: 'Read the resource; `details` holds its state and the states that allow it.',
  },
  idempotency_in_progress: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running.',
    action: 'Send the same request again after `Retry-After`.',
  },
  precondition_failed: {
    status: 412,
    message: 'The resource has changed since it was read.',
    action: 'Read it again and decide anew.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is too large.',
    action: 'Send less; the limit is 1 MiB unless the endpoint says otherwise.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The body is not declared as JSON.',
    action: 'Send `Content-Type: application/json`.',
  },
  validation_error: {
    status: 422,
    message: 'The request is not valid.',
    action: 'Mend every entry of `details.errors`; the same request fails again.',
  },
  idempotency_conflict: {
    status: 422,
    message: 'This Idempotency-Key was used for another request.',
    action: 'Use a new key for each logical operation.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests.',
    action: 'Wait for `Retry-After` seconds; slow down by the `RateLimit` header.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request line and headers are too large.',
    action: 'Shorten the address and the headers to less than 16 KiB.',
  },
  internal_error: {
    status: 500,
    message: 'The server failed.',
    action: 'Read the resource before a retry; report `request_id` if it persists.',
  },
  service_unavailable: {
    status: 503,
    message: 'The service is not available for the moment.',
    action: 'Try again after `Retry-After` seconds; `details.reason` says why, where it is known.',
  },
} as const

export type ErrorCode = keyof typeof errorCatalog

/** One violation. All of a request are reported together in `details.errors`. */
export interface Violation {
  location: 'path' | 'query' | 'body' | 'header'
  /** Dotted path of the field; '' for the body as a whole. */
  field: string
  code: string
  message: string
}

/** Thrown anywhere below an endpoint; becomes the error envelope. */
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

export const invalid = (...errors: Violation[]) => new ApiError('validation_error', { errors })

export const unavailable = (retry_after_s = 1) =>
  new ApiError('service_unavailable', null, { 'retry-after': String(retry_after_s) })

/** The error envelope as text. */
export function errorText(
  { code, message, details }: Pick<ApiError, 'code' | 'message' | 'details'>,
  request_id: string,
): string {
  return JSON.stringify({ error: { code, message, request_id, details } })
}

/**
 * What a failure means to the client: an ApiError as it is, the framework's own and the database's
 * by their codes, a lost or refused database as 503, all else as 500. In a write an overflow is of
 * the values that it sent, in a read of stored ones.
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
    return invalid({
      location: 'body',
      field: '',
      code: 'out_of_range',
      message: 'holds or leads to a number or an instant beyond what can be stored',
    })
  }
  const { reason, retry_after_s } = failure
  const headers = { 'retry-after': String(retry_after_s) }
  return new ApiError('service_unavailable', { reason }, headers)
}

/** A failure whose cause only the log can tell; a lost database is logged by its pool. */
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
 * what sockets and the driver's pool report when there is no server.
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
