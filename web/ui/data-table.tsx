import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ReactNode
  /** A number: they stand one below the other at the right. */
  is_number?: true
  /** A text that may be long. */
  wraps?: true
  /** Left out on a phone, where another column says it. */
  is_wide_only?: true
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
      className="scrolls"
    >
      <Table highlightOnHover verticalSpacing={6} className="figure">
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, is_number, is_wide_only }) => (
              <Table.Th
                key={name}
                ta={is_number ? 'right' : 'left'}
                visibleFrom={is_wide_only && 'sm'}
              >
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(({ name, cell, is_number, wraps, is_wide_only }) => (
                <Table.Td
                  key={name}
                  ta={is_number ? 'right' : 'left'}
                  visibleFrom={is_wide_only && 'sm'}
                  miw={wraps && 'min(16rem, 55vw)'}
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
