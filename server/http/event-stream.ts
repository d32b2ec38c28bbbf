/**
 * Answers as `text/event-stream`, which last until the client closes them. HTML standard, section
 * 9.2. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Log } from '../storage/database.ts'
import { weightsOf } from './compression.ts'
import type { Caller, EventStream } from './endpoint.ts'
import { ApiError, errorCatalog, rateLimited } from './errors.ts'
import type { Admission } from './gate.ts'
import { periodically } from './periodic.ts'

export const event_stream_type = 'text/event-stream'
export const streams_per_key_max = 20
export const heartbeat_s = 15
const retry_after_s = 10
/** The rights of a key are checked this often; those of a session with each heartbeat. */
const check_ms = 1000
/** A reader that is further behind, or reads nothing for so long, is disconnected. */
export const behind_kib_max = 256
export const unread_s_max = 30
/** The last message must be read within this time. */
const farewell_ms = 5000

const head = `retry: 2000\n\n`
const heartbeat = `: heartbeat\n\n`

interface Message {
  /** What a client sends as `Last-Event-ID` when it reconnects. */
  id?: number
  event?: string
  data?: unknown
}

export const messageOf = ({ id, event, data }: Message): string =>
  (id === undefined ? '' : `id: ${id}\n`) +
  (event === undefined ? '' : `event: ${event}\n`) +
  (data === undefined ? '\n' : `data: ${JSON.stringify(data)}\n\n`)

/** Whether `Accept` prefers a stream to JSON. */
export function prefersStream(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights = weightsOf(accept)
  return (weights.get(event_stream_type) ?? 0) > (weights.get('application/json') ?? 0)
}

interface Opening {
  caller: Caller
  response: ServerResponse
  /** Repeats the admission of the request; throws when the caller has lost its rights. */
  admit(): Admission | Promise<Admission>
}

interface Open extends Opening, EventStream {
  bytes: Readable
  rights: string
  sent_ms: number
  read_ms: number
}

export type EventStreams = ReturnType<typeof createEventStreams>

/** The streams of this process. Without any, no timer runs. */
export function createEventStreams(deps: { clock: Clock; timers: Timers; log: Log }) {
  const { clock, timers } = deps
  const open = new Set<Open>()
  let checking: ReturnType<typeof periodically> | null = null
  const now = () => clock.now().getTime()

  function add(opening: Opening): Open {
    const ended = new AbortController()
    let resume = () => {}
    const bytes = new Readable({
      highWaterMark: 64 * 1024,
      read() {
        stream.read_ms = now()
        resume()
      },
    })
    const push = (text: string) => {
      stream.sent_ms = now()
      bytes.push(text)
    }
    const stream: Open = {
      ...opening,
      bytes,
      ended: ended.signal,
      rights: rightsOf(opening.caller),
      sent_ms: now(),
      read_ms: now(),
      send(messages) {
        if (ended.signal.aborted) return
        if (bytes.readableLength > 1024 * behind_kib_max) stream.end('slow_consumer')
        else push(messages)
      },
      async drained() {
        if (ended.signal.aborted || bytes.readableLength < bytes.readableHighWaterMark) return
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      },
      end(reason) {
        if (ended.signal.aborted) return
        push(messageOf({ event: 'closed', data: { reason } }))
        bytes.push(null)
        leave()
        const { response } = opening
        response.once(
          'close',
          timers.after(farewell_ms, () => response.destroy()),
        )
      },
    }
    const leave = () => {
      open.delete(stream)
      ended.abort()
      resume()
      if (open.size > 0) return
      void checking?.stop()
      checking = null
    }
    open.add(stream)
    checking ??= periodically(deps, 'checking streams', check_ms, checkAll)
    push(head)
    if (opening.response.closed) leave()
    else opening.response.once('close', leave)
    return stream
  }

  async function checkAll(): Promise<void> {
    await Promise.all([...open].map(check))
  }

  async function check(stream: Open): Promise<void> {
    const now_ms = now()
    const is_silent = now_ms - stream.sent_ms >= 1000 * heartbeat_s
    if (stream.bytes.readableLength > 0 && now_ms - stream.read_ms > 1000 * unread_s_max) {
      stream.end('slow_consumer')
      return
    }
    if (stream.caller.role === undefined || is_silent) await checkRights(stream)
    if (is_silent) stream.send(heartbeat)
  }

  return {
    /** Throws 429 above the limit of the key. */
    open(opening: Opening): { stream: EventStream; bytes: Readable } {
      const { key_id } = opening.caller
      const of_key = [...open].filter(({ caller }) => caller.key_id === key_id)
      if (of_key.length >= streams_per_key_max) {
        const policy = 'concurrent_streams'
        throw rateLimited({ policy, limit: streams_per_key_max, retry_after_s })
      }
      const stream = add(opening)
      return { stream, bytes: stream.bytes }
    },
    /** Ends all streams, for a shutdown. */
    endAll(): void {
      for (const stream of [...open]) stream.end('server_stops')
    },
  }
}

/** Ends a stream whose caller has lost or changed its rights. */
async function checkRights(stream: Open): Promise<void> {
  try {
    const { principal } = await stream.admit()
    if (rightsOf(principal.caller) !== stream.rights) stream.end('rights_changed')
  } catch (error) {
    // While the database cannot be read, the stream stays: no event is read either.
    const is_refusal = error instanceof ApiError && errorCatalog[error.code].status < 429
    if (is_refusal) stream.end(error.code)
  }
}

const rightsOf = ({ scopes, modules, site_ids }: Caller) =>
  JSON.stringify([[...scopes].sort(), [...modules].sort(), site_ids && [...site_ids].sort()])

export const eventStreamHeaders = {
  'content-type': `${event_stream_type}; charset=utf-8`,
  'cache-control': 'no-store',
  vary: 'Authorization, Accept',
  // Proxies must not collect messages.
  'x-accel-buffering': 'no',
} as const
