/** Shared parts of the commands: options, value parsers and context. */
import type { Admin } from '@heliograph/server/access/admin'
import type { ServerConfig } from '@heliograph/server/config'
import type { Log } from '@heliograph/server/storage/database'
import { Command, InvalidArgumentError } from 'commander'
import { print, type Result, type Terminal } from './terminal.ts'

export interface Cli {
  terminal: Terminal
  /** The process's own, unless given. */
  environment?: NodeJS.ProcessEnv | undefined
  /** Returns when the operator answers yes; throws NotConfirmed otherwise. */
  confirm(question: string): Promise<void>
  withAdmin<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result>
  /** The account of the operating system that runs the command. */
  operator: string
}

/** For commands that read the settings of the server. */
export interface ServerCli extends Cli {
  clock: { now(): Date }
  log: Log
  config(): ServerConfig
}

export interface YesOption {
  yes?: true
}

/** A command that prints the result of its work: one JSON document with `--json`, else text. */
export class Reporting extends Command {
  readonly #cli: Pick<Cli, 'terminal' | 'withAdmin'>

  constructor(name: string | undefined, cli: Pick<Cli, 'terminal' | 'withAdmin'>) {
    super(name)
    this.#cli = cli
  }

  override createCommand(name?: string): Reporting {
    return new Reporting(name, this.#cli)
  }

  /** `work` gets the arguments of the command, then its options. */
  result<Args extends unknown[]>(work: (...args: Args) => Promise<Result>): this {
    return this.action(async (...args: unknown[]) => {
      print(
        this.#cli.terminal,
        await work(...(args as Args)),
        Boolean(this.optsWithGlobals()['json']),
      )
    })
  }

  /** Prints what `work` returns from the database: as it is with `--json`, else as `text`. */
  fromDatabase<Value, Args extends unknown[]>(
    text: (value: Value) => string,
    work: (admin: Admin, ...args: Args) => Promise<Value>,
  ): this {
    return this.result(async (...args: Args) => {
      const json = await this.#cli.withAdmin((admin) => work(admin, ...args))
      return { json, text: text(json) }
    })
  }
}

/** Adds a command with a result; `example` is what follows `heliograph`. */
export function command(parent: Reporting, usage: string, what: string, example: string) {
  return parent
    .command(usage)
    .description(what)
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nExample:\n  heliograph ${example}`)
}

/** Option of commands that cannot be undone. */
export const yes = ['-y, --yes', 'skip the confirmation'] as const

export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

export function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

export function decimal(text: string): number {
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a number such as 24 or 0.5.')
}

/** An instant in UTC, `2027-01-31T00:00:00Z`; days that do not exist are refused. */
export function utcInstant(text: string): Date {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?Z$/.exec(text)
  const instant = new Date(text)
  const written = match && `${match[1]}${match[2] ?? ':00'}.000Z`
  if (written && !Number.isNaN(instant.getTime()) && instant.toISOString() === written) {
    return instant
  }
  throw new InvalidArgumentError('It must be a time in UTC such as 2027-01-31T00:00:00Z.')
}
