import { stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { AdminError } from '@heliograph/server/access/admin'
import { backUp } from '@heliograph/server/storage/backup'
import { checkBackup, restore } from '@heliograph/server/storage/backup-restore'
import { type VerifyReport, verifyBackup } from '@heliograph/server/storage/backup-verify'
import { recordVerification } from '@heliograph/server/storage/scheduled-backups'
import { command, type Reporting, type ServerCli } from './command.ts'
import { withDatabase, withEmbeddedAsItIs } from './database.ts'

export function addBackupCommands(program: Reporting, cli: ServerCli): void {
  const { log, clock } = cli
  const backup = command(
    program,
    'backup <target>',
    'Back up the database of DATA_DIR, whether a server is running or not, to a new directory, or ' +
      'a new file when the name ends in .tar.',
    'backup /backups/2027-01-31.tar',
  ).result(async (given: string) => {
    const { data_dir } = await embeddedOnly(cli)
    const target = path.resolve(given)
    const report = await withEmbeddedAsItIs(data_dir, log, (at) =>
      backUp({ ...at, target, clock, log }),
    )
    const { finished_at, files } = report
    const text = `${target}: data until ${finished_at}, ${files} files, ${mebibytes(report)} MiB`
    return { json: report, text }
  })

  command(
    backup,
    'verify <backup>',
    'Restore a backup into a scratch database, compare the rows of every table, and remove it.',
    'backup verify /backups/2027-01-31.tar',
  )
    .option('--scratch <folder>', 'folder with room for the database', os.tmpdir())
    .result(async (given: string, { scratch }: { scratch: string }) => {
      const file = path.resolve(given)
      const outcome = await verified({ backup: file, scratch_dir: path.resolve(scratch), log })
      const { report, error } = outcome
      await recordOutcome(cli, { file, at: clock.now(), error: error?.message ?? null })
      if (error) throw error
      const { backup_finished_at, tables, rows } = report
      const text =
        `${file} was restored: data until ${backup_finished_at}, ${tables} tables with ${rows} rows, ` +
        'as in the database that was backed up'
      return { json: report, text }
    })

  command(
    program,
    'restore <backup>',
    'Restore a backup into an empty DATA_DIR. The server must not run.',
    'restore /backups/2027-01-31.tar',
  )
    .option('--check', 'only verify the checksums of the backup, without changing DATA_DIR')
    .result(async (given: string, options: { check?: true }) => {
      const backup = path.resolve(given)
      if (options.check) {
        const { files, ...about } = await checkBackup(backup)
        const { finished_at, postgres_major } = about
        const text = `${backup} is intact: data until ${finished_at}, PostgreSQL ${postgres_major}`
        return { json: { ...about, files: files.length }, text }
      }
      const { data_dir } = refuseUrl(cli)
      const report = await restore({ backup, data_dir, clock, log })
      const { backup_finished_at, sites, last_seen_at } = report
      const text =
        `${data_dir}: restored to ${backup_finished_at}, ${sites} sites, ${mebibytes(report)} MiB; ` +
        `an edge was last seen at ${last_seen_at ?? '-'}`
      return { json: report, text }
    })
}

type Outcome = { report: VerifyReport; error: null } | { report: null; error: Error }

async function verified(order: Parameters<typeof verifyBackup>[0]): Promise<Outcome> {
  try {
    const report = await verifyBackup(order)
    const { wrong } = report
    if (wrong.length === 0) return { report, error: null }
    return { report: null, error: new Error(`the backup differs: ${wrong.join('; ')}`) }
  } catch (error) {
    return { report: null, error: error as Error }
  }
}

/** For `doctor`, where the database of the backup is on this machine. */
async function recordOutcome(
  { config, log }: ServerCli,
  outcome: Parameters<typeof recordVerification>[1],
): Promise<void> {
  const { database_url, data_dir } = config()
  if (database_url !== null || !(await hasCluster(data_dir))) return
  await withDatabase({ database_url, data_dir }, log, (db) => recordVerification(db, outcome))
}

const hasCluster = (data_dir: string) =>
  stat(path.join(data_dir, 'postgres/cluster')).then(
    () => true,
    () => false,
  )

const mebibytes = ({ bytes }: { bytes: number }) => Math.ceil(bytes / 2 ** 20)

function refuseUrl({ config }: ServerCli) {
  const settings = config()
  if (settings.database_url === null) return settings
  throw new AdminError(
    'invalid',
    'DATABASE_URL names an external server: back it up and restore it with its own tools',
  )
}

async function embeddedOnly(cli: ServerCli) {
  const settings = refuseUrl(cli)
  if (await hasCluster(settings.data_dir)) return settings
  throw new AdminError('not_found', `there is no database in ${settings.data_dir}`)
}
