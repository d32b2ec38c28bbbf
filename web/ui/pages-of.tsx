import { Group, Pagination } from '@mantine/core'
import { Muted } from './muted.tsx'

/** Item count and page navigation of a list. */
export function PagesOf({
  count,
  limit,
  page,
  onPage,
  noun,
}: {
  count: number
  limit: number
  /** From 1. */
  page: number
  onPage: (page: number) => void
  noun: string
}) {
  const total = Math.max(1, Math.ceil(count / limit))
  return (
    <Group justify="space-between">
      <Muted>
        {count.toLocaleString('en')} {noun}
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
