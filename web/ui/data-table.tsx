import {
  Button,
  Group,
  Pagination,
  Space,
  Stack,
  Table,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Problem } from './form.tsx'
import { inWords } from './format.ts'
import { loaded } from './lazy-chart.tsx'
import { Muted } from './page.tsx'
import { Answered, Empty } from './states.tsx'
import { type Column, filteredRows, isSortable, type Order, sortedRows } from './table-rows.ts'
import type { TableToolsProps } from './table-tools.tsx'
import { useFilters } from './use-filters.ts'

export type { Column }

const TableTools = loaded(
  () => import('./table-tools.tsx'),
  () => <Space h={40} />,
) as <Row>(props: TableToolsProps<Row>) => ReactNode

const columnWith =
  (look: Omit<Column<never>, 'name' | 'cell' | 'value'>) =>
  <Row,>(
    name: string,
    cell: Column<Row>['cell'],
    /** For cells whose text is not in their children. */
    value?: Column<Row>['value'],
  ): Column<Row> => ({ ...look, name, cell, ...(value && { value }) })

export const column = columnWith({})
export const wrapped = columnWith({ wraps: true })
export const wide = columnWith({ is_wide_only: true })

type Format<Row> = ((value: number | null | undefined, row: Row) => ReactNode) & { unit?: string }

/** With a format, the first function gives the number; without one, the cell. */
export function numeric<Row>(name: string, cell: Column<Row>['cell']): Column<Row>
export function numeric<Row>(
  name: string,
  value: (row: Row) => number | null | undefined,
  format: Format<Row>,
): Column<Row>
export function numeric<Row>(
  name: string,
  of: (row: Row) => ReactNode,
  format?: Format<Row>,
): Column<Row> {
  if (!format) return { name, cell: of, is_number: true }
  const value = of as (row: Row) => number | null | undefined
  return {
    name,
    cell: (row) => format(value(row), row),
    value,
    is_number: true,
    ...(format.unit && { unit: format.unit }),
  }
}

interface RowActionsProps<Name extends string> {
  names: readonly Name[]
  /** Name of the row, for screen readers. */
  of: string
  onAct: (name: Name) => void
}

/** Buttons in the last column of a table. */
export const RowActions = <Name extends string>({ names, of, onAct }: RowActionsProps<Name>) => (
  <Group gap="xs" wrap="nowrap" justify="flex-end">
    {names.map((name) => (
      <Button
        key={name}
        size="xs"
        variant="default"
        onClick={() => onAct(name)}
        aria-label={`${inWords(name)} ${of}`}
      >
        {inWords(name)}
      </Button>
    ))}
  </Group>
)

export interface DataTableProps<Row> {
  label: string
  /** The table scrolls sideways on screens that are narrower, px. */
  width: number
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** Field or function that identifies a row. */
  by: keyof Row | ((row: Row) => string | number)
  /** Title, or more, in place of a table without rows. */
  none?: ReactNode
  /** Rows of a page; all rows without it. */
  page_size?: number
  nouns?: Nouns
  /** False for a page of a longer list, whose order is that of the list. */
  sorts?: boolean
}

/** What tables of one kind of row share: name, width, key and columns. */
export const tableOf = <Row,>(
  label: string,
  width: number,
  by: DataTableProps<Row>['by'],
  columns: readonly Column<Row>[],
) => ({ label, width, by, columns })

/** Shorter tables are seen at a glance. */
const rows_with_tools_min = 8

/** A table that sorts by its heads; a long one filters, hides columns and is saved as CSV. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, none, page_size, nouns = ['row', 'rows'], sorts = true } = props
  const [order, setOrder] = useState<Order | null>(null)
  const [filter, setFilter] = useState('')
  const [hidden, setHidden] = useState<readonly string[]>([])
  const [page, setPage] = useState(1)
  if (none && rows.length === 0) return typeof none === 'string' ? <Empty title={none} /> : none
  const shown = columns.filter(({ name }) => !hidden.includes(name))
  const found = sortedRows(filteredRows(rows, columns, filter), columns, order)
  const limit = page_size ?? Math.max(1, found.length)
  const last_page = Math.max(1, Math.ceil(found.length / limit))
  const start = (Math.min(page, last_page) - 1) * limit
  const table = (
    <Rows
      {...props}
      columns={shown}
      rows={found.slice(start, start + limit)}
      order={order}
      onOrder={sorts ? setOrder : undefined}
      isSortable={(column) => sorts && isSortable(column, rows)}
    />
  )
  return (
    <Stack gap="xs">
      {sorts && rows.length >= rows_with_tools_min && (
        <TableTools
          label={label}
          columns={columns}
          hidden={hidden}
          filter={filter}
          onHidden={setHidden}
          onFilter={setFilter}
          shown={{ columns: shown, rows: found }}
        />
      )}
      {table}
      {page_size !== undefined && (
        <PagesOf
          count={found.length}
          limit={limit}
          nouns={nouns}
          page={Math.min(page, last_page)}
          onPage={setPage}
        />
      )}
    </Stack>
  )
}

interface RowsProps<Row> extends DataTableProps<Row> {
  order: Order | null
  onOrder: ((order: Order | null) => void) | undefined
  isSortable: (column: Column<Row>) => boolean
}

/** The scrolling region is reachable by keyboard. */
function Rows<Row>({
  label,
  width,
  columns,
  rows,
  by,
  order,
  onOrder,
  isSortable,
}: RowsProps<Row>) {
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
            {columns.map((column) => (
              <Head
                key={column.name}
                column={column}
                order={order}
                onOrder={isSortable(column) ? onOrder : undefined}
              />
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

interface HeadProps<Row> {
  column: Column<Row>
  order: Order | null
  onOrder: ((order: Order | null) => void) | undefined
}

/** Up, down, and back to the given order. */
function Head<Row>({ column, order, onOrder }: HeadProps<Row>) {
  const { name, is_number, is_wide_only } = column
  const own = order?.name === name ? order : null
  const next =
    own === null ? { name, is_down: false } : own.is_down ? null : { name, is_down: true }
  const sort = own && (own.is_down ? 'descending' : 'ascending')
  return (
    <Table.Th
      pos="relative"
      ta={is_number ? 'right' : 'left'}
      visibleFrom={is_wide_only && 'sm'}
      {...(sort && { 'aria-sort': sort })}
    >
      {onOrder ? (
        <UnstyledButton fz="inherit" fw="inherit" onClick={() => onOrder(next)}>
          {name}
          {own && <span aria-hidden className={own.is_down ? 'sorted-down' : 'sorted-up'} />}
        </UnstyledButton>
      ) : (
        name || <VisuallyHidden>Actions</VisuallyHidden>
      )}
    </Table.Th>
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

interface EarlierItemsProps {
  list: {
    data: unknown
    error: unknown
    hasNextPage: boolean
    isFetchingNextPage: boolean
    fetchNextPage: () => unknown
  }
  noun: string
}

/** Below a list that is read by request. */
export const EarlierItems = ({ list, noun }: EarlierItemsProps) => (
  <>
    <Problem error={list.data ? list.error : null} />
    {list.hasNextPage && (
      <Button
        variant="default"
        loading={list.isFetchingNextPage}
        onClick={() => void list.fetchNextPage()}
      >
        Load earlier {noun}
      </Button>
    )}
  </>
)

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
            count={count}
            limit={list_limit}
            page={page}
            nouns={nouns}
            onPage={(next) => filters.set({ page: next === 1 ? null : String(next) })}
          />
        </Stack>
      )}
    </Answered>
  )
}
