/**
 * A backup of the embedded database while it runs, by PostgreSQL's low-level interface: the files
 * of the cluster as they happen to be, and the write-ahead log from start to end, with which they
 * become what the database was at the end.
 * https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '@heliograph/domain/clock'
import pg from 'pg'
import { type BackupTarget, newBackup } from './backup-files.ts'
import { type BackedUpFile, type Manifest, manifestText } from './backup-manifest.ts'
import type { Log } from './log.ts'

interface BackupOrder {
  /** Of the running embedded database of this data directory; its superuser. */
  url: string
  data_dir: string
  /** A name that is free: of a directory, or of a file when it ends in `.tar`. */
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

/** Of PostgreSQL's advisory locks, ours for backing up: the letters `hg-back` as a number. */
const advisory_lock = String(0x68672d6261636bn)
const chunk_bytes = 256 * 1024

/** What PostgreSQL makes anew or must not find: the directories stay, empty. */
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
 * Makes a backup; everything committed before it returns its `finished_at` is in it. Writing goes
 * on meanwhile. Throws when another backup of this database runs or the target's name is taken;
 * what was written is removed then, and what a killed process left bears the name
 * `<target>.partial`.
 */
export async function backUp(order: BackupOrder): Promise<BackupReport> {
  // One session from start to end: with it PostgreSQL ends the backup and drops the slot.
  const session = new pg.Client({
    connectionString: order.url,
    application_name: 'heliograph-backup',
    statement_timeout: 0,
  })
  session.on('error', () => {}) // the statement under way throws it too
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
  const start_lsn = await start(session, `heliograph ${started_at}`)
  log.info({ start_lsn }, 'backing up')
  const files: BackedUpFile[] = []
  const add = async (file: string, content: FileContent) => {
    const hash = createHash('sha256')
    await target.add(`cluster/${file}`, content.bytes, hashed(content.chunks, hash))
    files.push({ path: file, bytes: content.bytes, sha256: hash.digest('hex') })
  }
  const found = await filesOf(cluster_dir)
  for (const file of found.files)
    await withFile(path.join(cluster_dir, file), (it) => add(file, it))
  await add(control_file, inMemory(await readControl(path.join(cluster_dir, control_file))))
  // Read before the end: what is committed after it is perhaps not in the log that we keep.
  const finished_at = clock.now().toISOString()
  const { stop_lsn, label, segments } = await stop(session, start_lsn)
  await add('backup_label', inMemory(Buffer.from(label)))
  for (const segment of segments) {
    const file = `pg_wal/${segment}`
    const there = await withFile(path.join(cluster_dir, file), (it) => add(file, it))
    if (!there) throw new Error(`${file} is gone, without which the backup is worth nothing`)
  }
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

/** The slot keeps the write-ahead log for us, as long as this session lives. */
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

/** PostgreSQL closes the last segment at the end, so that all of them are whole. */
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

/** Files and directories of a cluster below its root; the control file is not among them. */
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

/** False when the file is gone: PostgreSQL removed it, and its log says so too. */
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
 * So many bytes from the beginning. What was cut off meanwhile reads as zeros: the log cuts it off
 * again, as it adds what was appended.
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

async function* hashed(
  chunks: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
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

/** No log mends a control file that was read while it was written: two readings must agree. */
async function readControl(file: string): Promise<Buffer> {
  for (let before = await readFile(file); ; ) {
    const now = await readFile(file)
    if (now.equals(before)) return now
    before = now
  }
}
