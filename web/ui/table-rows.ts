/** Order, filter and texts of the rows of a table. */
import { isValidElement, type ReactNode } from 'react'
import type { Cell } from './csv.ts'

export interface Column<Row> {
  /** Empty for a column of buttons. */
  name: string
  cell: (row: Row) => ReactNode
  /** Unformatted; defaults to the text of the cell, for columns of texts. */
  value?: (row: Row) => number | string | null | undefined
  /** Of the value. */
  unit?: string
  /** Aligned at the right. */
  is_number?: true
  /** Long texts: wrapped, and never narrower than 16rem. */
  wraps?: true
  /** Hidden on a phone, where another column has the value. */
  is_wide_only?: true
}

export interface Order {
  name: string
  is_down: boolean
}

/** The text of an element; the instant of a time. */
export function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(textOf).join('')
  if (!isValidElement<{ children?: ReactNode; at?: unknown }>(node)) return ''
  const { at, children } = node.props
  return typeof at === 'string' ? at : textOf(children)
}

function cellValue<Row>({ value, cell }: Column<Row>, row: Row): Cell {
  const given = value ? value(row) : textOf(cell(row))
  return given === '' || given === undefined ? null : given
}

/** Formatted numbers have an order only by their value. */
export const isSortable = <Row>(column: Column<Row>, rows: readonly Row[]): boolean =>
  column.name !== '' &&
  (column.value !== undefined ||
    (!column.is_number && rows.some((row) => cellValue(column, row) !== null)))

const collator = new Intl.Collator('en', { numeric: true })

function compare(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return collator.compare(String(a), String(b))
}

/** Unknown values come last in both directions. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | null,
): readonly Row[] {
  const column = order && columns.find(({ name }) => name === order.name)
  if (!column) return rows
  const sign = order.is_down ? -1 : 1
  return rows
    .map((row) => ({ row, value: cellValue(column, row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) {
        return Number(a.value === null) - Number(b.value === null)
      }
      return sign * compare(a.value, b.value)
    })
    .map(({ row }) => row)
}

/** Rows whose texts contain every word. */
export function filteredRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  text: string,
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  const searched = columns.filter(({ is_number }) => !is_number)
  return rows.filter((row) => {
    const own = searched.map((column) => String(cellValue(column, row) ?? '')).join(' ')
    return words.every((word) => own.toLowerCase().includes(word))
  })
}

/** Head and rows of a file; numbers are unformatted where the column knows them. */
export function cellsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Cell[][] {
  const named = columns.filter(({ name }) => name !== '')
  return [
    named.map(({ name, unit }) => (unit ? `${name} (${unit})` : name)),
    ...rows.map((row) => named.map((column) => cellValue(column, row))),
  ]
}
