/**
 * Online backup of the embedded database by PostgreSQL's low-level interface: the current files of
 * the cluster, and the write-ahead log from start to end. Replaying the log makes the files
 * consistent as of the end.
 * https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '@heliograph/domain/clock'
import pg from 'pg'
import { type BackupTarget, checksum, newBackup } from './backup-files.ts'
import { type BackedUpFile, type Manifest, manifestText } from './backup-manifest.ts'
import type { Log } from './log.ts'
import { countRows, rowsBetween } from './row-counts.ts'

interface BackupOrder {
  /** The running embedded database of this data directory, as superuser. */
  url: string
  data_dir: string
  /** Unused name of a directory, or of a file when it ends in `.tar`. */
  target: string
  clock: Clock
  log: Log
}

interface BackupReport {
  backup: string
  started_at: string
  finished_at: string
  files: number
  bytes: number
}

/** Advisory lock of backups: the letters `hg-back` as a number. */
const advisory_lock = String(0x68672d6261636bn)
const chunk_bytes = 256 * 1024

/** Directories that PostgreSQL needs empty. */
const emptied = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'log',
])
const wal_directories = ['pg_wal', 'pg_wal/archive_status', 'pg_wal/summaries']
const left_out = [
  /^(postmaster\.(pid|opts)|current_logfiles|backup_label|tablespace_map|backup_manifest)/,
  /(^|\/)(pgsql_tmp|pg_internal\.init)/,
  /\/t\d+_\d+(_[a-z]+)?(\.\d+)?$/, // temporary tables
  /\.(new|tmp)$/,
]
const control_file = 'global/pg_control'

/**
 * Makes a backup that contains everything committed before its `finished_at`. Writes continue
 * meanwhile. Throws when another backup of this database is running or the target exists, and
 * removes the incomplete backup. A killed process leaves `<target>.partial`.
 */
export async function backUp(order: BackupOrder): Promise<BackupReport> {
  // One session for the whole backup: when it ends, PostgreSQL ends the backup and drops the slot.
  const session = new pg.Client({
    connectionString: order.url,
    application_name: 'heliograph-backup',
    statement_timeout: 0,
  })
  session.on('error', () => {}) // the running statement throws it too
  await session.connect()
  try {
    const [lock] = await rows<{ taken: boolean }>(
      session,
      'SELECT pg_try_advisory_lock($1) AS taken',
      [advisory_lock],
    )
    if (!lock?.taken) throw new Error('another backup of this database is running')
    const target = await newBackup(order.target)
    try {
      return await writeBackup(session, target, order)
    } catch (error) {
      await target.abandon()
      throw new Error('no backup was made', { cause: error })
    }
  } finally {
    await session.end()
  }
}

async function writeBackup(
  session: pg.Client,
  target: BackupTarget,
  { data_dir, target: name, clock, log }: BackupOrder,
): Promise<BackupReport> {
  const cluster_dir = path.join(data_dir, 'postgres/cluster')
  const started_at = clock.now().toISOString()
  const about = await aboutDatabase(session)
  const countAll = () => countRows(async (statement) => (await session.query(statement)).rows)
  const before = await countAll()
  const start_lsn = await start(session, `heliograph ${started_at}`)
  log.info({ start_lsn }, 'backing up')
  const files: BackedUpFile[] = []
  const add = async (file: string, content: FileContent) => {
    const sum = checksum(content.chunks)
    await target.add(`cluster/${file}`, content.bytes, sum.chunks)
    files.push({ path: file, ...sum.result() })
  }
  const found = await filesOf(cluster_dir)
  for (const file of found.files)
    await withFile(path.join(cluster_dir, file), (it) => add(file, it))
  await add(control_file, inMemory(await readControl(path.join(cluster_dir, control_file))))
  // Taken before the end: later commits may be missing in the saved log.
  const finished_at = clock.now().toISOString()
  const { stop_lsn, label, segments } = await stop(session, start_lsn)
  await add('backup_label', inMemory(Buffer.from(label)))
  for (const segment of segments) {
    const file = `pg_wal/${segment}`
    const there = await withFile(path.join(cluster_dir, file), (it) => add(file, it))
    if (!there) throw new Error(`${file} is gone, without which the backup is worth nothing`)
  }
  const tables = rowsBetween(before, await countAll())
  const directories = [...new Set([...found.directories, ...wal_directories])]
  const manifest: Manifest = {
    format: 'heliograph-backup-1',
    ...about,
    started_at,
    finished_at,
    start_lsn,
    stop_lsn,
    directories,
    files,
    tables,
  }
  const text = Buffer.from(manifestText(manifest))
  await target.add('manifest.json', text.length, inMemory(text).chunks)
  await target.finish()
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return { backup: name, started_at, finished_at, files: files.length, bytes }
}

async function rows<Row extends pg.QueryResultRow>(
  session: pg.Client,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await session.query<Row>(text, values)).rows
}

async function aboutDatabase(session: pg.Client) {
  const [server] = await rows<{ major: number; id: string }>(
    session,
    `SELECT current_setting('server_version_num')::int / 10000 AS major,
            system_identifier::text AS id
     FROM pg_control_system()`,
  )
  const [known] = await rows(session, `SELECT to_regclass('schema_migrations') AS name`)
  const applied = known?.['name']
    ? await rows<{ name: string }>(session, 'SELECT name FROM schema_migrations ORDER BY number')
    : []
  return {
    postgres_major: server!.major,
    system_identifier: server!.id,
    migrations: applied.map(({ name }) => name),
  }
}

/** The replication slot retains the write-ahead log while this session lives. */
async function start(session: pg.Client, label: string): Promise<string> {
  await session.query(
    `SELECT pg_create_physical_replication_slot('heliograph_backup_' || pg_backend_pid(), true, true)`,
  )
  const [started] = await rows<{ lsn: string }>(
    session,
    'SELECT pg_backup_start($1, fast => true)::text AS lsn',
    [label],
  )
  return started!.lsn
}

/** PostgreSQL switches to a new segment at the end, so that all saved segments are complete. */
async function stop(session: pg.Client, start_lsn: string) {
  const [stopped] = await rows<{ lsn: string; label: string; tablespaces: string }>(
    session,
    `SELECT lsn::text AS lsn, labelfile AS label, spcmapfile AS tablespaces
     FROM pg_backup_stop(wait_for_archive => false)`,
  )
  const { lsn: stop_lsn, label, tablespaces } = stopped!
  if (tablespaces.trim() !== '') throw new Error('tablespaces cannot be backed up by this')
  const segments = await rows<{ name: string }>(
    session,
    `SELECT pg_walfile_name('0/0'::pg_lsn + number * bytes + 1) AS name
     FROM (SELECT setting::numeric AS bytes FROM pg_settings
           WHERE name = 'wal_segment_size') AS size,
          generate_series(floor(($1::pg_lsn - '0/0') / bytes),
                          floor(($2::pg_lsn - '0/0' - 1) / bytes)) AS number
     ORDER BY number`,
    [start_lsn, stop_lsn],
  )
  return { stop_lsn, label, segments: segments.map(({ name }) => name) }
}

/** Files and directories of a cluster, without the control file. */
async function filesOf(cluster_dir: string): Promise<{ files: string[]; directories: string[] }> {
  const files: string[] = []
  const directories: string[] = []
  async function walk(directory: string): Promise<void> {
    for (const entry of await readdir(path.join(cluster_dir, directory), { withFileTypes: true })) {
      const file = path.posix.join(directory, entry.name)
      if (file === control_file || left_out.some((pattern) => pattern.test(file))) continue
      if (entry.isFile()) files.push(file)
      if (!entry.isDirectory()) continue
      directories.push(file)
      if (!emptied.has(file)) await walk(file)
    }
  }
  await walk('')
  return { files, directories }
}

interface FileContent {
  bytes: number
  chunks: AsyncIterable<Buffer>
}

/** Returns false when PostgreSQL has removed the file, which its log repeats. */
async function withFile(
  file: string,
  use: (content: FileContent) => Promise<void>,
): Promise<boolean> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (!handle) return false
  try {
    const { size: bytes } = await handle.stat()
    await use({ bytes, chunks: chunksOf(handle, bytes) })
    return true
  } finally {
    await handle.close()
  }
}

/**
 * The first `bytes` bytes of a file. A part that was truncated meanwhile reads as zeros; replaying
 * the log truncates or extends the file again.
 */
async function* chunksOf(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes; ) {
    const chunk = Buffer.alloc(Math.min(chunk_bytes, bytes - done))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, done)
    const read = bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead)
    yield read
    done += read.length
  }
}

function inMemory(content: Buffer): FileContent {
  return {
    bytes: content.length,
    chunks: (async function* () {
      yield content
    })(),
  }
}

/** The log does not repair a control file that was read during a write: reads until two agree. */
async function readControl(file: string): Promise<Buffer> {
  for (let before = await readFile(file); ; ) {
    const now = await readFile(file)
    if (now.equals(before)) return now
    before = now
  }
}
