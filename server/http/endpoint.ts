/**
 * An endpoint is plain data plus one function. The server, the OpenAPI document, the list of
 * operations and the convention tests read the same table of endpoints. Conventions are derived
 * from a declaration, never repeated in it: a method other than GET is a write (safe mode,
 * idempotency, write rate), and `limit(cap)` is clamped.
 */

import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { Transaction } from '../storage/database.ts'
import { CursorParameter } from './cursor.ts'
import { exampleOf } from './example.ts'
import type { ExportItem, ExportItems } from './export-items.ts'
import type { ExportRows } from './export-rows.ts'
import * as field from './fields.ts'
import type { JsonText } from './json-text.ts'
import type { WindowRule } from './windows.ts'

export const scopes = [
  'plant:read',
  'diagnostics:read',
  'energy:read',
  'weather:read',
  'markets:read',
  'earnings:read',
  'predictions:read',
  'alerts:read',
  'alerts:write',
  'om:read',
  'om:write',
  'reports:read',
  'reports:write',
  'curtailment:read',
  'curtailment:write',
  'bess:read',
  'bess:write',
] as const
export type Scope = (typeof scopes)[number]

export const modules = ['basic_scada', 'bess', 'om', 'ai_predictions', 'earnings'] as const
export type Module = (typeof modules)[number]

/** Roles of users. Each role includes the rights of the roles before it. */
export const roles = ['viewer', 'operator', 'administrator'] as const
export type Role = (typeof roles)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The caller of a request, an API key or a signed-in user, and its rights. */
export interface Caller {
  /** The id of the key, or of the user (`user_<12 hex>`). */
  key_id: string
  key_name: string
  /** Set for users only. */
  role?: Role
  client_id: number
  scopes: ReadonlySet<Scope>
  modules: ReadonlySet<Module>
  /** null for all sites of the client. */
  site_ids: ReadonlySet<string> | null
}

export interface RequestSite {
  site_id: string
  client_id: number
  name: string
  /** IANA name; `UTC` until the edge has sent the inventory. */
  timezone: string
  safe_mode: boolean
}

export interface Request<Params, Query, Body, Window = unknown, Place = unknown> {
  site: RequestSite
  caller: Caller
  request_id: string
  params: Params
  /** Without the window parameters, which `window` replaces. */
  query: Query
  /** The result of the window rule of the endpoint. */
  window: Window
  /** The fields of `cursor`: the end of the previous page; null for the first page. */
  after: Place | null
  body: Body
}

/** Parts of a write request that reads do not have. */
export interface WriteParts {
  /**
   * The transaction of the write, for everything it stores. It is committed together with the
   * recorded answer of the Idempotency-Key when `handle` returns, and rolled back when it throws.
   */
  tx: Transaction
  /** The If-Match header where the endpoint declares it, for `requireMatch`. */
  if_match: string | null
  idempotency_key: string | null
  /** The read-only fields of `object` that the body contains. */
  read_only: Readonly<Record<string, unknown>>
}

/** An answer of `text/event-stream`: see event-stream.ts. */
export interface EventStream {
  /** Aborted when the stream has ended. */
  readonly ended: AbortSignal
  /** Sends messages made by `messageOf`. Disconnects a reader that is too far behind. */
  send(messages: string): void
  /** Resolves when the reader can take more, or the stream has ended. */
  drained(): Promise<void>
  /** Ends the stream with a message `closed` that has the reason. */
  end(reason: string): void
}

type RequestOf<
  M extends Method,
  Params extends TProperties,
  Query extends TProperties,
  Body extends TSchema,
  Window,
  Place extends TProperties,
> = Request<
  Static<TObject<Params>>,
  Static<TObject<Query>>,
  Static<Body>,
  Window,
  Static<TObject<Place>>
> &
  (M extends 'GET' ? unknown : WriteParts)

export interface Endpoint<
  Needs,
  Path extends string = string,
  Params extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
  Returns extends TSchema = TSchema,
  M extends Method = Method,
  Window = unknown,
  Place extends TProperties = TProperties,
> {
  method: M
  /** Relative to /v1/sites/{site_id}, except '/v1/sites', '/mcp/…' and operations with a `role`. */
  path: Path
  /** `resource_action` in snake_case. */
  operation_id: string
  /** The tag in the OpenAPI document: a chapter of the specification. */
  tag: string
  /**
   * Marks an operation of the platform. It needs the session of a user with at least this role and
   * accepts no key; `anyone` needs no session.
   */
  role?: Role | 'anyone'
  /** null for operations of the platform, and where any valid key suffices. */
  scope: Scope | null
  module: Module | null
  summary: string
  description?: string
  params?: Params
  query?: Query
  /** The window rule; its parameters precede those of `query`. */
  window?: WindowRule<Window>
  /** The fields that order the items of a paged list: see cursor.ts. */
  cursor?: Place
  /**
   * A read that may take long or return megabytes. It is queued and runs in a worker thread (see
   * heavy-reads.ts), so it must not use state of the main thread.
   */
  heavy?: true
  body?: Body
  /** The object that GET returns and this write changes: see read-only.ts. */
  object?: TObject
  /** Defaults to 200. */
  status?: 200 | 201 | 202 | 204
  returns: Returns
  /** Media types of an answer that is a file; `returns` is then `FileBytes`. */
  file_types?: readonly string[]
  /** The `Location` of the created or requested resource, relative to the site. */
  location?: (answer: Static<Returns>) => string
  /** `live`: no-store (the default); `resource` and `static`: a strong ETag. */
  cache?: 'live' | 'resource' | 'static'
  /** The answer contains a secret: neither idempotency records nor the audit log store it. */
  shown_once?: true
  /** A write that receives the `If-Match` header, for `requireMatch`. */
  if_match?: true
  /**
   * An example body and answer for the reference, checked against their schemas. The answer
   * defaults to the examples of its fields.
   */
  example: { body?: Static<Body>; answer: Static<Returns> }
  handle: (
    request: RequestOf<M, Params, Query, Body, Window, Place>,
    needs: Needs,
  ) => Promise<Static<Returns> | JsonText>
  /**
   * The rows of the same request as an export. `query.limit` is absent when the request has none:
   * the export then covers the whole window.
   */
  exports?: (
    request: RequestOf<M, Params, Query, Body, Window, Place>,
    needs: Needs,
  ) => Promise<ExportRows | ExportItems>
  /** The same request as `text/event-stream`. Returns what sends messages until the stream ends. */
  stream?: (
    request: RequestOf<M, Params, Query, Body, Window, Place> & { last_event_id: string | null },
    needs: Needs,
  ) => Promise<(stream: EventStream) => Promise<void>>
  /** Splits an exported item into flat CSV lines. Defaults to one line per item. */
  export_lines?: (item: ExportItem) => readonly ExportItem[]
  /**
   * Runs after `handle` is committed, for writes that wait for something outside the database. Its
   * answer replaces that of `handle`. It must be repeatable, as a retry may run it again.
   */
  settle?: (
    request: Request<Static<TObject<Params>>, Static<TObject<Query>>, Static<Body>>,
    needs: Needs,
  ) => Promise<Static<Returns> | JsonText>
}

/** The parameter names in a path: 'logger_id' for '/loggers/{logger_id}/history'. */
type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

/** Checks the types of a definition and erases them, so that all endpoints fit one table. */
export function endpoint<
  Needs,
  const Path extends string,
  Params extends Record<PathNames<Path>, TSchema>,
  Query extends TProperties & NoBounds = Record<never, TSchema>,
  Body extends TSchema = TSchema,
  Returns extends TSchema = TSchema,
  const M extends Method = Method,
  Window = undefined,
  Place extends TProperties = Record<never, TSchema>,
>(
  definition: Omit<
    Endpoint<Needs, Path, Params, Query, Body, Returns, M, Window, Place>,
    'example'
  > & { example?: { body?: Static<Body>; answer?: Static<Returns> } },
): Endpoint<Needs> {
  const { window, cursor } = definition
  const query = {
    ...window?.query,
    ...definition.query,
    ...(cursor && { cursor: CursorParameter }),
  }
  const has_query = Object.keys(query).length > 0
  const example = { answer: exampleOf(definition.returns), ...definition.example }
  const returns = withOmitted(definition.returns)
  const completed = { ...definition, ...(has_query && { query }), example, returns }
  return completed as unknown as Endpoint<Needs>
}

const Omitted = field.Int(
  'Number of items omitted from this answer and from `count`, because a value breaks its ' +
    'schema. Absent when no item was omitted.',
  { minimum: 1, examples: [1] },
)

/** Every list may omit items: see repair-answer.ts. */
function withOmitted(returns: TSchema): TSchema {
  const { properties } = returns as { properties?: Record<string, TSchema> }
  const { data, meta } = properties ?? {}
  if (!meta || !data || !('items' in data)) return returns
  const fields = { ...(meta as unknown as TObject).properties, omitted: Omitted }
  const named = { ...properties, meta: { ...meta, properties: fields } }
  return { ...returns, properties: named } as TSchema
}

/** Window and cursor rules declare these parameters, so that no handler reads them unchecked. */
type NoBounds = { [Name in 'start' | 'end' | 'since' | 'cursor']?: never }
