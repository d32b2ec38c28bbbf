import { createHash } from 'node:crypto'
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

/** A named statement is prepared once per connection. Use it for very frequent statements. */
type Statement = string | { readonly name: string; readonly text: string }

export interface Queries {
  /** The rows of a statement, or of several statements without values. */
  query<Row = Record<string, unknown>>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<Row[]>
  /** The first row; null if there is none. */
  queryOne<Row = Record<string, unknown>>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<Row | null>
  /** Runs a statement, or several without values. Returns the affected rows of the last one. */
  execute(statement: Statement, values?: readonly unknown[]): Promise<number>
}

type CopyLines = Iterable<string | Buffer> | AsyncIterable<string | Buffer>

export interface Transaction extends Queries {
  /**
   * `COPY <target> FROM STDIN` in text format; `target` is `table (columns)`, lines end in `\n`.
   */
  copyInto(target: string, lines: CopyLines): Promise<number>
  /**
   * Adds an item to those that `write` stores together, as the last statements before the commit:
   * locks that `write` takes are held only for the commit. The items of a savepoint that is rolled
   * back stay.
   */
  collect<Item>(write: CollectedWrite<Item>, item: Item): void
  /** The connection of the driver. Do not use it after the transaction. */
  readonly client: pg.PoolClient
}

type CollectedWrite<Item> = (transaction: Transaction, items: readonly Item[]) => Promise<void>

interface TransactionOptions {
  isolation?: 'read committed' | 'repeatable read' | 'serializable'
  read_only?: boolean
  /** Longest wait for each lock; unlimited by default. */
  lock_timeout_ms?: number
}

export interface Database extends Queries {
  readonly server_version: number
  /** Whether the tables of sites are distributed over the nodes of a Citus cluster. */
  readonly is_distributed: boolean
  /** For libraries that use the driver directly. Do not end it. */
  readonly pool: pg.Pool
  /** Connections of the pool; `waiting` counts requests for a connection. */
  connections(): { total: number; idle: number; waiting: number }
  /** Commits when `work` returns, rolls back when it throws, and rethrows. */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /** Resolves when the subscription is active. All channels share a separate connection. */
  listen(channel: string, listener: Listener): Promise<Subscription>
  close(): Promise<void>
}

interface DatabaseSettings {
  url: string
  log: Log
  application_name: string
  /** Size of the pool, without the listening connection. */
  max?: number
  /** 0 for none. */
  statement_timeout_ms?: number
  connect_timeout_ms?: number
  /** Lets the process exit with idle connections, for tests and short programs. */
  exit_on_idle?: boolean
}

/**
 * Opens a pool and checks the server: PostgreSQL 15 or newer, UTF8. Sessions use UTC and ISO dates.
 * A broken connection fails the current call; the pool replaces it at the next one.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const config = connectionConfig(settings)
  const pool = new pg.Pool(config)
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', (error) => {
    // Connections may be lost while the pool closes them.
    if (!pool.ending) settings.log.warn(plain(error), 'an idle database connection was lost')
  })
  try {
    const server_version = await checkServer(pool)
    const is_distributed = await hasDistributedSites(pool)
    return databaseOn(pool, { config, log: settings.log, server_version, is_distributed })
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
    // The server cancels statements of lost connections.
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

/** Appends our options to those in the URL, which take precedence. */
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

async function hasDistributedSites(pool: pg.Pool): Promise<boolean> {
  const citus = await pool.query(`SELECT FROM pg_extension WHERE extname = 'citus'`)
  if (citus.rowCount === 0) return false
  const sites = await pool.query(
    `SELECT FROM pg_dist_partition
     WHERE logicalrelid = to_regclass('public.sites') AND partmethod = 'h'`,
  )
  return sites.rowCount === 1
}

/** Throws a message for the operator when the server is unsupported. */
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

interface Connected extends Pick<Database, 'server_version' | 'is_distributed'> {
  config: pg.PoolConfig
  log: Log
}

function databaseOn(pool: pg.Pool, { config, log, ...facts }: Connected): Database {
  const listening = new ListenConnection(config, log)
  return {
    ...queriesOn((query) => queryPool(pool, query)),
    pool,
    ...facts,
    connections: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    listen: (channel, listener) => listening.listen(channel, listener),
    async transaction(work, options = {}) {
      const client = await pool.connect()
      // A connection lost between two statements; the next statement throws.
      const lost = (error: Error) => {
        // `queryClient` destroys the connection of a reader that is gone.
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

/**
 * Prepares each statement once per connection, which saves most of the time of small statements.
 * For work that runs the same few statements over and over, such as one round over all sites.
 */
export function prepared(db: Database): Database {
  return {
    ...db,
    ...preparing(db),
    transaction: (work, options) =>
      db.transaction((transaction) => work({ ...transaction, ...preparing(transaction) }), options),
  }
}

function preparing({ query, queryOne, execute }: Queries): Queries {
  // Without values there may be several statements, which cannot be prepared.
  const named = (statement: Statement, values: readonly unknown[] = []) =>
    typeof statement === 'string' && values.length > 0
      ? { name: createHash('sha1').update(statement).digest('hex'), text: statement }
      : statement
  return {
    query: (statement, values) => query(named(statement, values), values),
    queryOne: (statement, values) => queryOne(named(statement, values), values),
    execute: (statement, values) => execute(named(statement, values), values),
  }
}

/** The loggable part of a driver error, which carries the whole client. */
const plain = ({ message, code }: Error & { code?: string }) => ({ message, code })

type Run = (query: pg.QueryConfig) => Promise<pg.QueryResult | pg.QueryResult[]>

function queriesOn(runQuery: Run): Queries {
  const run = (statement: Statement, values: readonly unknown[] = []) => {
    const query = typeof statement === 'string' ? { text: statement } : { ...statement }
    // Without values the driver uses the simple protocol, which allows several statements.
    return runQuery(values.length > 0 ? { ...query, values: [...values] } : query)
  }
  const query = async <Row>(statement: Statement, values?: readonly unknown[]) => {
    const results = await run(statement, values)
    const rows = Array.isArray(results) ? results.flatMap((each) => each.rows) : results.rows
    return rows as Row[]
  }
  return {
    query,
    queryOne: async <Row>(...given: Parameters<Queries['query']>) =>
      (await query<Row>(...given))[0] ?? null,
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
  // The query itself rejects when the connection is lost.
  client.on('error', ignore)
  try {
    const result = await queryClient(client, query)
    client.release()
    return result
  } catch (error) {
    // Only after an error of the database itself is the connection still usable.
    client.release(!(error instanceof pg.DatabaseError))
    throw error
  } finally {
    client.off('error', ignore)
  }
}

/** Destroys the connection when the reader is gone, as nothing else ends a running statement. */
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
  { isolation, read_only, lock_timeout_ms }: TransactionOptions,
): Promise<Result> {
  const level = isolation ? ` ISOLATION LEVEL ${isolation}` : ''
  const locks = lock_timeout_ms ? `; SET LOCAL lock_timeout = ${lock_timeout_ms}` : ''
  await client.query(`BEGIN${level}${read_only ? ' READ ONLY' : ''}${locks}`)
  const collected = new Map<CollectedWrite<unknown>, unknown[]>()
  const transaction: Transaction = {
    ...queriesOn((query) => queryClient(client, query)),
    client,
    async copyInto(target, lines) {
      const copy = client.query(copyFrom(`COPY ${target} FROM STDIN`))
      try {
        await pipeline(Readable.from(lines), copy)
      } catch (error) {
        throw withCode(error)
      }
      return copy.rowCount
    },
    collect(write, item) {
      const items = collected.get(write as CollectedWrite<unknown>)
      if (items) items.push(item)
      else collected.set(write as CollectedWrite<unknown>, [item])
    },
  }
  const result = await work(transaction)
  for (const [write, items] of collected) await write(transaction, items)
  const { command } = await client.query('COMMIT')
  // PostgreSQL answers COMMIT with ROLLBACK when `work` ignored a failed statement.
  if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back')
  return result
}

/** Citus reports errors of workers during COPY as internal ones (XX000), with the same message. */
const violations: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, '23505'],
  [/violates check constraint/, '23514'],
  [/violates foreign key constraint/, '23503'],
  [/violates not-null constraint/, '23502'],
]

function withCode(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || error.code !== 'XX000') return error
  const code = violations.find(([pattern]) => pattern.test(error.message))?.[1]
  return code === undefined ? error : Object.assign(error, { code })
}

/** Returns whether the connection is unusable and must leave the pool. */
async function rollbackFailed(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    return false
  } catch {
    return true
  }
}
