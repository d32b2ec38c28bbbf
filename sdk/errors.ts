import type { ErrorContent } from './generated/types.gen.ts'

/** What a program branches on. The server may have codes that are newer than this SDK. */
export type ErrorCode =
  | ErrorContent['code']
  /** No whole answer came; `cause` says why. */
  | 'network_error'
  /** An answer that the API does not give, such as the page of a proxy. */
  | 'unexpected_answer'
  /** 304: the copy that `If-None-Match` names is still the present one. */
  | 'not_modified'
  | (string & {})

/** One thing that is wrong with a request. */
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
  /** Of the answer; null without one. */
  status: number | null
  request_id: string | null
  details: Record<string, unknown> | null
  /** How long the server wants to be left alone. */
  retry_after_s: number | null
}

/** Every failure of a call, but for an abort and for what is wrong before anything is sent. */
export class HeliographError extends Error implements ErrorFields {
  override readonly name = 'HeliographError'
  readonly code: ErrorCode
  readonly status: number | null
  /** What support asks for. */
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

  /** All that is wrong with the request, field by field; empty unless `validation_error`. */
  get violations(): Violation[] {
    return violationsOf(this.details)
  }
}

/** Whether a call failed with this code. */
export function isCode<Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is HeliographError & { readonly code: Code } {
  return error instanceof HeliographError && error.code === code
}

const untold = { status: null, request_id: null, details: null, retry_after_s: null }

export const noAnswer = (where: string, cause: unknown) =>
  new HeliographError(
    { ...untold, code: 'network_error', message: `${where}: no answer: ${reasonOf(cause)}` },
    cause,
  )

export const unexpected = (message: string) =>
  new HeliographError({ ...untold, code: 'unexpected_answer', message })

/** The error that an answer tells of, or is, by its status and text. */
export function errorOf(where: string, answer: Response, text: string, now_ms: number) {
  const told = toldBy(text)
  const { status, headers } = answer
  const is_current = status === 304
  const type = headers.get('content-type') ?? 'no type'
  const reason = is_current ? 'not modified' : `with ${type} is no answer of the API`
  return new HeliographError({
    code: told?.code ?? (is_current ? 'not_modified' : 'unexpected_answer'),
    message: told?.message ?? `${where}: ${status} ${reason}`,
    status,
    request_id: told?.request_id ?? headers.get('x-request-id'),
    details: told?.details ?? null,
    retry_after_s: retryAfter(headers, now_ms),
  })
}

function toldBy(text: string) {
  const { error } = (parsed(text) ?? {}) as { error?: Partial<ErrorContent> }
  if (typeof error?.code !== 'string') return null
  const { code, request_id = null, details = null } = error
  const wrong = violationsOf(details).map(({ field, message }) => `${field || 'body'} ${message}`)
  return { code, message: [error.message ?? code, ...wrong].join(' · '), request_id, details }
}

const violationsOf = (details: Record<string, unknown> | null): Violation[] =>
  Array.isArray(details?.['errors']) ? details['errors'] : []

/** The value of a JSON text; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds, or a date, which counts from the clock of the server where it is told. */
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
