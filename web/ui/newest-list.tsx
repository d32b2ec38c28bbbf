import { Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Answer, type Part, readNewestFirst } from './newest-first.ts'
import { PagesOf } from './pages-of.tsx'
import { Answered, Empty } from './states.tsx'
import { useFilters } from './use-filters.ts'

const limit = 25

interface NewestListProps<Item> {
  /** Start of the query key. */
  key_parts: readonly string[]
  /** Filters; undefined ones are not set. */
  asked: Readonly<Record<string, unknown>>
  read: (part: Part, signal: AbortSignal) => Promise<Answer<Item>>
  nouns: readonly [one: string, many: string]
  /** Shown when the list is empty without filters. */
  none: ReactNode
  children: (items: readonly Item[]) => ReactNode
}

/** A filtered list, read page by page with the newest item first. */
export function NewestList<Item>(props: NewestListProps<Item>) {
  const { key_parts, asked, read, nouns, none, children } = props
  const filters = useFilters()
  const page = filters.number('page') ?? 1
  const query = useQuery({
    queryKey: [...key_parts, asked, page],
    queryFn: ({ signal }) => readNewestFirst((part) => read(part, signal), { page, limit }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  const is_filtered = Object.values(asked).some((value) => value !== undefined)
  const [one, many] = nouns
  return (
    <Answered query={query}>
      {({ data, count }) => (
        <Stack>
          {data.length > 0 && children(data)}
          {data.length === 0 &&
            (is_filtered ? <Empty title={`No ${many} match the filters`} /> : none)}
          <PagesOf
            {...{ count, limit, page }}
            noun={count === 1 ? one : many}
            onPage={(next) => filters.set({ page: next === 1 ? null : String(next) })}
          />
        </Stack>
      )}
    </Answered>
  )
}
