import type { IncomingHttpHeaders } from 'node:http'
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import type { AnswerCheck } from './answer.ts'
import type { Principal } from './authenticate.ts'
import type { Encoding } from './compression.ts'
import type { Caller, Endpoint, Method } from './endpoint.ts'
import type { Answer, AnyRequest } from './execute.ts'
import type { ExportFormat } from './export-rows.ts'
import type { Metrics } from './metrics.ts'

export interface ServeOptions {
  tls?: { cert: Buffer | string; key: Buffer | string } | null
  /** Addresses or networks of proxies whose X-Forwarded-For and -Proto are trusted. */
  trusted_proxies?: readonly string[]
  /** Defaults to `strict`. */
  check_answers?: AnswerCheck
  /** Public documents, such as the OpenAPI document and the reference page. */
  documents?: readonly Document[]
  metrics?: Metrics
  /** Sessions of users; without them only keys are accepted. */
  sessions?: Sessions
  /** Paths that another library answers. */
  subtrees?: readonly Subtree[]
  /** A path that another library answers for keys. */
  keyed_path?: KeyedPath
  /** The page for browsers at all other paths. */
  page?: () => Document
  /** Worker threads for heavy reads; without them heavy reads run on the main thread. */
  reading?: Reading
  /** Slower requests are logged. */
  slow_ms?: number
}

export interface Document {
  path: string
  content_type: string
  text: string | Buffer
  headers?: Readonly<Record<string, string>>
  /** Defaults to `static`. `immutable`: the path changes with the content. */
  cache?: 'live' | 'immutable'
  /** Cached compressed bytes. */
  compressed?: (encoding: Encoding) => Promise<Buffer>
}

export interface Sessions {
  /** True when the request has a session cookie, expired or not. */
  isPresent(headers: IncomingHttpHeaders): boolean
  /** The signed-in person. Throws `not_signed_in`, or `cross_site_request` for a foreign page. */
  authenticate(headers: IncomingHttpHeaders): Promise<Principal>
}

export interface Reading {
  /** Throws the error of the endpoint. */
  read(operation_id: string, request: AnyRequest, gone: AbortSignal): Promise<Answer>
  /** The text of an export of computed items; ends when `gone` aborts. */
  export(operation_id: string, order: ExportedText): AsyncIterable<Buffer>
}

export interface ExportedText {
  wanted: AnyRequest
  format: ExportFormat
  gone: AbortSignal
}

export interface Subtree {
  /** Without a trailing slash. */
  path: string
  /** Accepted paths below `path`; all others are not found. */
  operations: ReadonlySet<string>
  answer(request: Request): Promise<Response>
}

export interface KeyedPath {
  path: string
  /** The only origin whose pages may send requests; null for none. Programs send no Origin. */
  origin: string | null
  answer(request: Request, body: unknown, asker: Asker): Promise<Response>
}

export interface Asker {
  caller: Caller
  /** The address of this server as the client wrote it. */
  origin: string
  call(method: Method, url: string, body?: object): Promise<OperationAnswer>
}

export interface OperationAnswer {
  status: number
  /** null for no body. */
  body: unknown
}

export interface ServeInput<Needs> {
  endpoints: readonly Endpoint<Needs>[]
  needs: Needs
  db: Database
  clock: Clock
  timers: Timers
  newId: () => string
  log: Log
  options?: ServeOptions
}
