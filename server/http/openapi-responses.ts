/** Error answers, and the headers of all answers, as components of the document. */
import type { Endpoint } from './endpoint.ts'
import { type ErrorCode, errorCatalog } from './errors.ts'
import type { Json } from './openapi-schemas.ts'
import { isWrite } from './safe-mode.ts'

type Declared = Endpoint<never>

const isRead = ({ method }: Declared) => !isWrite(method)
const isWritten = ({ method }: Declared) => isWrite(method)
const isOfSite = ({ path }: Declared) => path !== '/v1/sites'
/** A stored file may be missing. */
const isStoredFile = ({ file_types, cache }: Declared) =>
  file_types !== undefined && cache === 'resource'
const isMatched = ({ if_match }: Declared) => if_match === true
const isAlways = () => true

interface ErrorAnswer {
  name: string
  codes: readonly ErrorCode[]
  /** True when an endpoint can return this answer. */
  when: (endpoint: Declared) => boolean
  headers?: readonly string[]
}

const rate = ['RateLimit', 'RateLimit-Policy'] as const
const replay = ['Idempotent-Replayed'] as const

/** One answer per status, or one each for reads and writes when their codes differ. */
const errorAnswers: readonly ErrorAnswer[] = [
  { name: 'BadRequest', codes: ['malformed_request'], when: isRead },
  {
    name: 'BadWriteRequest',
    codes: ['malformed_request', 'malformed_json'],
    when: isWritten,
    headers: rate,
  },
  {
    name: 'Unauthorized',
    codes: ['missing_api_key', 'invalid_api_key', 'expired_api_key', 'revoked_api_key'],
    when: isAlways,
    headers: ['WWW-Authenticate'],
  },
  {
    name: 'Forbidden',
    codes: ['forbidden_scope', 'forbidden_module'],
    when: ({ scope, module }) => scope !== null || module !== null,
    headers: [...rate, 'WWW-Authenticate'],
  },
  { name: 'NotFound', codes: ['not_found'], when: isOfSite, headers: rate },
  { name: 'RequestTimeout', codes: ['request_timeout'], when: isAlways },
  {
    name: 'Conflict',
    codes: ['conflict_safe_mode', 'conflict_state', 'idempotency_in_progress'],
    when: isWritten,
    headers: [...rate, 'Retry-After', ...replay],
  },
  { name: 'FileConflict', codes: ['conflict_state'], when: isStoredFile, headers: rate },
  {
    name: 'PreconditionFailed',
    codes: ['precondition_failed'],
    when: isMatched,
    headers: [...rate, 'ETag'],
  },
  { name: 'PayloadTooLarge', codes: ['payload_too_large'], when: isWritten, headers: rate },
  {
    name: 'UnsupportedMediaType',
    codes: ['unsupported_media_type'],
    when: isWritten,
    headers: rate,
  },
  { name: 'Unprocessable', codes: ['validation_error'], when: isRead, headers: rate },
  {
    name: 'UnprocessableWrite',
    codes: ['validation_error', 'idempotency_conflict'],
    when: isWritten,
    headers: rate,
  },
  {
    name: 'TooManyRequests',
    codes: ['rate_limited'],
    when: isAlways,
    headers: [...rate, 'Retry-After'],
  },
  { name: 'HeadersTooLarge', codes: ['headers_too_large'], when: isAlways },
  { name: 'InternalError', codes: ['internal_error'], when: isAlways, headers: rate },
  {
    name: 'Unavailable',
    codes: ['service_unavailable'],
    when: isAlways,
    headers: [...rate, 'Retry-After'],
  },
]

/** Example `details` by code; null for all other codes. */
const details: Readonly<Partial<Record<ErrorCode, Json>>> = {
  forbidden_scope: { required_scope: 'plant:read' },
  forbidden_module: { module: 'ai_predictions' },
  conflict_state: { current_state: 'approved', allowed_from: ['proposed'] },
  precondition_failed: { current_etag: '"x7Vd0a2mTq5mZ4H1rB9wKc3uYpE"' },
  validation_error: {
    errors: [
      {
        location: 'query',
        field: 'start',
        code: 'naive_timestamp',
        message: 'needs an offset, such as Z or +02:00 (%2B02:00 in a URL)',
      },
    ],
  },
  service_unavailable: { reason: 'statement_timeout' },
  rate_limited: { policy: 'general', limit: 120, window_s: 60, retry_after_s: 21 },
}

const request_id_example = '0198f2c4-7d1e-7a55-9c1b-3f0a5d2e8b61'

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

const headersNamed = (names: readonly string[]) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, ref('headers', name)]))

/** All answers of an endpoint except the successful one, by status. */
export function otherResponses(endpoint: Declared): Record<string, Json> {
  return Object.fromEntries([
    ...(isRevalidated(endpoint) ? [['304', ref('responses', 'NotModified')]] : []),
    ...answersOf(endpoint).map(({ name, codes }) => [
      String(errorCatalog[codes[0]!].status),
      ref('responses', name),
    ]),
  ])
}

const answersOf = (endpoint: Declared) => errorAnswers.filter(({ when }) => when(endpoint))
const isCached = ({ cache = 'live' }: Declared) => cache !== 'live'
/** Only reads answer 304. */
const isRevalidated = (endpoint: Declared) => isCached(endpoint) && isRead(endpoint)

/** The headers of the successful answer. */
export const responseHeaders = (endpoint: Declared) =>
  headersNamed([
    ...rate,
    ...(isCached(endpoint) ? ['ETag'] : []),
    ...(endpoint.exports || isStoredFile(endpoint) ? ['Content-Disposition'] : []),
    ...(endpoint.location ? ['Location'] : []),
    ...(isWritten(endpoint) ? replay : []),
  ])

/** The error answers that any of the endpoints can return. */
export function responseComponents(endpoints: readonly Declared[]) {
  const used = errorAnswers.filter(({ when }) => endpoints.some(when))
  return {
    ...(endpoints.some(isRevalidated) && {
      NotModified: {
        description: 'The cached copy named by `If-None-Match` is still current.',
        headers: headersNamed([...rate, 'ETag']),
      },
    }),
    ...Object.fromEntries(used.map((answer) => [answer.name, errorResponse(answer)])),
  }
}

function errorResponse({ codes, headers = [] }: ErrorAnswer): Json {
  const lines = codes.map((code) => `\`${code}\`: ${errorCatalog[code].message}`)
  return {
    description: lines.join(' '),
    headers: headersNamed(headers),
    content: {
      'application/json': {
        schema: ref('schemas', 'Error'),
        examples: Object.fromEntries(codes.map((code) => [code, errorExample(code)])),
      },
    },
  }
}

function errorExample(code: ErrorCode) {
  const { message, action } = errorCatalog[code]
  const error = { code, message, request_id: request_id_example, details: details[code] ?? null }
  return { summary: action, value: { error } }
}

/** The envelope of every error. */
export const errorSchemas: Record<string, Json> = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: { error: ref('schemas', 'ErrorContent') },
    additionalProperties: false,
  },
  ErrorContent: {
    type: 'object',
    required: ['code', 'message', 'request_id', 'details'],
    properties: {
      code: {
        type: 'string',
        enum: Object.keys(errorCatalog),
        'x-open-enum': true,
        description: 'Stable error code. Branch on this field.',
        examples: ['validation_error'],
      },
      message: {
        type: 'string',
        description: 'Message for people; may change.',
        examples: ['The request is not valid.'],
      },
      request_id: {
        type: 'string',
        description: 'Same as the header `X-Request-Id`. Quote it when you report a problem.',
        examples: [request_id_example],
      },
      details: {
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Data to act on, by code, such as `errors` of a validation error.',
        examples: [details.validation_error],
      },
    },
    additionalProperties: false,
  },
}

const text = (description: string, example: string, more: Json = {}) => ({
  description,
  schema: { type: 'string', ...more },
  example,
})

const headers: Readonly<Record<string, Json>> = {
  'X-Request-Id': {
    required: true,
    ...text(
      'Id of the request: the `X-Request-Id` of the caller, or a new id.',
      request_id_example,
    ),
  },
  RateLimit: text(
    'Remaining requests (`r`) of each limit, and seconds until more are available (`t`). Present ' +
      'on every answer to a request with a valid key.',
    '"general";r=87;t=21',
  ),
  'RateLimit-Policy': text(
    'The limits: requests (`q`) in any window of `w` seconds.',
    '"general";q=120;w=60',
  ),
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
    example: 21,
  },
  'WWW-Authenticate': text(
    'The authentication scheme, and the error of the key.',
    'Bearer realm="heliograph", error="invalid_token"',
  ),
  ETag: text('Version of the answer, for `If-None-Match`.', '"x7Vd0a2mTq5mZ4H1rB9wKc3uYpE"'),
  'Content-Disposition': text(
    'File name; present on files.',
    'attachment; filename="demo_loggers-1-history_until_20260621T100000Z.csv"',
  ),
  Location: text(
    'Path of the created or requested resource on this server.',
    '/v1/sites/demo/reports/runs/5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f11/file',
  ),
  'Idempotent-Replayed': text('Present on a recorded answer to an earlier request.', 'true', {
    enum: ['true'],
  }),
}

export function headerComponents(responses: readonly unknown[]): Record<string, Json> {
  const text = JSON.stringify(responses)
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => text.includes(`#/components/headers/${name}"`)),
  )
}
