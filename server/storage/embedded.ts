import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, realpath, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import {
  type Cluster,
  giveToAccount,
  nameFor,
  port,
  prepareCluster,
  superuser,
  writeConfiguration,
} from './cluster.ts'
import type { Log } from './database.ts'
import { takeLock } from './lock.ts'
import { endOrphans } from './orphans.ts'

interface EmbeddedSettings {
  data_dir: string
  log: Log
  /** A directory with `bin/postgres` and `bin/initdb`. Defaults to the installed package. */
  programs_dir?: string
  /** False disables fsync, for tests only. */
  durable?: boolean
  /** Crash recovery can take minutes. */
  start_timeout_s?: number
  stop_timeout_s?: number
}

interface EmbeddedExit {
  /** True after `stop()`. */
  expected: boolean
  reason: string
}

export interface EmbeddedServer {
  /** For `openDatabase`: a Unix socket, with database and superuser `heliograph`. */
  url: string
  /** Process id of the postmaster. */
  pid: number
  /** Resolves when PostgreSQL has ended. The server must end too when this is unexpected. */
  exited: Promise<EmbeddedExit>
  /** Fast shutdown: rolls open transactions back and flushes. */
  stop(): Promise<void>
}

const poll_ms = 10
const orphan_patience_ms = 30_000

/**
 * Starts PostgreSQL on `<data_dir>/postgres/cluster`, which is created if needed, and ends
 * processes that a killed owner left. Throws when a living process owns the directory.
 */
export async function startEmbedded(settings: EmbeddedSettings): Promise<EmbeddedServer> {
  await mkdir(settings.data_dir, { recursive: true })
  const data_dir = await realpath(settings.data_dir)
  const home = path.join(data_dir, 'postgres')
  await mkdir(home, { recursive: true, mode: 0o711 })
  const lock = await takeLock(path.join(home, 'lock'), `the data directory ${data_dir}`)
  try {
    const cluster = await prepareCluster(data_dir, settings)
    return await start(cluster, settings, () => lock.release())
  } catch (error) {
    lock.release()
    throw error
  }
}

async function start(
  cluster: Cluster,
  settings: EmbeddedSettings,
  release: () => void,
): Promise<EmbeddedServer> {
  const { directory, name, socket_dir } = cluster
  const orphans = await endOrphans(name, orphan_patience_ms)
  if (orphans > 0) {
    settings.log.warn({ processes: orphans }, 'ended database processes of an earlier server')
  }
  // These files are stale. PostgreSQL would trust the process id in them, which may be reused.
  await rm(path.join(directory, 'postmaster.pid'), { force: true })
  await rm(path.join(socket_dir, `.s.PGSQL.${port}.lock`), { force: true })
  await giveToAccount(cluster)
  await writeConfiguration(cluster)
  const { child, ending } = await spawnPostmaster(cluster)
  const { exited, stop } = supervise(child, {
    ending,
    stop_timeout_s: settings.stop_timeout_s ?? 60,
    async ended() {
      if (socket_dir !== directory) await rm(socket_dir, { recursive: true, force: true })
      release()
    },
    lastWords: () => lastWords(cluster),
  })
  try {
    await becomesReady({ child, exited, cluster, settings })
    const url = await ensureDatabase(socket_dir)
    return { url, pid: child.pid!, exited, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Ending = [code: number | null, signal: NodeJS.Signals | null]

interface Postmaster {
  child: ChildProcess
  ending: Promise<Ending>
}

async function spawnPostmaster(cluster: Cluster): Promise<Postmaster> {
  const { home, directory, name, account, programs, socket_dir } = cluster
  const args = [
    '-D',
    await nameFor(account, directory),
    '-c',
    `cluster_name=${name}`,
    ...(socket_dir === directory ? [] : ['-c', `unix_socket_directories=${socket_dir}`]),
  ]
  const messages = await open(path.join(home, 'start.log'), 'w', 0o600)
  try {
    const child = spawn(programs.postgres, args, {
      ...account,
      cwd: directory,
      env: {},
      // A separate session, so that Ctrl-C in a terminal does not stop the database before us.
      detached: true,
      stdio: ['ignore', messages.fd, messages.fd],
    })
    // Subscribed before the first await: with a bad setting the process ends within milliseconds.
    const ending = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) => resolve([code, signal]))
    })
    await once(child, 'spawn')
    return { child, ending }
  } finally {
    await messages.close()
  }
}

interface Supervision {
  ending: Promise<Ending>
  stop_timeout_s: number
  ended(): Promise<void>
  lastWords(): Promise<string>
}

function supervise(child: ChildProcess, { ending, stop_timeout_s, ended, lastWords }: Supervision) {
  let expected = false
  const exited = ending.then(async ([code, signal]): Promise<EmbeddedExit> => {
    await ended()
    const how = `PostgreSQL ended ${signal ? `by ${signal}` : `with code ${code}`}`
    return { expected, reason: expected ? how : `${how}, and wrote last:\n${await lastWords()}` }
  })
  const endsWithin = (seconds: number) => {
    const timer = new AbortController()
    const bound = delay(seconds * 1000, false, { signal: timer.signal }).catch(() => false)
    return Promise.race([exited.then(() => true), bound]).finally(() => timer.abort())
  }
  async function stop(): Promise<void> {
    expected = true
    // Fast shutdown, then immediate (recovery at the next start), then kill.
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      child.kill(signal)
      if (await endsWithin(signal === 'SIGINT' ? stop_timeout_s : 10)) return
    }
    throw new Error(`PostgreSQL (process ${child.pid}) does not end`)
  }
  return { exited, stop }
}

interface Starting {
  child: ChildProcess
  exited: Promise<EmbeddedExit>
  cluster: Cluster
  settings: EmbeddedSettings
}

/** Waits for `ready` in line 8 of postmaster.pid. */
async function becomesReady({ child, exited, cluster, settings }: Starting): Promise<void> {
  const { log, start_timeout_s = 600 } = settings
  const file = path.join(cluster.directory, 'postmaster.pid')
  for (let waited_ms = 0; waited_ms < start_timeout_s * 1000; waited_ms += poll_ms) {
    const lines = await readFile(file, 'utf8').then(
      (text) => text.split('\n').map((line) => line.trim()),
      () => [],
    )
    if (lines[0] === String(child.pid) && lines[7] === 'ready') return
    if (child.exitCode !== null || child.signalCode !== null) throw new Error((await exited).reason)
    if (waited_ms > 0 && waited_ms % 10_000 === 0) log.info({ waited_ms }, 'the database recovers')
    await delay(poll_ms)
  }
  throw new Error(`the database was not ready within ${start_timeout_s} s`)
}

async function ensureDatabase(socket_dir: string): Promise<string> {
  const url = (database: string) =>
    `postgres://${superuser}@localhost:${port}/${database}?host=${encodeURIComponent(socket_dir)}`
  const client = new pg.Client({ connectionString: url('postgres') })
  client.on('error', () => {}) // the running statement throws it too
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      superuser,
    ])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${superuser}`)
  } finally {
    await client.end()
  }
  return url(superuser)
}

/** The last lines of the logs of PostgreSQL, for error messages. */
async function lastWords({ home, directory }: Cluster): Promise<string> {
  const files = [path.join(home, 'start.log'), ...(await currentLog(directory))]
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  return texts.flatMap((text) => text.trim().split('\n').slice(-8)).join('\n')
}

async function currentLog(directory: string): Promise<string[]> {
  const list = await readFile(path.join(directory, 'current_logfiles'), 'utf8').catch(() => '')
  const [, name] = /^stderr (.*)$/m.exec(list) ?? []
  return name ? [path.join(directory, name)] : []
}
