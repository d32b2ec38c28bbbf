/** Open alerts of all sites of the person. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { askPlatform } from '../../api.ts'
import type { SiteAlertList } from '../../generated/platform.ts'

const page_size = 100

export const useOpenAlerts = (enabled = true) =>
  useInfiniteQuery({
    enabled,
    queryKey: ['open-alerts'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({ limit: String(page_size) })
      if (pageParam) query.set('cursor', pageParam)
      return askPlatform<SiteAlertList>('GET', `/alerts?${query}`)
    },
    getNextPageParam: ({ meta }) => meta.next_cursor,
    refetchInterval: 30_000,
  })
