import { stat } from 'node:fs/promises'
import path from 'node:path'
import { AdminError } from '@heliograph/server/access/admin'
import { backUp } from '@heliograph/server/storage/backup'
import { checkBackup, restore } from '@heliograph/server/storage/backup-restore'
import { command, type Reporting, type ServerCli } from './command.ts'
import { withEmbeddedAsItIs } from './database.ts'

export function addBackupCommands(program: Reporting, cli: ServerCli): void {
  const { log, clock } = cli
  command(
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
  const there = await stat(path.join(settings.data_dir, 'postgres/cluster')).catch(() => undefined)
  if (there) return settings
  throw new AdminError('not_found', `there is no database in ${settings.data_dir}`)
}
