import type { SeriesMeta } from '@heliograph/sdk'
import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { PagesOf } from '../../../ui/pages-of.tsx'
import { Empty } from '../../../ui/states.tsx'

const limit = 25

/** The newest rows of a log that are read at once. */
export const log_rows = 1000

interface LogTableProps<Row> {
  label: string
  /** As the API gives it: the oldest first. */
  log: { data: readonly Row[]; meta: SeriesMeta }
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => number
  nouns: readonly [one: string, many: string]
  none: string
}

/** The newest first, page by page. */
export function LogTable<Row>({ log, label, columns, keyOf, nouns, none }: LogTableProps<Row>) {
  const [page, setPage] = useState(1)
  const { data, meta } = log
  if (data.length === 0) return <Empty title={none} />
  const rows = data.toReversed().slice((page - 1) * limit, page * limit)
  return (
    <Stack>
      <DataTable {...{ label, columns, rows, keyOf }} width={860} />
      <PagesOf
        {...{ count: data.length, limit, page, onPage: setPage }}
        noun={nouns[data.length === 1 ? 0 : 1]}
      />
      {meta.truncated && (
        <Text size="sm" c="dimmed">
          These are the newest {formatNumber(data.length, 0)} of {formatNumber(meta.count, 0)}. The
          API has them all, as a file, too.
        </Text>
      )}
    </Stack>
  )
}
