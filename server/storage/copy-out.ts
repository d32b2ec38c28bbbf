/**
 * What the database gives as a stream, in the memory of its buffers whatever the rows are:
 * `COPY (query) TO STDOUT`, or text that is made of several reads of one snapshot.
 */
import { addAbortSignal, PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Timers } from '@heliograph/domain/clock'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Database, Transaction } from './database.ts'

interface OutOrder {
  /** Bound on each statement, the reader's time included. */
  timeout_ms: number
  /** A reader that makes the source wait this long for less than `bytes_min` is given up. */
  patience: { wait_ms: number; bytes_min: number }
  timers: Timers
  /** Time that passes steadily; that of the machine by default. */
  now_ms?: () => number
  /** Ends it: the query is cancelled and its connection leaves the pool at once. */
  signal: AbortSignal
}

export interface CopyOrder extends OutOrder {
  /** The whole statement. COPY takes no parameters: see `inlined`. */
  statement: string
}

export interface Copying {
  /** Ends only once the statement is known to have succeeded; else it is destroyed. */
  bytes: Readable
  /** Resolves, whatever came of it, when the connection is no longer in use. */
  released: Promise<void>
}

/** Starts a COPY: see `streamOut`. */
export function copyOut(db: Database, { statement, ...order }: CopyOrder): Copying {
  return streamOut(db, order, ({ client }) => {
    const rows = client.query(copyTo(statement))
    // What the end of its connection tells it after an abort has been told already.
    rows.on('error', () => {})
    return rows
  })
}

/**
 * Sends what `source` yields, in a read-only transaction of its own that sees one snapshot. A
 * reader that does not read stops the source. Errors, the database's own among them, are those of
 * `bytes`.
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
        // A statement that runs goes on, and only the loss of its connection ends it.
        const drop = () => void tx.client.connection.stream.destroy()
        await send(() => source(tx), bytes, order, drop)
      },
      { isolation: 'repeatable read', read_only: true },
    ),
  )
}

/** Sends what `source` yields; `given_up` aborts when nobody takes more of it. */
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
  // Else the pipeline waits until a reader who stalls takes more.
  addAbortSignal(given_up, bytes)
  try {
    // Not ended here: what was read is whole only once the transaction is.
    await pipeline(source(given_up), watched, bytes, { signal: given_up, end: false })
  } catch (error) {
    // A refusal by the database leaves the connection as good as it was; all else does not.
    if (!(error instanceof pg.DatabaseError)) drop()
    throw error
  } finally {
    given_up.removeEventListener('abort', drop)
  }
}

/**
 * Passes chunks on. Only time in which the reader is waited for counts against it: what the source
 * takes does not.
 */
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
      // The timer is what judges, so that it is never due at once.
      waited_ms = Math.min(waited_ms + now_ms() - began_ms, patience.wait_ms - 1)
    }
  }
}

/** A statement with its values in place of `$1` and so on, for what takes no parameters. */
export function inlined(statement: string, values: readonly (string | number | null)[]): string {
  return statement.replaceAll(/\$(\d+)/g, (place, index: string) => {
    const value = values[Number(index) - 1]
    if (value === undefined) throw new Error(`the statement has no value for ${place}`)
    return value === null ? 'NULL' : pg.escapeLiteral(String(value))
  })
}
