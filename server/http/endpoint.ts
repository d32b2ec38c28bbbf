/**
 * An endpoint is plain data plus one function. The server, the OpenAPI document, the list of
 * operations and the convention tests all read the same table of endpoints, so what is stated
 * here holds everywhere. What follows from it is derived, never declared: a method other than GET
 * is a write (safe mode, idempotency, write rate); `limit(cap)` is clamped; a scope refuses keys
 * without it; a `List` wears the envelope.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import type { Transaction } from '../storage/database.ts'
import { CursorParameter } from './cursor.ts'
import type { ExportItem, ExportItems } from './export-items.ts'
import type { ExportRows } from './export-rows.ts'
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

/** Of the people of a client, each may do what those before it may. */
export const roles = ['viewer', 'operator', 'administrator'] as const
export type Role = (typeof roles)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Who calls: the key that was presented or who signed in, of which client, and what it may do. */
export interface Caller {
  /** Of a person: the id of the user, `user_<12 hex>`. */
  key_id: string
  key_name: string
  /** Of a person; keys have none. */
  role?: Role
  client_id: number
  scopes: ReadonlySet<Scope>
  modules: ReadonlySet<Module>
  /** null: every site of the client. */
  site_ids: ReadonlySet<string> | null
}

/** The site of the request, as the conventions need it. */
export interface RequestSite {
  site_id: string
  client_id: number
  name: string
  /** IANA name; `UTC` until the edge has announced the inventory. */
  timezone: string
  safe_mode: boolean
}

export interface Request<Params, Query, Body, Window = unknown, Place = unknown> {
  site: RequestSite
  caller: Caller
  request_id: string
  params: Params
  /** Without the bounds of the window, which the rule of the endpoint has turned into `window`. */
  query: Query
  /** Of the endpoint's window rule. */
  window: Window
  /** Where the page before ended; null for the first page. Of an endpoint with a `cursor`. */
  after: Place | null
  body: Body
}

/** What a write has beyond a read. */
export interface WriteParts {
  /**
   * Everything that a write stores goes through it: it is committed, together with the recorded
   * answer of the Idempotency-Key, when `handle` returns, and rolled back when it throws.
   */
  tx: Transaction
  /** The If-Match header where the endpoint declares it, for `requireMatch`. */
  if_match: string | null
  /** As the request has it, for the record of who did what. */
  idempotency_key: string | null
  /** Of an endpoint with an `object`: its read-only fields that the body has; else empty. */
  read_only: Readonly<Record<string, unknown>>
}

type RequestOf<M extends Method, Params, Query, Body, Window, Place> = Request<
  Params,
  Query,
  Body,
  Window,
  Place
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
  /**
   * Below /v1/sites/{site_id}; '/v1/sites' alone stands above every site. With `role`: the whole of
   * it, below /platform.
   */
  path: Path
  /** `resource_action` in snake_case. */
  operation_id: string
  /** Chapter of the specification, in words: the tag of the OpenAPI document. */
  tag: string
  /**
   * An operation of the owner's platform: it takes the session of a person of at least this role,
   * never a key; `anyone` needs neither.
   */
  role?: Role | 'anyone'
  /** null only where any valid key will do, and of operations of the platform. */
  scope: Scope | null
  module: Module | null
  summary: string
  description?: string
  params?: Params
  query?: Query
  /** What the request's window is made of and bounded by; its parameters come before `query`. */
  window?: WindowRule<Window>
  /** The fields that order the items of a list that is read page by page: see cursor.ts. */
  cursor?: Place
  /**
   * A read that may take long, or answer with megabytes: it is computed in turn, outside the main
   * thread (see heavy-reads.ts). It uses nothing that only the main thread has.
   */
  heavy?: true
  body?: Body
  /** What GET gives of what this write changes: see read-only.ts. */
  object?: TObject
  /** 200 unless stated. */
  status?: 200 | 201 | 202 | 204
  returns: Returns
  /** For an answer that is a file: the media types it may have; `returns` is `FileBytes`. */
  file_types?: readonly string[]
  /** Where what was made or begun is, below the site: the Location of the answer. */
  location?: (answer: Static<Returns>) => string
  /** `live`: no-store (the default); `resource` and `static`: a strong ETag. */
  cache?: 'live' | 'resource' | 'static'
  /** Its answer holds a secret that is shown once: no Idempotency-Key and no audit keeps it. */
  shown_once?: true
  /**
   * A write on a resource that is served with an ETag: gets the `If-Match` header, for
   * `requireMatch`. What does not say so never sees one.
   */
  if_match?: true
  /** One answer, and one body for those that take one, for the reference page; both are checked. */
  example: { body?: Static<Body>; answer: Static<Returns> }
  handle: (
    request: RequestOf<
      M,
      Static<TObject<Params>>,
      Static<TObject<Query>>,
      Static<Body>,
      Window,
      Static<TObject<Place>>
    >,
    needs: Needs,
  ) => Promise<Static<Returns> | JsonText>
  /**
   * For a series that can be had as a file too: the rows of the same request, refused for the same
   * reasons. `query.limit` is absent where the request gives none: then it is the whole window.
   */
  exports?: (
    request: RequestOf<
      M,
      Static<TObject<Params>>,
      Static<TObject<Query>>,
      Static<Body>,
      Window,
      Static<TObject<Place>>
    >,
    needs: Needs,
  ) => Promise<ExportRows | ExportItems>
  /** The lines of CSV that an exported item makes, flat; without it, it is one as it stands. */
  export_lines?: (item: ExportItem) => readonly ExportItem[]
  /**
   * For a write that waits for something beyond the database: runs once `handle` is committed, and
   * its answer takes the place of that of `handle`. A retry may run it again, so it is repeatable.
   */
  settle?: (
    request: Request<Static<TObject<Params>>, Static<TObject<Query>>, Static<Body>>,
    needs: Needs,
  ) => Promise<Static<Returns> | JsonText>
}

/** The names between braces in a path: '/loggers/{logger_id}/history' gives 'logger_id'. */
type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

/** Checks a definition's types, then forgets them, so that every endpoint fits one table. */
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
  definition: Endpoint<Needs, Path, Params, Query, Body, Returns, M, Window, Place>,
): Endpoint<Needs> {
  const { window, cursor } = definition
  const query = {
    ...window?.query,
    ...definition.query,
    ...(cursor && { cursor: CursorParameter }),
  }
  const has_query = Object.keys(query).length > 0
  const returns = withOmitted(definition.returns)
  return { ...definition, ...(has_query && { query }), returns } as unknown as Endpoint<Needs>
}

const Omitted = Type.Integer({
  minimum: 1,
  examples: [1],
  description:
    'Items left out of this answer, and of `count`, because a value breaks its schema; absent ' +
    'where none was.',
})

/** Any list may leave out items: see mend-answer.ts. */
function withOmitted(returns: TSchema): TSchema {
  const { properties } = returns as { properties?: Record<string, TSchema> }
  const { data, meta } = properties ?? {}
  if (!meta || !data || !('items' in data)) return returns
  const fields = { ...(meta as unknown as TObject).properties, omitted: Omitted }
  const named = { ...properties, meta: { ...meta, properties: fields } }
  return { ...returns, properties: named } as TSchema
}

/** Only the rules of windows and cursors declare these, so that no handler gets one unchecked. */
type NoBounds = { [Name in 'start' | 'end' | 'since' | 'cursor']?: never }
