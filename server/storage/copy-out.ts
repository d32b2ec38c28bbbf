/**
 * Streams from the database with constant memory: `COPY (query) TO STDOUT`, or text computed from
 * several reads of one snapshot.
 */
import { addAbortSignal, PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Timers } from '@heliograph/domain/clock'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Database, Transaction } from './database.ts'

interface OutOrder {
  /** Timeout of each statement, including the time of the reader. */
  timeout_ms: number
  /** The stream is aborted when the source waits this long and the reader takes less. */
  patience: { wait_ms: number; bytes_min: number }
  timers: Timers
  /** Monotonic time. */
  now_ms?: () => number
  /** Aborts the stream: its connection is destroyed, which cancels the query. */
  signal: AbortSignal
}

export interface CopyOrder extends OutOrder {
  /** The complete COPY statement, which has no parameters: see `inlined`. */
  statement: string
}

export interface Copying {
  /** Ends when the transaction has succeeded; otherwise it is destroyed. */
  bytes: Readable
  /** Resolves in any case, when the connection is no longer in use. */
  released: Promise<void>
}

/** Starts a COPY: see `streamOut`. */
export function copyOut(db: Database, { statement, ...order }: CopyOrder): Copying {
  return streamOut(db, order, ({ client }) => {
    const rows = client.query(copyTo(statement))
    // Errors of the connection after an abort.
    rows.on('error', () => {})
    return rows
  })
}

/**
 * Streams the output of `source` from a read-only transaction with one snapshot. Back-pressure
 * stops the source. Errors destroy `bytes`.
 */
export function streamOut(
  db: Database,
  order: OutOrder,
  source: (tx: Transaction) => AsyncIterable<Buffer | string>,
): Copying {
  return sending((bytes) =>
    db.transaction(
      async (tx) => {
        order.signal.throwIfAborted()
        await tx.execute(`SET LOCAL statement_timeout = ${order.timeout_ms}`)
        // Only the loss of its connection ends a running statement.
        const drop = () => void tx.client.connection.stream.destroy()
        await send(() => source(tx), bytes, order, drop)
      },
      { isolation: 'repeatable read', read_only: true },
    ),
  )
}

/** Streams the output of `source`; `given_up` aborts when the reader is gone. */
export const passOn = (
  order: OutOrder,
  source: (given_up: AbortSignal) => AsyncIterable<Buffer | string>,
): Copying => sending((bytes) => send(source, bytes, order, () => {}))

function sending(work: (bytes: PassThrough) => Promise<void>): Copying {
  const bytes = new PassThrough()
  const released = work(bytes).then(
    () => void bytes.end(),
    (error: Error) => void bytes.destroy(error),
  )
  return { bytes, released }
}

async function send(
  source: (given_up: AbortSignal) => AsyncIterable<Buffer | string>,
  bytes: PassThrough,
  order: OutOrder,
  drop: () => void,
): Promise<void> {
  const slow = new AbortController()
  const watched = watchReader(order, () => slow.abort(new Error('the reader was too slow')))
  const given_up = AbortSignal.any([order.signal, slow.signal])
  given_up.addEventListener('abort', drop)
  // Without this, the pipeline waits for a stalled reader.
  addAbortSignal(given_up, bytes)
  try {
    // The stream ends only after the commit.
    await pipeline(source(given_up), watched, bytes, { signal: given_up, end: false })
  } catch (error) {
    // Only after an error of the database itself is the connection still usable.
    if (!(error instanceof pg.DatabaseError)) drop()
    throw error
  } finally {
    given_up.removeEventListener('abort', drop)
  }
}

/** Passes chunks on and measures the time that the reader takes, without that of the source. */
function watchReader(
  { patience, timers, now_ms = () => performance.now() }: OutOrder,
  giveUp: () => void,
) {
  let taken_bytes = 0
  let waited_ms = 0
  return async function* watched(chunks: AsyncIterable<Buffer | string>) {
    for await (const chunk of chunks) {
      let began_ms = now_ms()
      let stop = () => {}
      const waitOn = () => {
        stop = timers.after(patience.wait_ms - waited_ms, () => {
          if (taken_bytes < patience.bytes_min) return giveUp()
          taken_bytes = 0
          waited_ms = 0
          began_ms = now_ms()
          waitOn()
        })
      }
      waitOn()
      try {
        yield chunk
      } finally {
        stop()
      }
      taken_bytes += chunk.length
      // Leaves at least 1 ms, so that only the timer aborts.
      waited_ms = Math.min(waited_ms + now_ms() - began_ms, patience.wait_ms - 1)
    }
  }
}

/** Replaces `$1` … by literals, for statements that take no parameters. */
export function inlined(statement: string, values: readonly (string | number | null)[]): string {
  return statement.replaceAll(/\$(\d+)/g, (place, index: string) => {
    const value = values[Number(index) - 1]
    if (value === undefined) throw new Error(`the statement has no value for ${place}`)
    return value === null ? 'NULL' : pg.escapeLiteral(String(value))
  })
}
