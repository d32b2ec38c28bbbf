/** Commands for operators on the server's own machine, and for clients of the API anywhere. */
import { randomBytes } from 'node:crypto'
import os from 'node:os'
import { HeliographError } from '@heliograph/sdk'
import { AdminError, type AdminErrorCode } from '@heliograph/server/access/admin'
import { readConfig } from '@heliograph/server/config'
import type { Log } from '@heliograph/server/storage/database'
import { CommanderError } from 'commander'
import { Reporting, type ServerCli } from './command.ts'
import { addCommands } from './commands.ts'
import { withDatabase } from './database.ts'
import { confirm, NotConfirmed, type Terminal } from './terminal.ts'

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

/** Runs the command of these words and returns its exit code. */
export async function runCommand(
  words: readonly string[],
  terminal: Terminal,
  environment?: NodeJS.ProcessEnv,
): Promise<number> {
  const note = (message: string) => terminal.notes.write(`heliograph: ${message}\n`)
  // Prints log lines of the embedded database, such as its creation and recovery.
  const tell = (fields: unknown, message = '') => {
    const values = Object.entries(fields as object).map(([name, value]) => `${name} ${value}`)
    note(`${message} (${values.join(', ')})`)
  }
  const log: Log = { info: tell, warn: tell, error: tell }
  const clock = { now: () => new Date() }
  const config = () => readConfig(environment)
  const cli: ServerCli = {
    terminal,
    environment,
    confirm: (question) => confirm(terminal, question),
    operator: operatorName(),
    log,
    clock,
    config,
    withAdmin: (work) => withDatabase(config(), log, (db) => work({ db, clock, randomBytes })),
  }
  const program = new Reporting('heliograph', cli)
    .description(
      'Clients, sites, keys, edges, panel models, contracts, outages, forecasts, markets, prices, ' +
        'alerts, mails, writes, readings and backups of a Heliograph server; and its API.',
    )
    .addHelpText('after', help)
    .configureOutput({
      writeOut: (text) => terminal.output.write(text),
      writeErr: (text) => terminal.notes.write(text),
    })
    .exitOverride()
  await addCommands(program, cli, words[0])
  try {
    await program.parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    if (!(error instanceof CommanderError)) for (const text of messagesOf(error)) note(text)
    return exitCodeOf(error)
  }
}

function* messagesOf(error: unknown): Iterable<string> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // A connection that failed on all addresses has only a code.
    yield cause.message || String((cause as { code?: string }).code)
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usage
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
