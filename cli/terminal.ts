/** Output and confirmations of the command line. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { visible } from '@heliograph/server/http/visible-text'

/** The operator did not confirm, or could not be asked. Nothing was changed. */
export class NotConfirmed extends Error {}

export interface Terminal {
  input: Readable
  /** Only for results. */
  output: Writable
  /** For everything else: questions, notes, errors. */
  notes: Writable
  /** A person can answer questions. */
  is_interactive: boolean
}

export interface Result {
  /** The document that `--json` prints. */
  json: unknown
  /** The same for people. */
  text: string
  /** Written beside the result, for people. */
  note?: string
}

export function print(to: Terminal, { json, text, note }: Result, as_json: boolean): void {
  to.output.write(as_json ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`)
  if (note) to.notes.write(`heliograph: ${note}\n`)
}

/** Returns when the operator answers yes; throws NotConfirmed otherwise. */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (!terminal.is_interactive) {
    throw new NotConfirmed('this needs a confirmation: pass --yes where nobody can be asked')
  }
  const lines = createInterface({ input: terminal.input, output: terminal.notes })
  const answer = await new Promise<string>((resolve) => {
    lines.once('close', () => resolve(''))
    lines.question(`${question}\nType yes to go on: `, resolve)
  })
  lines.close()
  if (answer.trim().toLowerCase() !== 'yes') {
    throw new NotConfirmed('not confirmed: nothing was changed')
  }
}

/**
 * Aligns columns, two blanks apart. Line breaks and control characters in cells are made visible.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((line) => line.map(visible))
  const widths = head.map((_, column) => Math.max(...lines.map((line) => width(line[column]!))))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat(widths[column]! - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A column: the name of a field, or a function of the row. */
type Column<Row> = (keyof Row & string) | ((row: Row) => unknown)

/** Columns by their heads. */
type Columns<Row> = Readonly<Record<string, Column<Row>>>

export function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const cell = (row: Row, column: Column<Row>) =>
    cellText(typeof column === 'function' ? column(row) : row[column])
  return table(
    Object.keys(columns),
    rows.map((row) => Object.values(columns).map((column) => cell(row, column))),
  )
}

/** A table of records, or `none` when there are no records. */
export const listOf = <Row>(none: string, rows: readonly Row[], columns: Columns<Row>): string =>
  rows.length === 0 ? none : tableOf(rows, columns)

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return minute(value)
  return Array.isArray(value) ? value.join(' ') : String(value)
}

const width = (cell: string) => [...cell].length

/** `2026-11-21 13:03Z`, or a dash. */
export function minute(instant: Date | null): string {
  return instant ? `${instant.toISOString().slice(0, 16).replace('T', ' ')}Z` : '-'
}
