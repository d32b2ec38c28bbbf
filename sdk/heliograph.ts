import { createClient } from './generated/client/index.ts'
import type { Client, Options as GeneratedOptions } from './generated/client/types.gen.ts'
import type { ExportOperation } from './generated/facts.gen.ts'
import { Operations } from './generated/sdk.gen.ts'
import { type Machine, thisMachine } from './machine.ts'
import { withInstants } from './parameters.ts'
import { type Answer, type Retry, type Sender, send } from './sending.ts'

export interface ConnectOptions extends Partial<Machine> {
  /** Such as `https://solar.example.com`. In a browser, defaults to the origin of the page. */
  base_url?: string | undefined
  /** Defaults to the session of the browser. */
  api_key?: string | undefined
  /** Attempts after the first one; defaults to 3. */
  retries?: number | undefined
  /** Longest `Retry-After` to wait for, s; longer ones throw. Defaults to 60. */
  wait_s_max?: number | undefined
  /** Called before each retry. */
  onRetry?: ((retry: Retry) => void) | undefined
}

export interface CallOptions {
  /** Aborts the call, including waits between attempts. */
  signal?: AbortSignal | undefined
  /** Additional headers, such as `X-Request-Id`. */
  headers?: Record<string, string> | undefined
}

export interface FileOptions extends CallOptions {
  /** Format of an export; defaults to `text/csv`. Reports have a fixed format. */
  accept?: 'text/csv' | 'application/x-ndjson' | 'application/vnd.apache.parquet' | undefined
}

/** A file. Read its content with `response.blob()`, `.text()` or `.body`. */
export interface HeliographFile {
  name: string
  type: string
  response: Response
}

/** Optional parameters may also be undefined. */
type Given<Parameters> = {
  [Name in keyof Parameters]: undefined extends Parameters[Name]
    ? Parameters[Name] | undefined
    : Parameters[Name]
}

type Returned<Result> = Promise<Exclude<Awaited<Result>, undefined>>

type Method<Generated> = Generated extends (options?: GeneratedOptions<never>) => infer Result
  ? (options?: CallOptions) => Returned<Result>
  : Generated extends (parameters: infer Parameters, options?: never) => infer Result
    ? undefined extends Parameters
      ? (parameters?: Given<NonNullable<Parameters>>, options?: CallOptions) => Returned<Result>
      : (parameters: Given<Parameters>, options?: CallOptions) => Returned<Result>
    : never

type Methods = {
  readonly [Name in keyof Operations as Exclude<Name, 'reportRunFile'>]: Method<Operations[Name]>
}

export type FileOperation = ExportOperation | 'reportRunFile'
export type FileParameters<Name extends FileOperation> = Given<Parameters<Operations[Name]>[0]>

/** The API, with a method for each operation. */
export interface Heliograph extends Methods {
  /** Downloads an export of all rows, or the file of a report. */
  file<Name extends FileOperation>(
    operation: Name,
    parameters: FileParameters<Name>,
    options?: FileOptions,
  ): Promise<HeliographFile>
}

/** Options that the generated methods pass to a client. */
interface Asked {
  url: string
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, unknown>
  signal?: AbortSignal
  file?: string
}

/** Creates a client with a key, or in a browser with its session. Sends no request. */
export function connect(options: ConnectOptions = {}): Heliograph {
  const { base_url, api_key, retries = 3, wait_s_max = 60, onRetry, ...own } = options
  const machine = { ...thisMachine, ...defined(own) }
  const sender: Sender = { machine, retries, wait_s_max, onRetry }
  const identity = identityOf(api_key)
  const client = createClient({ baseUrl: baseOf(base_url) })
  const ask = async (method: string, asked: Asked): Promise<unknown> => {
    const { path = {}, query = {}, url, file = null } = asked
    const address = client.buildUrl({ path, query: withInstants(query), url })
    const body = asked.body === undefined ? null : JSON.stringify(withInstants(asked.body))
    const headers = headersOf({ ...asked.headers, ...identity.headers })
    if (!headers.has('accept')) headers.set('accept', file ?? 'application/json')
    if (body === null) headers.delete('content-type')
    if (method !== 'GET' && !headers.has('idempotency-key')) {
      headers.set('idempotency-key', sender.machine.newKey())
    }
    const { credentials } = identity
    const signal = asked.signal ?? null
    const call = { method, url: address, headers, credentials, body, signal, file }
    const answer = await send(sender, call)
    return file === null ? remembered(answer) : fileOf(answer)
  }
  const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
  const verbs = methods.map((name) => [name, (asked: Asked) => ask(name.toUpperCase(), asked)])
  const operations = new Operations({ client: Object.fromEntries(verbs) as unknown as Client })
  const file: Heliograph['file'] = (
    operation,
    parameters,
    { accept = 'text/csv', ...rest } = {},
  ) => {
    const form = operation === 'reportRunFile' ? '*/*' : accept
    const method = operations[operation] as (parameters: object, options: object) => unknown
    return method.call(operations, parameters, { ...rest, file: form }) as Promise<HeliographFile>
  }
  return Object.assign(operations, { file }) as unknown as Heliograph
}

const etags = new WeakMap<object, string>()

/** `ETag` of an answer. Pass it as `If-Match` to refuse a change of a newer version. */
export const etagOf = (answer: object): string | undefined => etags.get(answer)

function remembered({ response, value }: Answer): unknown {
  const etag = response.headers.get('etag')
  if (etag !== null && typeof value === 'object' && value !== null) etags.set(value, etag)
  return value
}

function fileOf({ response }: Answer): HeliographFile {
  const { headers } = response
  const [, name = 'download'] =
    /filename="?([\w.-]+)/.exec(headers.get('content-disposition') ?? '') ?? []
  return { name, type: headers.get('content-type') ?? 'application/octet-stream', response }
}

/** Sends either a key or the session, never both. */
function identityOf(api_key: string | undefined) {
  if (api_key === undefined) {
    return { credentials: 'same-origin', headers: { 'x-heliograph-session': '1' } } as const
  }
  // Checked here, because the error of an invalid header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(api_key)) throw new TypeError('api_key is not an API key')
  return { credentials: 'omit', headers: { authorization: `Bearer ${api_key}` } } as const
}

function baseOf(base_url = ''): string {
  const { location } = globalThis as { location?: { origin: string } }
  const base = base_url || location?.origin || ''
  if (!/^https?:\/\/[^/?#]/.test(base) && !(location && base.startsWith('/'))) {
    throw new TypeError('base_url must be an address such as https://solar.example.com')
  }
  return base.replace(/\/+$/, '').replace(/\/v1$/, '')
}

function headersOf(values: Record<string, unknown>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) headers.set(name, String(value))
  }
  return headers
}

const defined = (own: Partial<Machine>): Partial<Machine> =>
  Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
