import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { ListenConnection, type Listener, type Subscription } from './listen.ts'
import type { Log } from './log.ts'
import { readerGone } from './reader.ts'
import { types } from './values.ts'

export type { Log }

const server_version_min = 15

/**
 * A named statement is prepared once per connection; use it where the same text runs very often.
 */
type Statement = string | { readonly name: string; readonly text: string }

export interface Queries {
  /** The rows of one statement, or of several without values, one after the other. */
  query<Row = Record<string, unknown>>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<Row[]>
  /**
   * Runs one statement, or several without values, and returns the number of rows (last) affected.
   */
  execute(statement: Statement, values?: readonly unknown[]): Promise<number>
}

type CopyLines = Iterable<string | Buffer> | AsyncIterable<string | Buffer>

export interface Transaction extends Queries {
  /**
   * `COPY <target> FROM STDIN` in text format; `target` is `table (columns)`, lines end in `\n`.
   */
  copyInto(target: string, lines: CopyLines): Promise<number>
  /** The driver's connection, for what this interface leaves out. Never keep it. */
  readonly client: pg.PoolClient
}

interface TransactionOptions {
  isolation?: 'read committed' | 'repeatable read' | 'serializable'
  read_only?: boolean
}

export interface Database extends Queries {
  readonly server_version: number
  /** For libraries that run on the driver themselves. Never end it. */
  readonly pool: pg.Pool
  /** Connections of the pool; `waiting` are those who ask for one. */
  connections(): { total: number; idle: number; waiting: number }
  /** Commits when `work` returns and rolls back when it throws; the error passes through. */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /** Resolves when the channel is being listened to. All channels share one own connection. */
  listen(channel: string, listener: Listener): Promise<Subscription>
  close(): Promise<void>
}

interface DatabaseSettings {
  url: string
  log: Log
  application_name: string
  /** Connections in the pool; the listening one comes on top. */
  max?: number
  /** 0 for none. */
  statement_timeout_ms?: number
  connect_timeout_ms?: number
  /** True lets the process end while connections are idle. For tests and short programs. */
  exit_on_idle?: boolean
}

/**
 * Opens a pool and checks the server once: PostgreSQL 15 or newer, UTF8.
 * Every session runs in UTC with ISO dates. A connection that breaks is an error to whoever used
 * it; the pool replaces it at the next call.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const config = connectionConfig(settings)
  const pool = new pg.Pool(config)
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => {
    // The pool does not wait for the connections that it closes.
    if (!pool.ending) settings.log.warn(plain(error), 'an idle database connection was lost')
  })
  try {
    const server_version = await checkServer(pool)
    return databaseOn(pool, { config, log: settings.log, server_version })
  } catch (error) {
    await pool.end()
    throw error
  }
}

function connectionConfig(settings: DatabaseSettings): pg.PoolConfig {
  const session = [
    'TimeZone=UTC',
    'DateStyle=ISO,YMD',
    'extra_float_digits=1',
    // The server ends a statement once the connection that asked for it is gone.
    'client_connection_check_interval=1000',
    `statement_timeout=${settings.statement_timeout_ms ?? 60_000}`,
  ]
  return {
    connectionString: withOptions(settings.url, session.map((option) => `-c ${option}`).join(' ')),
    application_name: settings.application_name,
    max: settings.max ?? 10,
    connectionTimeoutMillis: settings.connect_timeout_ms ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    allowExitOnIdle: settings.exit_on_idle ?? false,
    types,
  }
}

/** Options in the URL would replace ours in the driver, so they are joined; theirs win. */
function withOptions(url: string, options: string): string {
  const given = /([?&]options=)([^&#]*)/
  if (given.test(url)) return url.replace(given, `$1${encodeURIComponent(`${options} `)}$2`)
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`
}

async function checkServer(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ version: number; text: string; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version,
            current_setting('server_version') AS text,
            current_setting('server_encoding') AS encoding`,
  )
  checkSupported(rows[0]!)
  return rows[0]!.version
}

/** Throws what an operator needs to know when this server cannot hold our data. */
export function checkSupported(server: { version: number; text: string; encoding: string }): void {
  if (server.version < server_version_min * 10_000) {
    throw new Error(
      `the database runs PostgreSQL ${server.text}; Heliograph needs ${server_version_min} or newer`,
    )
  }
  if (server.encoding !== 'UTF8') {
    throw new Error(`the database is encoded in ${server.encoding}; Heliograph needs UTF8`)
  }
}

interface Connected {
  config: pg.PoolConfig
  log: Log
  server_version: number
}

function databaseOn(pool: pg.Pool, { config, log, server_version }: Connected): Database {
  const listening = new ListenConnection(config, log)
  return {
    ...queriesOn((query) => queryPool(pool, query)),
    pool,
    server_version,
    connections: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    listen: (channel, listener) => listening.listen(channel, listener),
    async transaction(work, options = {}) {
      const client = await pool.connect()
      // A connection lost between two statements reports here first; the next statement throws it.
      const lost = (error: Error) => {
        // That of a reader who is gone was cut off by us.
        if (!readerGone()?.aborted) log.warn(plain(error), 'a database connection was lost')
      }
      client.on('error', lost)
      try {
        const result = await runTransaction(client, work, options)
        client.release()
        return result
      } catch (error) {
        client.release(await rollbackFailed(client))
        throw error
      } finally {
        client.off('error', lost)
      }
    },
    async close() {
      await listening.close()
      await pool.end()
    },
  }
}

/** The driver hangs its whole client on an error: the log takes what a reader needs of it. */
const plain = ({ message, code }: Error & { code?: string }) => ({ message, code })

type Run = (query: pg.QueryConfig) => Promise<pg.QueryResult | pg.QueryResult[]>

function queriesOn(runQuery: Run): Queries {
  const run = (statement: Statement, values: readonly unknown[] = []) => {
    const query = typeof statement === 'string' ? { text: statement } : { ...statement }
    // No values: the simple protocol, which runs several statements in one text.
    return runQuery(values.length > 0 ? { ...query, values: [...values] } : query)
  }
  return {
    async query<Row>(statement: Statement, values?: readonly unknown[]) {
      const results = await run(statement, values)
      const rows = Array.isArray(results) ? results.flatMap((each) => each.rows) : results.rows
      return rows as Row[]
    },
    async execute(statement, values) {
      const results = [await run(statement, values)].flat()
      return results.at(-1)?.rowCount ?? 0
    },
  }
}

async function queryPool(pool: pg.Pool, query: pg.QueryConfig) {
  const gone = readerGone()
  if (!gone) return pool.query(query)
  gone.throwIfAborted()
  const client = await pool.connect()
  const ignore = () => {}
  // The loss of the connection is told by the query itself.
  client.on('error', ignore)
  try {
    const result = await queryClient(client, query)
    client.release()
    return result
  } catch (error) {
    // A refusal by the database leaves the connection as good as it was; all else does not.
    client.release(!(error instanceof pg.DatabaseError))
    throw error
  } finally {
    client.off('error', ignore)
  }
}

/** A statement that runs goes on, and only the loss of its connection ends it. */
async function queryClient(client: pg.PoolClient, query: pg.QueryConfig) {
  const gone = readerGone()
  if (!gone) return client.query(query)
  gone.throwIfAborted()
  const drop = () => void client.connection.stream.destroy()
  gone.addEventListener('abort', drop)
  try {
    return await client.query(query)
  } catch (error) {
    throw gone.aborted ? gone.reason : error
  } finally {
    gone.removeEventListener('abort', drop)
  }
}

async function runTransaction<Result>(
  client: pg.PoolClient,
  work: (transaction: Transaction) => Promise<Result>,
  { isolation, read_only }: TransactionOptions,
): Promise<Result> {
  const level = isolation ? ` ISOLATION LEVEL ${isolation}` : ''
  await client.query(`BEGIN${level}${read_only ? ' READ ONLY' : ''}`)
  const result = await work({
    ...queriesOn((query) => queryClient(client, query)),
    client,
    async copyInto(target, lines) {
      const copy = client.query(copyFrom(`COPY ${target} FROM STDIN`))
      await pipeline(Readable.from(lines), copy)
      return copy.rowCount
    },
  })
  const { command } = await client.query('COMMIT')
  // PostgreSQL answers COMMIT with ROLLBACK when a statement had failed and `work` went on.
  if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back')
  return result
}

/** True when the connection is unusable and must leave the pool. */
async function rollbackFailed(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    return false
  } catch {
    return true
  }
}
