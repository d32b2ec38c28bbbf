import type { SeriesMeta } from '@heliograph/sdk'
import { Stack } from '@mantine/core'
import { type Column, PagedTable } from '../../../ui/data-table.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Empty } from '../../../ui/states.tsx'

/** The newest rows of a log that are read at once. */
export const log_rows = 1000

interface LogTableProps<Row> {
  label: string
  /** In the order of the API: the oldest row first. */
  log: { data: readonly Row[]; meta: SeriesMeta }
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => number
  nouns: readonly [one: string, many: string]
  none: string
}

/** The newest row first, page by page. */
export function LogTable<Row>({ log, none, ...table }: LogTableProps<Row>) {
  const { data, meta } = log
  if (data.length === 0) return <Empty title={none} />
  return (
    <Stack>
      <PagedTable {...table} rows={data.toReversed()} width={860} page_size={25} />
      {meta.truncated && (
        <Muted>
          The newest {formatNumber(data.length, 0)} of {formatNumber(meta.count, 0)} rows. The API
          returns all of them, also as a file.
        </Muted>
      )}
    </Stack>
  )
}
