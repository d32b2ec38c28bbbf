import type { IncomingHttpHeaders } from 'node:http'
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import type { AnswerCheck } from './answer.ts'
import type { Principal } from './authenticate.ts'
import type { Encoding } from './compression.ts'
import type { Endpoint } from './endpoint.ts'
import type { Answer, AnyRequest } from './execute.ts'
import type { ExportFormat } from './export-rows.ts'
import type { Metrics } from './metrics.ts'

export interface ServeOptions {
  tls?: { cert: Buffer | string; key: Buffer | string } | null
  /** Addresses or networks of the proxies whose X-Forwarded-For and -Proto are believed. */
  trusted_proxies?: readonly string[]
  /** `strict` unless given. */
  check_answers?: AnswerCheck
  /** Public texts without a key, such as the OpenAPI document and its page. */
  documents?: readonly Document[]
  metrics?: Metrics
  /** Who signed in; without it only keys are taken. */
  sessions?: Sessions
  /** Whole subtrees that another library answers. */
  subtrees?: readonly Subtree[]
  /** The page of every address that is none of a document, the API or a subtree; for browsers. */
  page?: () => Document
  /** Computes heavy reads in other threads; without it they are computed in this one. */
  reading?: Reading
  /** Requests that take longer are told to the log. */
  slow_ms?: number
}

export interface Document {
  path: string
  content_type: string
  text: string | Buffer
  headers?: Readonly<Record<string, string>>
  /** `static` unless given; `immutable`: its path changes with its content. */
  cache?: 'live' | 'immutable'
  /** Its compressed bytes, where these are kept. */
  compressed?: (encoding: Encoding) => Promise<Buffer>
}

export interface Sessions {
  /** Whether the cookie of a session is there; it may have ended. */
  isPresent(headers: IncomingHttpHeaders): boolean
  /** The signed-in person. Throws `not_signed_in`, or `cross_site_request` for a foreign page. */
  authenticate(headers: IncomingHttpHeaders): Promise<Principal>
}

export interface Reading {
  /** Throws what the endpoint threw. */
  read(operation_id: string, request: AnyRequest, gone: AbortSignal): Promise<Answer>
  /** The text of an export whose items are computed; ends when `gone` aborts. */
  export(operation_id: string, order: ExportedText): AsyncIterable<Buffer>
}

export interface ExportedText {
  wanted: AnyRequest
  format: ExportFormat
  gone: AbortSignal
}

export interface Subtree {
  /** Without a slash at its end. */
  path: string
  /** What stands below it; all else is not found. */
  operations: ReadonlySet<string>
  answer(request: Request): Promise<Response>
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
