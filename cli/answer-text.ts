/** Formats an answer of the API: a list as a table, other answers as names and values. */
import { table } from './terminal.ts'

type Fields = Record<string, unknown>

const columns_max = 10

const isScalar = (value: unknown) => typeof value !== 'object' || value === null

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return isScalar(value) ? String(value) : JSON.stringify(value)
}

/** Columns of plain values that are not empty in every row. */
function columnsOf(rows: readonly Fields[]): string[] {
  const names = [...new Set(rows.flatMap(Object.keys))]
  return names
    .filter((name) => rows.every((row) => isScalar(row[name])))
    .filter((name) => rows.some((row) => row[name] !== null && row[name] !== undefined))
    .slice(0, columns_max)
}

/** The rows of a list as a table. */
export function rowsText(rows: readonly Fields[]): string {
  if (rows.length === 0) return 'No rows.'
  const names = columnsOf(rows)
  const left_out = [...new Set(rows.flatMap(Object.keys))].length - names.length
  const text = table(
    names,
    rows.map((row) => names.map((name) => shown(row[name]))),
  )
  return left_out > 0 ? `${text}\n(${left_out} more fields with --json)` : text
}

export function answerText(answer: unknown): string {
  if (isScalar(answer)) return shown(answer)
  const { data } = answer as { data?: unknown }
  if (Array.isArray(data)) return rowsText(data)
  return table(['FIELD', 'VALUE'], linesOf(answer as Fields, ''))
}

/** Fields of a record, including nested ones; long lists show their length. */
function linesOf(fields: Fields, before: string): string[][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const path = before + name
    if (isScalar(value)) return [[path, shown(value)]]
    if (Array.isArray(value)) {
      const is_short = value.every(isScalar) && value.length <= 10
      return [[path, is_short ? value.map(shown).join(', ') : `${value.length} entries`]]
    }
    return linesOf(value as Fields, `${path}.`)
  })
}
