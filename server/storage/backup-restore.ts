/** Restores a backup into an empty data directory. */
import { chown, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { Clock } from '@heliograph/domain/clock'
import { type Account, chooseAccount } from './account.ts'
import { checksum, entriesOf, flushAll, writeNew } from './backup-files.ts'
import { type BackedUpFile, checkFiles, type Manifest, readManifest } from './backup-manifest.ts'
import { type Database, openDatabase } from './database.ts'
import { startEmbedded } from './embedded.ts'
import { recordEvent } from './events.ts'
import { type Lock, takeLock } from './lock.ts'
import type { Log } from './log.ts'
import { migrations_dir, readMigrations } from './migrate.ts'
import { findPrograms, flush } from './programs.ts'

interface RestoreOrder {
  backup: string
  data_dir: string
  clock: Clock
  log: Log
}

interface RestoreReport {
  /** The database contains everything committed before. */
  backup_finished_at: string
  files: number
  bytes: number
  sites: number
  /** Newest time at which an edge was last seen, in the restored database. */
  last_seen_at: string | null
}

/** Entries that a data directory may have without being in use. */
const bystanders = ['edge', 'cli-lock', 'cli-lock-owner']
const passing = 'cluster.restoring'
const leftovers = ['lock', 'lock-owner', 'start.log', 'programs', passing, 'cluster.new']

/** Reads a complete backup and checks all checksums; throws the first fault. */
export async function checkBackup(backup: string): Promise<Manifest> {
  return readBackup(backup, async (_, content) => {
    for await (const _chunk of content);
  })
}

/**
 * Restores a backup into a data directory without a database and runs the recovery of PostgreSQL.
 * Throws, and leaves no database, when the directory is in use or not empty, when the backup is
 * incomplete or altered, and when this version cannot run it. Every site gets the event
 * `server_restored`.
 */
export function restore(order: RestoreOrder): Promise<RestoreReport> {
  return restoreThen(order, async (db, manifest) => {
    const restored = await recordRestore(db, manifest, order.clock.now())
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
    const files = manifest.files.length
    return { backup_finished_at: manifest.finished_at, files, bytes, ...restored }
  })
}

/** Restores a backup as `restore` does, and runs `work` once on the recovered database. */
export async function restoreThen<Result>(
  order: Pick<RestoreOrder, 'backup' | 'data_dir' | 'log'>,
  work: (db: Database, manifest: Manifest) => Promise<Result>,
): Promise<Result> {
  await mkdir(order.data_dir, { recursive: true })
  const data_dir = await realpath(order.data_dir)
  await refuseUsed(data_dir, data_dir, [...bystanders, 'postgres'])
  const home = path.join(data_dir, 'postgres')
  await mkdir(home, { recursive: true, mode: 0o711 })
  const lock = await takeLock(path.join(home, 'lock'), `the data directory ${data_dir}`)
  const manifest = await unpack(order.backup, { data_dir, home, lock })
  const cluster_dir = path.join(home, 'cluster')
  try {
    return await onRecovered(data_dir, order.log, (db) => work(db, manifest))
  } catch (error) {
    await rm(cluster_dir, { recursive: true, force: true })
    throw new Error('PostgreSQL could not recover the backup', { cause: error })
  }
}

async function unpack(
  backup: string,
  { data_dir, home, lock }: { data_dir: string; home: string; lock: Lock },
): Promise<Manifest> {
  const making = path.join(home, passing)
  try {
    await refuseUsed(data_dir, home, leftovers)
    const account = await chooseAccount([data_dir])
    await rm(making, { recursive: true, force: true })
    await makeDirectory(making, account)
    const manifest = await readBackup(backup, async (name, content) => {
      const file = path.join(making, name)
      await makeDirectory(path.dirname(file), account)
      await writeNew(file, content)
      if (account) await chown(file, account.uid, account.gid)
    })
    await checkVersions(manifest, account, home)
    for (const directory of manifest.directories) {
      await makeDirectory(path.join(making, safe(directory)), account)
    }
    const names = ['', ...manifest.directories, ...manifest.files.map((file) => file.path)]
    await flushAll(names.map((name) => path.join(making, name)))
    await rename(making, path.join(home, 'cluster'))
    await flush(home)
    return manifest
  } catch (error) {
    await rm(making, { recursive: true, force: true })
    throw error
  } finally {
    lock.release()
  }
}

async function refuseUsed(
  data_dir: string,
  directory: string,
  harmless: readonly string[],
): Promise<void> {
  const found = (await readdir(directory)).filter((name) => !harmless.includes(name))
  if (found.length === 0) return
  const names = found.slice(0, 5).join(', ')
  throw new Error(
    `the data directory ${data_dir} is not empty (${names}): restore into an empty one`,
  )
}

/** Creates a directory and its parents, owned by the account. */
async function makeDirectory(directory: string, account: Account): Promise<void> {
  if (await stat(directory).catch(() => undefined)) return
  await makeDirectory(path.dirname(directory), account)
  await mkdir(directory, { mode: 0o700 })
  if (account) await chown(directory, account.uid, account.gid)
}

/** Passes every file of the cluster to `take`, and checks all of them against the manifest. */
async function readBackup(
  backup: string,
  take: (name: string, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<Manifest> {
  const found = new Map<string, BackedUpFile>()
  let manifest: Manifest | null = null
  for await (const { name, content } of entriesOf(backup)) {
    if (name === 'manifest.json') {
      manifest = readManifest(await text(content))
      continue
    }
    const [, file] = /^cluster\/(.+)$/s.exec(name) ?? []
    if (file === undefined) throw new Error(`the backup was changed: ${name} is new in it`)
    const sum = checksum(content)
    await take(safe(file), sum.chunks)
    found.set(file, { path: file, ...sum.result() })
  }
  if (!manifest) throw new Error(`${backup} is no whole backup: it has no manifest`)
  checkFiles(manifest, found)
  return manifest
}

/** Returns the name; throws for names that leave the cluster directory. */
function safe(name: string): string {
  if (path.posix.normalize(name) === name && !/^(\/|\.\.(\/|$))|\0/.test(name)) return name
  throw new Error(`the backup was changed: ${JSON.stringify(name)} is no name in a cluster`)
}

async function checkVersions(manifest: Manifest, account: Account, home: string): Promise<void> {
  const copy_dir = account ? '/var/cache/heliograph' : path.join(home, 'programs')
  const { major } = await findPrograms({ account, copy_dir })
  if (major !== manifest.postgres_major) {
    throw new Error(
      `the backup was made by PostgreSQL ${manifest.postgres_major} and this is ${major}: restore it with the version that made it`,
    )
  }
  const known = (await readMigrations(migrations_dir)).map(({ name }) => name)
  const stranger = manifest.migrations.find((name, index) => known[index] !== name)
  if (stranger === undefined) return
  throw new Error(
    `the backup has migration ${stranger}, which this version does not know: restore it with the version that made it, or a newer one`,
  )
}

async function onRecovered<Result>(
  data_dir: string,
  log: Log,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const server = await startEmbedded({ data_dir, log })
  try {
    const db = await openDatabase({ url: server.url, log, application_name: 'restore', max: 1 })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  } finally {
    await server.stop()
  }
}

async function recordRestore(db: Database, { finished_at, migrations }: Manifest, at: Date) {
  // A backup from before the first migration has no tables.
  if (migrations.length === 0) return { sites: 0, last_seen_at: null }
  return db.transaction(async (transaction) => {
    const sites = await transaction.query<{ site_id: string }>('SELECT site_id FROM sites')
    for (const { site_id } of sites) {
      await recordEvent(transaction, {
        site_id,
        at,
        source_kind: 'site',
        source_id: site_id,
        code: 'server_restored',
        edge: 'once',
        severity: 'major',
        message: `the database was restored from a backup of ${finished_at}`,
        details: { backup_finished_at: finished_at },
      })
    }
    const [edges] = await transaction.query<{ at: Date | null }>(
      'SELECT max(last_seen_at) AS at FROM edges',
    )
    return { sites: sites.length, last_seen_at: edges?.at?.toISOString() ?? null }
  })
}
