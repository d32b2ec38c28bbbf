/**
 * Exports: the rows of a series as a CSV, NDJSON or Parquet file. An export that fails half-way
 * resets its connection, so that clients cannot take the file for complete.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline, Readable } from 'node:stream'
import type { Clock, Timers } from '@heliograph/domain/clock'
import { type Copying, copyOut, passOn, streamOut } from '../storage/copy-out.ts'
import type { Database, Log } from '../storage/database.ts'
import { chooseEncoding, compressor, type Encoding, weightsOf } from './compression.ts'
import type { Caller, Endpoint, Request } from './endpoint.ts'
import { rateLimited, unavailable } from './errors.ts'
import type { AnyRequest } from './execute.ts'
import { contentOf } from './export-content.ts'
import type { ExportItems } from './export-items.ts'
import { copyStatement, type ExportFormat, type ExportRows } from './export-rows.ts'
import type { Reading } from './serve-options.ts'
import type { Bounds, Span } from './windows.ts'

/** Concurrent exports: of a key, of all keys of a client, and of the process. */
export const exports_max = { per_key: 2, per_client: 3, in_all: 6 } as const
const retry_after_s = 10
/** Maximum duration of an export. */
export const export_minutes_max = 60
/** The connection of a client that reads more slowly, before compression, is closed. */
export const patience = { wait_s: 60, min_kib_s: 8 } as const

/** The first of equal weight is chosen. */
export const mediaTypes = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<ExportFormat, string>

const contentTypes: Record<ExportFormat, string> = {
  ...mediaTypes,
  csv: 'text/csv; charset=utf-8; header=present',
}

/**
 * The export format that `Accept` prefers to JSON; null for JSON. A format must be named: wildcards
 * stand for JSON, which also wins when it is named with the same weight. RFC 9110 §12.5.1.
 */
export function chooseFormat(accept: string | undefined): ExportFormat | null {
  if (accept === undefined) return null
  const weights = weightsOf(accept)
  const formats = Object.keys(mediaTypes) as ExportFormat[]
  const weightOf = (format: ExportFormat) => weights.get(mediaTypes[format]) ?? 0
  const best = Math.max(...formats.map(weightOf))
  const named = weights.get('application/json')
  const json = named ?? weights.get('application/*') ?? weights.get('*/*') ?? 0
  if (best === 0 || json > best || named === best) return null
  return formats.find((format) => weightOf(format) === best)!
}

interface ExportOrder {
  /** The validated request. `query.limit` is the default unless `has_limit`. */
  asked: Request<unknown, Asked, unknown, Bounds | Span | undefined> & { has_limit: boolean }
  format: ExportFormat
  /** The export ends when the response closes. */
  response: ServerResponse
}

interface Asked {
  limit?: number
}

interface ExportFile {
  headers: Record<string, string>
  /** Empty for HEAD. */
  bytes: Readable
}

export type Exporter = ReturnType<typeof createExporter>

interface Deps {
  db: Database
  clock: Clock
  timers: Timers
  log: Log
  needs: never
  /** Worker threads that compute items; without them, items are computed on the main thread. */
  reading?: Reading | undefined
}

export function createExporter(deps: Deps) {
  const running = exportSlots()
  return {
    /**
     * Resolves with the first bytes, so that early failures are answered as normal errors. Throws
     * 429 above the limit of a key or client, and 503 above the limit of the process.
     */
    async open(
      endpoint: Endpoint<never>,
      { asked, format, response }: ExportOrder,
    ): Promise<ExportFile> {
      const { has_limit, ...request } = asked
      const { limit, ...query } = request.query
      const limited = has_limit ? { ...query, limit } : query
      const wanted = { ...request, query: limited }
      const rows = await endpoint.exports!(wanted as never, deps.needs)
      const accepted = response.req.headers['accept-encoding'] as string | undefined
      // The columns of Parquet are compressed already.
      const encoding = format === 'parquet' ? null : chooseEncoding(accepted)
      const name = fileName(endpoint, asked, deps.clock)
      const headers = {
        'content-type': contentTypes[format],
        'content-disposition': `attachment; filename="${name}.${format}"`,
        'cache-control': 'no-store',
        vary: 'Authorization, Accept, Accept-Encoding',
        ...(encoding && { 'content-encoding': encoding }),
        ...linkToNext('span' in rows ? rows.span : request.window, response.req.url!),
      }
      if (response.req.method === 'HEAD') return { headers, bytes: Readable.from([]) }
      const release = running.take(request.caller)
      const copying = begin(deps, { endpoint, wanted, format, rows, response })
      void copying.released.then(release)
      await once(copying.bytes, 'readable').catch((error) => {
        // A closed connection is not a failure worth logging.
        throw response.closed ? unavailable() : error
      })
      breakOnFailure(copying.bytes, response, (error) =>
        deps.log.error({ err: error, request_id: request.request_id }, 'an export broke off'),
      )
      return { headers, bytes: encoding ? compressed(copying.bytes, encoding) : copying.bytes }
    },
  }
}

/** Site, path and window: `demo_loggers-1-history_20260601T000000Z_20260701T000000Z`. */
function fileName({ path }: Endpoint<never>, asked: ExportOrder['asked'], clock: Clock): string {
  const { start = null, end = null } = asked.window ?? {}
  const params = asked.params as Record<string, unknown>
  const place = path.slice(1).replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]))
  const from = start === null ? 'until' : compact(start)
  const to = compact(end ?? clock.now().toISOString())
  const name = place.replaceAll(/[^A-Za-z0-9.]+/g, '-')
  return [asked.site.site_id, name, from, to].join('_')
}

/** The `Link` header (RFC 8288) of a file whose window was cut, in place of `meta.next_start`. */
function linkToNext(window: Bounds | Span | undefined, address: string): Record<string, string> {
  if (!window || !('next_start' in window) || window.next_start === null) return {}
  const [path, query] = address.split('?')
  const asked = new URLSearchParams(query)
  asked.set(asked.has('since') ? 'since' : 'start', window.next_start)
  return { link: `<${path}?${asked}>; rel="next"` }
}

const compact = (instant: string) => instant.replaceAll(/[-:]|\.\d+/g, '')

interface Beginning {
  endpoint: Endpoint<never>
  wanted: AnyRequest
  format: ExportFormat
  rows: ExportRows | ExportItems
  response: ServerResponse
}

function begin(
  { db, timers, reading }: Deps,
  { endpoint, wanted, format, rows, response }: Beginning,
): Copying {
  const abort = new AbortController()
  if (response.closed) abort.abort()
  else response.once('close', () => abort.abort())
  const timeout_ms = export_minutes_max * 60_000
  const { wait_s, min_kib_s } = patience
  const order = {
    timeout_ms,
    patience: { wait_ms: wait_s * 1000, bytes_min: wait_s * min_kib_s * 1024 },
    timers,
    signal: abort.signal,
  }
  if ('columns' in rows && format !== 'parquet') {
    return copyOut(db, { statement: copyStatement(format, rows), ...order })
  }
  // The statement timeout bounds single statements only.
  const cancel = timers.after(timeout_ms, () => abort.abort(new Error('the export took too long')))
  const copying = reading
    ? passOn(order, (gone) => reading.export(endpoint.operation_id, { wanted, format, gone }))
    : streamOut(db, order, (tx) => contentOf(endpoint, format, rows, tx))
  void copying.released.then(cancel)
  return copying
}

/**
 * Destroying the connection leaves out the last chunk of the body. HTTP/1.0 has no chunks: there
 * only a reset marks the body as incomplete.
 */
function breakOnFailure(
  bytes: Readable,
  response: ServerResponse,
  report: (error: Error) => void,
): void {
  bytes.once('error', (error) => {
    if (response.closed) return
    report(error)
    reset(response.socket)
  })
}

function reset(socket: Socket | null): void {
  // Only a plain TCP socket can be reset. TLS marks truncated bodies itself.
  if (socket && !('encrypted' in socket)) socket.resetAndDestroy?.()
  else socket?.destroy()
}

function compressed(bytes: Readable, encoding: Encoding): Duplex {
  const packed = compressor(encoding)
  // `breakOnFailure` reports errors; the pipeline destroys both streams.
  pipeline(bytes, packed, () => {})
  return packed
}

/** Each export holds a connection of the pool, so their number is limited. */
function exportSlots() {
  const running = new Map<string, number>()
  const count = (name: string, change: number) => {
    const after = (running.get(name) ?? 0) + change
    if (after === 0) running.delete(name)
    else running.set(name, after)
  }
  return {
    /** Returns a function that releases the slot. */
    take({ key_id, client_id }: Pick<Caller, 'key_id' | 'client_id'>): () => void {
      const key = `key ${key_id}`
      const client = `client ${client_id}`
      refuseBeyond('concurrent_exports', exports_max.per_key, running.get(key))
      refuseBeyond('concurrent_exports_of_client', exports_max.per_client, running.get(client))
      if ((running.get('all') ?? 0) >= exports_max.in_all) throw unavailable(retry_after_s)
      const places = [key, client, 'all']
      for (const place of places) count(place, 1)
      return () => {
        for (const place of places) count(place, -1)
      }
    },
  }
}

function refuseBeyond(policy: string, limit: number, running = 0): void {
  if (running >= limit) throw rateLimited({ policy, limit, retry_after_s })
}
