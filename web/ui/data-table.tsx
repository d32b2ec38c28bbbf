import { Group, Pagination, Stack, Table, VisuallyHidden } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Muted } from './page.tsx'
import { Answered, Empty } from './states.tsx'
import { useFilters } from './use-filters.ts'

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

const columnWith =
  (look: Omit<Column<never>, 'name' | 'cell'>) =>
  <Row,>(name: string, cell: Column<Row>['cell']): Column<Row> => ({ ...look, name, cell })

export const column = columnWith({})
export const numeric = columnWith({ is_number: true })
export const wrapped = columnWith({ wraps: true })
export const wide = columnWith({ is_wide_only: true })

interface DataTableProps<Row> {
  label: string
  /** The table scrolls sideways on screens that are narrower, px. */
  width: number
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** Field or function that identifies a row. */
  by: keyof Row | ((row: Row) => string | number)
  /** Title, or more, in place of a table without rows. */
  none?: ReactNode
}

/** What tables of one kind of row share: name, width, key and columns. */
export const tableOf = <Row,>(
  label: string,
  width: number,
  by: DataTableProps<Row>['by'],
  columns: readonly Column<Row>[],
) => ({ label, width, by, columns })

/** A table of rows; its scrolling region is reachable by keyboard. */
export function DataTable<Row>({ label, width, columns, rows, by, none }: DataTableProps<Row>) {
  if (none && rows.length === 0) return typeof none === 'string' ? <Empty title={none} /> : none
  const keyOf = (row: Row) => (typeof by === 'function' ? by(row) : String(row[by]))
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

type Nouns = readonly [one: string, many: string]

interface PagesOfProps {
  count: number
  limit: number
  /** From 1. */
  page: number
  onPage: (page: number) => void
  nouns: Nouns
}

export function PagesOf({ count, limit, page, onPage, nouns: [one, many] }: PagesOfProps) {
  const total = Math.max(1, Math.ceil(count / limit))
  return (
    <Group justify="space-between">
      <Muted>
        {count.toLocaleString('en')} {count === 1 ? one : many}
      </Muted>
      {total > 1 && (
        <Pagination
          total={total}
          value={page}
          onChange={onPage}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        />
      )}
    </Group>
  )
}

export interface PagedTableProps<Row> extends DataTableProps<Row> {
  page_size: number
  nouns: Nouns
}

/** A table of rows that are all read already, page by page. */
export function PagedTable<Row>({ page_size, nouns, ...table }: PagedTableProps<Row>) {
  const [page, setPage] = useState(1)
  const { rows } = table
  if (rows.length === 0) return <DataTable {...table} />
  const start = (page - 1) * page_size
  return (
    <Stack>
      <DataTable {...table} rows={rows.slice(start, start + page_size)} />
      <PagesOf {...{ count: rows.length, limit: page_size, page, onPage: setPage, nouns }} />
    </Stack>
  )
}

interface Span {
  offset: number
  limit: number
}

interface Listed<Item> {
  data: Item[]
  meta: { count: number }
}

/**
 * Reads a page with the newest item first, of a list that the API returns with the oldest first:
 * the first page is the end of the list.
 */
async function readNewestFirst<Item>(read: (part: Span) => Promise<Listed<Item>>, page: number) {
  const { meta } = await read({ offset: 0, limit: 1 })
  const end = meta.count - (page - 1) * list_limit
  if (end <= 0) return { data: [], count: meta.count }
  const offset = Math.max(0, end - list_limit)
  const answer = await read({ offset, limit: end - offset })
  return { data: answer.data.toReversed(), count: answer.meta.count }
}

const list_limit = 25

interface NewestListProps<Item> {
  /** Start of the query key. */
  key_parts: readonly string[]
  asked: Readonly<Record<string, unknown>>
  read: (part: Span, signal: AbortSignal) => Promise<Listed<Item>>
  nouns: Nouns
  /** Shown when the list is empty without filters. */
  none: ReactNode
  children: (items: readonly Item[]) => ReactNode
}

export function NewestList<Item>(props: NewestListProps<Item>) {
  const { key_parts, asked, read, nouns, none, children } = props
  const filters = useFilters()
  const page = filters.number('page') ?? 1
  const query = useQuery({
    queryKey: [...key_parts, asked, page],
    queryFn: ({ signal }) => readNewestFirst((part) => read(part, signal), page),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  const is_filtered = Object.values(asked).some((value) => value !== undefined)
  return (
    <Answered query={query}>
      {({ data, count }) => (
        <Stack>
          {data.length > 0 && children(data)}
          {data.length === 0 &&
            (is_filtered ? <Empty title={`No ${nouns[1]} match the filters`} /> : none)}
          <PagesOf
            {...{ count, limit: list_limit, page, nouns }}
            onPage={(next) => filters.set({ page: next === 1 ? null : String(next) })}
          />
        </Stack>
      )}
    </Answered>
  )
}
