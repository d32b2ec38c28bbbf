/** CSV by RFC 4180, for what a page shows. */
import { saveFile } from './save-file.ts'

export type Cell = string | number | null

/** A spreadsheet would run a text that starts like a formula. */
const formula = /^[=+\-@\t\r]/

function fieldOf(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = formula.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const csvOf = (rows: readonly (readonly Cell[])[]) =>
  rows.map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('')

export const saveCsv = (name: string, rows: readonly (readonly Cell[])[]) =>
  saveFile({ name: `${name}.csv`, type: 'text/csv', response: new Response(csvOf(rows)) })
