/** Shared parts of the commands: options, value parsers and context. */
import type { Admin } from '@heliograph/server/access/admin'
import { type Command, InvalidArgumentError } from 'commander'
import type { Terminal } from './terminal.ts'

export interface Cli {
  terminal: Terminal
  withAdmin<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result>
  /** The account of the operating system that runs the command. */
  operator: string
}

export interface JsonOption {
  json?: true
}

export interface YesOption {
  yes?: true
}

/** A command that prints a result; `example` is what follows `heliograph`. */
export function command(parent: Command, usage: string, what: string, example: string): Command {
  return parent
    .command(usage)
    .description(what)
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nExample:\n  heliograph ${example}`)
}

/** Option of commands that cannot be undone. */
export const yes = ['-y, --yes', 'skip the confirmation'] as const

/** `a,b` as a list. */
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
