/** Access to the configured database for one command. */
import { mkdir, readFile, realpath } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServerConfig } from '@heliograph/server/config'
import { port, superuser } from '@heliograph/server/storage/cluster'
import { type Database, type Log, openDatabase } from '@heliograph/server/storage/database'
import { type EmbeddedServer, startEmbedded } from '@heliograph/server/storage/embedded'
import { type Lock, LockHeld, takeLock } from '@heliograph/server/storage/lock'
import { migrate } from '@heliograph/server/storage/migrate'

type Work<Result> = (db: Database) => Promise<Result>
type WorkAt<Result> = (url: string) => Promise<Result>

const poll_ms = 50
/** Timeout for another command to end, or for a starting server to respond. */
const patience_ms = 60_000

/** Connection errors of a database that is not running. */
const absent = new Set(['ECONNREFUSED', 'ENOENT', '57P03'])

/**
 * Runs `work` with the schema up to date. Without DATABASE_URL that is the embedded PostgreSQL of
 * the data directory: the running server's, else one that lives as long as the command does.
 */
export async function withDatabase<Result>(
  config: Pick<ServerConfig, 'database_url' | 'data_dir'>,
  log: Log,
  work: Work<Result>,
): Promise<Result> {
  if (config.database_url !== null) {
    return workOn(await open(config.database_url), work)
  }
  await mkdir(config.data_dir, { recursive: true })
  const data_dir = await realpath(config.data_dir)
  // One command at a time: another command would stop the database that it started.
  const turn = await takeTurn(data_dir)
  try {
    return await withEmbedded(data_dir, log, async (url) => workOn(await open(url), work))
  } finally {
    turn.release()
  }
}

/**
 * Runs `work` on the embedded PostgreSQL of the data directory without migrating it. Other commands
 * do not wait for it while a server is running.
 */
export async function withEmbeddedAsItIs<Result>(
  given_dir: string,
  log: Log,
  work: (at: { url: string; data_dir: string }) => Promise<Result>,
): Promise<Result> {
  const data_dir = await realpath(given_dir)
  const turn = await takeTurn(data_dir)
  try {
    return await withEmbedded(data_dir, log, (url) => work({ url, data_dir }), turn.release)
  } finally {
    turn.release()
  }
}

async function workOn<Result>(db: Database, work: Work<Result>): Promise<Result> {
  try {
    await migrate(db)
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Lost connections are reported by the command itself, so the log stays silent. */
const silent: Log = { info() {}, warn() {}, error() {} }

function open(url: string): Promise<Database> {
  return openDatabase({ url, log: silent, application_name: 'heliograph-cli', max: 1 })
}

async function takeTurn(data_dir: string): Promise<Lock> {
  for (let waited_ms = 0; ; waited_ms += poll_ms) {
    try {
      return await takeLock(path.join(data_dir, 'cli-lock'), 'the command line')
    } catch (error) {
      if (!(error instanceof LockHeld) || waited_ms >= patience_ms) throw error
    }
    await delay(poll_ms)
  }
}

async function withEmbedded<Result>(
  data_dir: string,
  log: Log,
  work: WorkAt<Result>,
  onRunning: () => void = () => {},
): Promise<Result> {
  for (let waited_ms = 0; ; waited_ms += poll_ms) {
    const starting = startEmbedded({ data_dir, log })
    const release = stopOnSignal(starting)
    try {
      const server = await starting
      try {
        return await work(server.url)
      } finally {
        await server.stop()
      }
    } catch (error) {
      if (!(error instanceof LockHeld) || waited_ms >= patience_ms) throw error
    } finally {
      release()
    }
    const url = await runningUrl(data_dir)
    if (url !== undefined) {
      onRunning()
      return work(url)
    }
    await delay(poll_ms)
  }
}

/** PostgreSQL runs in its own session and would survive this process, so signals stop it first. */
function stopOnSignal(starting: Promise<EmbeddedServer>): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const stop = (signal: (typeof signals)[number]) => {
    const exit = () => process.exit(128 + os.constants.signals[signal])
    starting.then((server) => server.stop()).then(exit, exit)
  }
  for (const signal of signals) process.once(signal, stop)
  return () => {
    for (const signal of signals) process.off(signal, stop)
  }
}

/** URL of the running database of the data directory; undefined while it does not respond. */
async function runningUrl(data_dir: string): Promise<string | undefined> {
  const cluster_dir = path.join(data_dir, 'postgres/cluster')
  try {
    // The fifth line of PostgreSQL's process file is the directory of its socket.
    const lines = (await readFile(path.join(cluster_dir, 'postmaster.pid'), 'utf8')).split('\n')
    const socket_dir = path.resolve(cluster_dir, lines[4] ?? '')
    const host = encodeURIComponent(socket_dir)
    const url = `postgres://${superuser}@localhost:${port}/${superuser}?host=${host}`
    await (await open(url)).close()
    return url
  } catch (error) {
    if (absent.has((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}
