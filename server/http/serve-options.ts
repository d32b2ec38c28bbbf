import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import type { AnswerCheck } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import type { Metrics } from './metrics.ts'

export interface ServeOptions {
  tls?: { cert: Buffer | string; key: Buffer | string } | null
  /** Addresses or networks of the proxies whose X-Forwarded-For and -Proto are believed. */
  trusted_proxies?: readonly string[]
  /** `values` (the default) trusts the JSON that PostgreSQL wrote; tests check `all`. */
  check_answers?: AnswerCheck
  /** Public texts without a key, such as the OpenAPI document and its page. */
  documents?: readonly Document[]
  metrics?: Metrics
  /** Requests that take longer are told to the log. */
  slow_ms?: number
}

export interface Document {
  path: string
  content_type: string
  text: string
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
