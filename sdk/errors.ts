import type { ErrorContent } from './generated/types.gen.ts'

/** Error codes. A newer server may return codes that this SDK does not list. */
export type ErrorCode =
  | ErrorContent['code']
  /** No complete answer was received; see `cause`. */
  | 'network_error'
  /** The answer is not from the API, such as the page of a proxy. */
  | 'unexpected_answer'
  /** 304: the copy named by `If-None-Match` is current. */
  | 'not_modified'
  | (string & {})

/** A validation error of a request. */
export interface Violation {
  location: 'path' | 'query' | 'body' | 'header'
  /** Dotted path of the field; '' for the body as a whole. */
  field: string
  code: string
  message: string
}

interface ErrorFields {
  code: ErrorCode
  message: string
  /** HTTP status; null without an answer. */
  status: number | null
  request_id: string | null
  details: Record<string, unknown> | null
  /** Time to wait before a retry, from `Retry-After`. */
  retry_after_s: number | null
}

/** Error of a call. Aborts and invalid arguments throw other errors. */
export class HeliographError extends Error implements ErrorFields {
  override readonly name = 'HeliographError'
  readonly code: ErrorCode
  readonly status: number | null
  /** Id of the request, for support. */
  readonly request_id: string | null
  readonly details: Record<string, unknown> | null
  readonly retry_after_s: number | null

  constructor(fields: ErrorFields, cause?: unknown) {
    super(fields.message, cause === undefined ? undefined : { cause })
    this.code = fields.code
    this.status = fields.status
    this.request_id = fields.request_id
    this.details = fields.details
    this.retry_after_s = fields.retry_after_s
  }

  /** Validation errors by field; empty unless the code is `validation_error`. */
  get violations(): Violation[] {
    return violationsOf(this.details)
  }
}

/** Tells whether a call failed with this code. */
export function isCode<Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is HeliographError & { readonly code: Code } {
  return error instanceof HeliographError && error.code === code
}

const no_answer = { status: null, request_id: null, details: null, retry_after_s: null }

export const noAnswer = (where: string, cause: unknown) =>
  new HeliographError(
    { ...no_answer, code: 'network_error', message: `${where}: no answer: ${reasonOf(cause)}` },
    cause,
  )

export const unexpected = (message: string) =>
  new HeliographError({ ...no_answer, code: 'unexpected_answer', message })

/** Error of an answer, by its status and text. */
export function errorOf(where: string, answer: Response, text: string, now_ms: number) {
  const error = parsedError(text)
  const { status, headers } = answer
  const is_current = status === 304
  const type = headers.get('content-type') ?? 'no type'
  const reason = is_current ? 'not modified' : `with ${type} is no answer of the API`
  return new HeliographError({
    code: error?.code ?? (is_current ? 'not_modified' : 'unexpected_answer'),
    message: error?.message ?? `${where}: ${status} ${reason}`,
    status,
    request_id: error?.request_id ?? headers.get('x-request-id'),
    details: error?.details ?? null,
    retry_after_s: retryAfter(headers, now_ms),
  })
}

function parsedError(text: string) {
  const { error } = (parsed(text) ?? {}) as { error?: Partial<ErrorContent> }
  if (typeof error?.code !== 'string') return null
  const { code, request_id = null, details = null } = error
  const wrong = violationsOf(details).map(({ field, message }) => `${field || 'body'} ${message}`)
  return { code, message: [error.message ?? code, ...wrong].join(' · '), request_id, details }
}

const violationsOf = (details: Record<string, unknown> | null): Violation[] =>
  Array.isArray(details?.['errors']) ? details['errors'] : []

/** Parsed JSON; undefined for invalid JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds, or a date relative to the `Date` header, which is the clock of the server. */
function retryAfter(headers: Headers, now_ms: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text)
  const at_ms = Date.parse(text)
  if (Number.isNaN(at_ms)) return null
  const from_ms = Date.parse(headers.get('date') ?? '')
  return Math.max(0, Math.ceil((at_ms - (Number.isNaN(from_ms) ? now_ms : from_ms)) / 1000))
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message
}
