/** `COPY (query) TO STDOUT` as a stream, in the memory of its buffers whatever the rows are. */
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Timers } from '@heliograph/domain/clock'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Database } from './database.ts'

export interface CopyOrder {
  /** The whole statement. COPY takes no parameters: see `inlined`. */
  statement: string
  /** Bound on the whole of it, the reader's time included. */
  timeout_ms: number
  /** A reader that takes nothing for so long is given up. */
  stall_ms: number
  timers: Timers
  /** Ends it: the query is cancelled and its connection leaves the pool at once. */
  signal: AbortSignal
}

export interface Copying {
  /** Ends only once the statement is known to have succeeded; else it is destroyed. */
  bytes: Readable
  /** Resolves, whatever came of it, when the connection is no longer in use. */
  released: Promise<void>
}

/**
 * Starts a COPY in a read-only transaction of its own. A reader that does not read stops the
 * database from sending. Errors, the database's own among them, are those of `bytes`.
 */
export function copyOut(db: Database, order: CopyOrder): Copying {
  const bytes = new PassThrough()
  const work = db.transaction(
    async (tx) => {
      order.signal.throwIfAborted()
      // A reader that goes away is noticed also while the database sorts and sends nothing.
      await tx.execute(
        `SET LOCAL statement_timeout = ${order.timeout_ms};
         SET LOCAL client_connection_check_interval = ${connection_check_ms}`,
      )
      await copy(tx.client, bytes, order)
    },
    { read_only: true },
  )
  const released = work.then(
    () => void bytes.end(),
    (error: Error) => void bytes.destroy(error),
  )
  return { bytes, released }
}

const connection_check_ms = 1000

async function copy(
  client: pg.PoolClient,
  bytes: PassThrough,
  { statement, stall_ms, timers, signal }: CopyOrder,
): Promise<void> {
  const rows = client.query(copyTo(statement))
  // What the end of its connection tells it after an abort has been told already.
  rows.on('error', () => {})
  const stalled = new AbortController()
  async function* watched(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      const cancel = timers.after(stall_ms, () => stalled.abort(new Error('the reader stalled')))
      try {
        yield chunk
      } finally {
        cancel()
      }
    }
  }
  try {
    // Not ended here: what was read is whole only once the transaction is.
    await pipeline(rows, watched, bytes, {
      signal: AbortSignal.any([signal, stalled.signal]),
      end: false,
    })
  } catch (error) {
    // A refusal by the database leaves the connection as good as it was. In all other cases the
    // statement goes on, and only the loss of its connection ends it.
    if (!(error instanceof pg.DatabaseError)) client.connection.stream.destroy()
    throw error
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
