/** Open alerts of all sites of the person. */
import type { Alert } from '@heliograph/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { askPlatform } from '../../api.ts'

const page_size = 100

export type SiteAlert = Alert & { site_id: string; site_name: string }

interface AlertsPage {
  data: SiteAlert[]
  meta: { count: number; next_cursor: string | null }
}

export const useOpenAlerts = (enabled = true) =>
  useInfiniteQuery({
    enabled,
    queryKey: ['open-alerts'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({ limit: String(page_size) })
      if (pageParam) query.set('cursor', pageParam)
      return askPlatform<AlertsPage>('GET', `/alerts?${query}`)
    },
    getNextPageParam: ({ meta }) => meta.next_cursor,
    refetchInterval: 30_000,
  })
