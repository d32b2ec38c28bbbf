import { type Check, checksText, failure } from '@heliograph/domain/check'
import { examine } from '@heliograph/server/doctor/examine'
import { command, type Reporting, type ServerCli } from './command.ts'
import { print } from './terminal.ts'

export function addDoctorCommand(program: Reporting, cli: ServerCli): void {
  command(
    program,
    'doctor',
    'Check database, disk, clock, certificate, mail, backups, edges and job queue, and say what to do. ' +
      'Exit code 1: a check failed.',
    'doctor',
  ).action(async ({ json = false }: { json?: boolean }) => {
    const checks = await checksOf(cli)
    print(cli.terminal, { json: checks, text: checksText(checks) }, json)
    const failed = checks.filter(({ state }) => state === 'error').map(({ name }) => name)
    if (failed.length > 0) throw new Error(`failed: ${failed.join(', ')}`)
  })
}

async function checksOf({ withAdmin, config, clock }: ServerCli): Promise<Check[]> {
  const installation = config()
  try {
    return await withAdmin(({ db }) => examine({ db, clock, installation }, { client_id: null }))
  } catch (error) {
    const { message } = error as Error
    return [
      failure('database', `cannot be reached: ${message}`, 'Start it, or check DATABASE_URL.'),
    ]
  }
}
