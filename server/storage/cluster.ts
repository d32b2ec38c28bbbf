import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Account, chooseAccount, isReplaced, namedAccount, takeOver } from './account.ts'
import type { Log } from './database.ts'
import { canEnter, findPrograms, flush, type Programs } from './programs.ts'

export interface Cluster {
  /** `<data_dir>/postgres`: lock, configuration, start messages, and the cluster. */
  home: string
  directory: string
  name: string
  account: Account
  programs: Programs
  socket_dir: string
  durable: boolean
}

export const superuser = 'heliograph'
export const port = 5432

/** Maximum path of a Unix socket, without the terminating zero. */
const socket_path_max = process.platform === 'linux' ? 107 : 103

/** The stopped cluster of a locked data directory, created if needed. */
export async function prepareCluster(
  data_dir: string,
  settings: { log: Log; programs_dir?: string; durable?: boolean },
): Promise<Cluster> {
  const home = path.join(data_dir, 'postgres')
  const directory = path.join(home, 'cluster')
  const durable = settings.durable ?? true
  const account = await chooseAccount([directory, data_dir])
  const copy_dir = account ? '/var/cache/heliograph' : path.join(home, 'programs')
  const programs = await findPrograms({ account, copy_dir, programs_dir: settings.programs_dir })
  if (!(await stat(directory).catch(() => undefined))) {
    settings.log.info({ directory, version: programs.major }, 'making the database')
    await initialise({ home, directory, account, programs, durable })
  }
  await checkCluster(directory, account, programs)
  const { ino } = await stat(directory)
  const id = createHash('sha256').update(`${directory} ${ino}`).digest('hex').slice(0, 16)
  const socket_dir = await chooseSocketDir(directory, id, account)
  const name = `heliograph-${id}`
  return { home, directory, name, account, programs, socket_dir, durable }
}

/** Creates the cluster under a temporary name, flushes and renames it: `cluster` is complete. */
async function initialise(
  cluster: Pick<Cluster, 'home' | 'directory' | 'account' | 'programs' | 'durable'>,
): Promise<void> {
  const { home, directory, account, programs, durable } = cluster
  const making = path.join(home, 'cluster.new')
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { mode: 0o700 })
  const maker = await namedAccount(account)
  if (maker) await chown(making, maker.uid, maker.gid)
  const locale =
    programs.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []
  const args = [
    '-D',
    await nameFor(maker, making),
    '-U',
    superuser,
    '--encoding=UTF8',
    '--locale=C',
    ...locale,
    // Only this account can enter the directory of the socket.
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ]
  try {
    await promisify(execFile)(programs.initdb, args, { ...maker, cwd: making, env: {} })
  } catch (error) {
    throw new Error(`the database could not be made in ${directory}`, { cause: error })
  }
  if (account && maker !== account) await takeOver(making, account)
  await rename(making, directory)
  await flush(home)
}

/**
 * A path of the directory for the account. When the account cannot enter a parent, such as the home
 * of root, it can still use its working directory, which PostgreSQL 16 and newer keep in PGDATA.
 */
export async function nameFor(account: Account, directory: string): Promise<string> {
  if (await canEnter(account, directory)) return directory
  if (process.platform === 'linux') return '/proc/self/cwd'
  throw new Error(`user ${account?.uid} cannot enter ${directory}: choose another data directory`)
}

/** Hands a cluster of an old version over to the account; no process of it may be running. */
export async function giveToAccount({ directory, account }: Cluster): Promise<void> {
  const { uid } = await stat(path.join(directory, 'PG_VERSION'))
  if (account && isReplaced(uid, account)) await takeOver(directory, account)
}

async function checkCluster(directory: string, account: Account, programs: Programs) {
  const { uid } = await stat(directory)
  const needed = account?.uid ?? process.getuid?.()
  if (uid !== needed && !isReplaced(uid, account)) {
    throw new Error(`${directory} belongs to user ${uid}, not to ${needed}: start as that user`)
  }
  const made_by = (await readFile(path.join(directory, 'PG_VERSION'), 'utf8')).trim()
  if (made_by !== String(programs.major)) {
    throw new Error(
      `${directory} was made by PostgreSQL ${made_by} and this is ${programs.major}: dump it with the old version and restore it into a new data directory`,
    )
  }
}

/** PGDATA, or a private temporary directory when its path is too long for a socket. */
async function chooseSocketDir(directory: string, id: string, account: Account): Promise<string> {
  if (Buffer.byteLength(`${directory}/.s.PGSQL.${port}`) <= socket_path_max) return directory
  const socket_dir = path.join(os.tmpdir(), `heliograph-${id}`)
  const left = await lstat(socket_dir).catch(() => undefined)
  if (left && isReplaced(left.uid, account)) await rm(socket_dir, { recursive: true })
  const made = await mkdir(socket_dir, { mode: 0o700 }).then(
    () => true,
    (error) => {
      if (error.code !== 'EEXIST') throw error
      return false
    },
  )
  if (made && account) await chown(socket_dir, account.uid, account.gid)
  const found = await lstat(socket_dir)
  const uid = account?.uid ?? process.getuid?.()
  // In a shared directory, another user may have created it first to receive our queries.
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${socket_dir} must be a directory that belongs to user ${uid} alone; remove it`,
    )
  }
  return socket_dir
}

/** Defaults for small machines, such as an industrial PC. `local.conf` overrides them. */
function configuration(durable: boolean): string {
  const settings: Record<string, string> = {
    // Only the Unix socket in a private directory.
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    max_connections: '60',
    shared_buffers: '128MB',
    effective_cache_size: '512MB',
    maintenance_work_mem: '64MB',
    work_mem: '8MB',
    wal_compression: 'on',
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    // For short queries, compilation costs more than it saves.
    jit: 'off',
    autovacuum: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    datestyle: 'ISO,YMD',
    // One log file per weekday, truncated when its day returns.
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgres-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_checkpoints: 'off',
    ...(durable
      ? // Edges delete readings once their commit was acknowledged.
        { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`)
  return [
    '# Written at every start. Settings of your own belong into local.conf beside this file.',
    ...lines,
    "include_if_exists 'local.conf'",
    '',
  ].join('\n')
}

/** Written to a new file and renamed, to follow no symbolic link of another process. */
export async function writeConfiguration({ directory, durable }: Cluster): Promise<void> {
  const file = path.join(directory, 'postgresql.conf')
  await rm(`${file}.new`, { force: true })
  await writeFile(`${file}.new`, configuration(durable), { flag: 'wx', mode: 0o644 })
  await chmod(`${file}.new`, 0o644)
  await rename(`${file}.new`, file)
}
