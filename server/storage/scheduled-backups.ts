/** Backups of the embedded database on a schedule, and what became of them. */
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import { backUp } from './backup.ts'
import type { Queries } from './database.ts'
import type { Log } from './log.ts'

export interface BackupSchedule {
  /** The folder of the backups, best on another disk. */
  dir: string
  /** Hour of the day, UTC. */
  hour: number
  /** The newest so many are kept. */
  kept: number
}

interface Needs {
  db: Pick<Queries, 'execute'>
  clock: Clock
  log: Log
}

export type BackupOrder = Pick<BackupSchedule, 'dir' | 'kept'> & {
  /** The running embedded database of `data_dir`, as superuser. */
  url: string
  data_dir: string
}

const own_file = /^heliograph-\d{8}T\d{6}Z\.tar$/
/** Remains of a process that was killed. */
const own_remains = /^heliograph-\d{8}T\d{6}Z\.tar\.partial$/
/** How long it is known what became of a backup. */
const known_ms = 90 * day_ms

/** Makes a backup and removes those beyond `kept`. Throws, with a record, when none was made. */
export async function makeBackup({ db, clock, log }: Needs, order: BackupOrder): Promise<void> {
  const { dir, kept, url, data_dir } = order
  const started_at = clock.now()
  const stamp = started_at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const file = path.join(dir, `heliograph-${stamp}.tar`)
  try {
    const { finished_at, bytes } = await backUp({ url, data_dir, target: file, clock, log })
    await record(db, { file, started_at, finished_at, bytes, error: null })
  } catch (error) {
    const text = [...messagesOf(error)].join(': ')
    await record(db, { file, started_at, finished_at: null, bytes: null, error: text })
    throw error
  }
  for (const name of await superfluous(dir, kept)) {
    await rm(path.join(dir, name))
    log.info({ file: name }, 'removed an old backup')
  }
  const long_ago = new Date(started_at.getTime() - known_ms)
  await db.execute('delete from backups where started_at < $1', [long_ago])
}

/** Names have the time, so that their order is that of time. */
async function superfluous(dir: string, kept: number): Promise<string[]> {
  const names = (await readdir(dir)).sort().reverse()
  const backups = names.filter((name) => own_file.test(name))
  return [...backups.slice(kept), ...names.filter((name) => own_remains.test(name))]
}

interface Attempt {
  file: string
  started_at: Date
  finished_at: string | null
  bytes: number | null
  error: string | null
}

async function record(db: Needs['db'], attempt: Attempt): Promise<void> {
  const { file, started_at, finished_at, bytes, error } = attempt
  await db.execute(
    `insert into backups (file, started_at, finished_at, bytes, error)
     values ($1, $2, $3, $4, $5)`,
    [file, started_at, finished_at, bytes, error],
  )
}

function* messagesOf(error: unknown): Iterable<string> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause.message
}

/** Records that a scheduled backup was restored for a test; no effect on other backups. */
export async function recordVerification(
  db: Pick<Queries, 'execute'>,
  { file, at, error }: { file: string; at: Date; error: string | null },
): Promise<void> {
  await db.execute('update backups set verified_at = $2, verify_error = $3 where file = $1', [
    file,
    at,
    error,
  ])
}

export interface BackupResults {
  /** The newest attempt, and the newest backup that was made. */
  last: { started_at: Date; error: string | null } | null
  made: { file: string; finished_at: Date; bytes: number } | null
  /** The newest test of a restore. */
  verified: { file: string; verified_at: Date; verify_error: string | null } | null
}

export async function readBackupResults(db: Pick<Queries, 'queryOne'>): Promise<BackupResults> {
  return {
    last: await db.queryOne(
      'select started_at, error from backups order by started_at desc limit 1',
    ),
    made: await db.queryOne(
      `select file, finished_at, bytes from backups where finished_at is not null
       order by finished_at desc limit 1`,
    ),
    verified: await db.queryOne(
      `select file, verified_at, verify_error from backups where verified_at is not null
       order by verified_at desc limit 1`,
    ),
  }
}
