/**
 * Reads prices from CSV: columns `start_at`, `end_at`, `price_per_mwh` and optionally `currency` in
 * any order, separated by commas, unquoted. Timestamps are RFC 3339 with an offset, from 1970 to
 * five years from now.
 */
import { minute_ms } from '@heliograph/domain/durations'
import { isDate, utcDate } from '@heliograph/domain/utc-day'
import { microOf } from '../micro.ts'
import type { PricePeriod } from '../periods.ts'

export interface PriceRow extends PricePeriod {
  /** Counts from 1, the header. */
  line: number
  /** ISO 4217 code; null for the currency of the market. */
  currency: string | null
}

export interface LineFault {
  line: number
  reason: string
}

interface PriceFile {
  /** Ascending by their start. */
  rows: PriceRow[]
  faults: LineFault[]
}

const needed = ['start_at', 'end_at', 'price_per_mwh'] as const
const optional = ['currency'] as const
const lengths_ms = [15, 30, 60].map((minutes) => minutes * minute_ms)
/** Later dates are typing errors. */
const years_ahead_max = 5

type Cells = Record<(typeof needed)[number], string> & { currency?: string }

/** Reads the whole file and reports every fault with its line. */
export function readPriceCsv(text: string, now: Date): PriceFile {
  const until_ms = Date.UTC(
    now.getUTCFullYear() + years_ahead_max,
    now.getUTCMonth(),
    now.getUTCDate(),
  )
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n/)
  const columns = lines[0]!.split(',').map((name) => name.trim())
  const fault = headerFault(columns)
  if (fault) return { rows: [], faults: [{ line: 1, reason: fault }] }
  const rows: PriceRow[] = []
  const faults: LineFault[] = []
  for (const [index, text_of_line] of lines.entries()) {
    const line = index + 1
    if (line === 1 || text_of_line.trim() === '') continue
    const cells = text_of_line.split(',').map((cell) => cell.trim())
    const named = Object.fromEntries(columns.map((name, column) => [name, cells[column] ?? '']))
    const row =
      cells.length === columns.length
        ? rowOf(named as Cells, until_ms)
        : `${cells.length} columns instead of ${columns.length}`
    if (typeof row === 'string') faults.push({ line, reason: row })
    else rows.push({ ...row, line })
  }
  if (rows.length === 0 && faults.length === 0) faults.push({ line: 1, reason: 'no row follows' })
  rows.sort((a, b) => a.start_ms - b.start_ms || a.line - b.line)
  faults.push(...overlapsOf(rows))
  faults.sort((a, b) => a.line - b.line)
  return { rows, faults }
}

function headerFault(columns: readonly string[]): string | null {
  const missing = needed.filter((name) => !columns.includes(name))
  if (missing.length > 0) return `the header has no ${missing.join(', no ')}`
  const unknown = columns.filter((name) => ![...needed, ...optional].includes(name as never))
  if (unknown.length > 0) return `unknown column ${unknown.map((name) => `'${name}'`).join(', ')}`
  return new Set(columns).size < columns.length ? 'duplicate column' : null
}

function rowOf({ start_at, end_at, price_per_mwh, currency }: Cells, until_ms: number) {
  const start_ms = instantOf(start_at)
  if (start_ms === null) return `start_at: '${start_at}' is not a timestamp with an offset`
  const end_ms = instantOf(end_at)
  if (end_ms === null) return `end_at: '${end_at}' is not a timestamp with an offset`
  const length_ms = end_ms - start_ms
  if (!lengths_ms.includes(length_ms)) return 'end_at: a period must have 15, 30 or 60 minutes'
  if (start_ms < 0 || end_ms > until_ms) {
    return `start_at: '${start_at}' is not from 1970-01-01 to ${utcDate(until_ms)}`
  }
  if (start_ms % length_ms !== 0) {
    const minutes = length_ms / minute_ms
    return `start_at: a period of ${minutes} minutes must start at a multiple of ${minutes} minutes UTC`
  }
  const price_micro = microOf(price_per_mwh)
  if (price_micro === null) return `price_per_mwh: '${price_per_mwh}' is not a decimal number`
  if (currency && !/^[A-Z]{3}$/.test(currency))
    return `currency: '${currency}' is not an ISO 4217 code`
  return { start_ms, end_ms, price_micro, currency: currency || null }
}

/** UTC offsets reach 14 hours. */
const instant =
  /^(\d{4}-\d\d-\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.0+)?)?(?:[Zz]|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/

function instantOf(text: string): number | null {
  const [, date] = instant.exec(text) ?? []
  if (date === undefined || !isDate(date)) return null
  const time_ms = Date.parse(text)
  return Number.isNaN(time_ms) ? null : time_ms
}

function overlapsOf(ascending: readonly PriceRow[]): LineFault[] {
  const faults: LineFault[] = []
  let furthest: PriceRow | undefined
  for (const row of ascending) {
    if (furthest && furthest.end_ms > row.start_ms) {
      faults.push({ line: row.line, reason: `overlaps line ${furthest.line}` })
    }
    if (!furthest || row.end_ms > furthest.end_ms) furthest = row
  }
  return faults
}
