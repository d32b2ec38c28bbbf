import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ReactNode
  /** A number: they stand one below the other at the right. */
  is_number?: true
  /** A text that may be long. */
  wraps?: true
}

/** Rows in columns; scrolls sideways where it is wider than the page, by keyboard, too. */
export function DataTable<Row>({
  label,
  width,
  columns,
  rows,
  keyOf,
}: {
  /** What it lists, for who does not see it. */
  label: string
  /** Below it the table scrolls, px. */
  width: number
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
}) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={width}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <Table highlightOnHover verticalSpacing={6} className="figure">
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, is_number }) => (
              <Table.Th key={name} ta={is_number ? 'right' : 'left'}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(({ name, cell, is_number, wraps }) => (
                <Table.Td
                  key={name}
                  ta={is_number ? 'right' : 'left'}
                  style={{ whiteSpace: wraps ? 'normal' : 'nowrap' }}
                >
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
