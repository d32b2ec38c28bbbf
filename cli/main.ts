/** Commands for operators on the server's own machine, and for clients of the API anywhere. */
import { randomBytes } from 'node:crypto'
import os from 'node:os'
import { HeliographError } from '@heliograph/sdk'
import { AdminError, type AdminErrorCode } from '@heliograph/server/access/admin'
import { readConfig } from '@heliograph/server/config'
import type { Log } from '@heliograph/server/storage/database'
import { CommanderError } from 'commander'
import { addAlertCommands } from './alerts.ts'
import { addAuditCommand } from './audit.ts'
import { addBackupCommands } from './backup.ts'
import { addClientSideCommands } from './client.ts'
import { addClientCommands } from './clients.ts'
import { type Cli, Reporting } from './command.ts'
import { addContractCommands } from './contracts.ts'
import { withDatabase } from './database.ts'
import { addEdgeCommands } from './edges.ts'
import { addForecastCommands } from './forecasts.ts'
import { addKeyCommands } from './keys.ts'
import { addMailCommands } from './mail.ts'
import { addMarketCommands } from './markets.ts'
import { addOutageCommands } from './outages.ts'
import { addPanelCommands } from './panels.ts'
import { addSiteCommands } from './sites.ts'
import { confirm, NotConfirmed, type Terminal } from './terminal.ts'
import { addUserCommands } from './users.ts'
import { addWorkOrderCommands } from './work-orders.ts'

const failed = 1
const usage = 2
const not_confirmed = 5
const exitCodes: Record<AdminErrorCode, number> = { not_found: 3, conflict: 4, invalid: 4 }

const help = `
Settings come from the same environment as the server's: DATABASE_URL names the database; without it
the one in DATA_DIR (./data) is used, whether a server is running or not.

\`get\`, \`curtail\` and \`release\` go through the API instead: HELIOGRAPH_URL, HELIOGRAPH_KEY or
HELIOGRAPH_KEY_FILE, and HELIOGRAPH_SITE.

The result goes to standard output, everything else to standard error.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused, 5 not confirmed.

Example:
  heliograph clients create "Sunny Fields" --modules basic_scada
  heliograph sites create sunny-fields-1 --client "Sunny Fields" --name "Sunny Fields, north"
  heliograph keys create --client "Sunny Fields" --name dashboard --scopes plant:read,energy:read`

const terminal: Terminal = {
  input: process.stdin,
  output: process.stdout,
  notes: process.stderr,
  is_interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
}

const note = (message: string) => process.stderr.write(`heliograph: ${message}\n`)

/** Prints log lines of the embedded database, such as its creation and recovery. */
const tell = (fields: unknown, message = '') => {
  const values = Object.entries(fields as object).map(([name, value]) => `${name} ${value}`)
  note(`${message} (${values.join(', ')})`)
}
const log: Log = { info: tell, warn: tell, error: tell }

const clock = { now: () => new Date() }

const cli: Cli = {
  terminal,
  confirm: (question) => confirm(terminal, question),
  operator: operatorName(),
  withAdmin: (work) => withDatabase(readConfig(), log, (db) => work({ db, clock, randomBytes })),
}

const program = new Reporting('heliograph', cli)
  .description(
    'Clients, sites, keys, edges, panel models, contracts, outages, forecasts, markets, prices, ' +
      'alerts, mails, writes and backups of a Heliograph server; and its API.',
  )
  .addHelpText('after', help)
  .exitOverride()
addClientCommands(program, cli)
addSiteCommands(program, cli)
addUserCommands(program, cli)
addWorkOrderCommands(program)
addKeyCommands(program, cli)
addEdgeCommands(program, cli)
addPanelCommands(program)
addContractCommands(program, cli)
addOutageCommands(program)
addForecastCommands(program)
addMarketCommands(program, cli)
addMailCommands(program, cli, { config: readConfig, clock, randomBytes })
addAlertCommands(program, cli)
addAuditCommand(program, cli)
addClientSideCommands(program, cli)
addBackupCommands(program, { config: readConfig, log, clock })

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Prints an error, unless commander did already, and returns the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usage
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // A connection that failed on all addresses has only a code.
    note(cause.message || String((cause as { code?: string }).code))
  }
  if (error instanceof AdminError) return exitCodes[error.code]
  if (error instanceof HeliographError) return codeOfRefusal(error)
  return error instanceof NotConfirmed ? not_confirmed : failed
}

function codeOfRefusal({ status }: HeliographError): number {
  if (status === 404) return exitCodes.not_found
  return status !== null && status >= 400 && status < 500 ? exitCodes.invalid : failed
}

function operatorName(): string {
  try {
    return os.userInfo().username
  } catch {
    // An account without a name, as containers have.
    return `uid ${process.getuid?.()}`
  }
}
