import { Stack, Table, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { PagesOf } from './pages-of.tsx'

export interface Column<Row> {
  /** Empty for a column of buttons. */
  name: string
  cell: (row: Row) => ReactNode
  /** Aligned at the right. */
  is_number?: true
  /** Long texts: wrapped, and never narrower than 16rem. */
  wraps?: true
  /** Hidden on a phone, where another column has the value. */
  is_wide_only?: true
}

export const numeric = <Row,>(name: string, cell: (row: Row) => ReactNode): Column<Row> => ({
  name,
  cell,
  is_number: true,
})

interface DataTableProps<Row> {
  /** For screen readers. */
  label: string
  /** The table scrolls sideways on screens that are narrower, px. */
  width: number
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
}

/** A table of rows; its scrolling region is reachable by keyboard. */
export function DataTable<Row>({ label, width, columns, rows, keyOf }: DataTableProps<Row>) {
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
                pos="relative"
                ta={is_number ? 'right' : 'left'}
                visibleFrom={is_wide_only && 'sm'}
              >
                {name || <VisuallyHidden>Actions</VisuallyHidden>}
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

interface PagedTableProps<Row> extends DataTableProps<Row> {
  page_size: number
  nouns: readonly [one: string, many: string]
}

/** A table of rows that are all read already, page by page. */
export function PagedTable<Row>({ page_size, nouns, rows, ...table }: PagedTableProps<Row>) {
  const [page, setPage] = useState(1)
  const start = (page - 1) * page_size
  return (
    <Stack>
      <DataTable {...table} rows={rows.slice(start, start + page_size)} />
      <PagesOf
        {...{ count: rows.length, limit: page_size, page, onPage: setPage }}
        noun={nouns[rows.length === 1 ? 0 : 1]}
      />
    </Stack>
  )
}
