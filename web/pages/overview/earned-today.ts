import type { EarningsSummary } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'

/** What a site earned since midnight UTC, as far as it is summed up. */
export const useEarnedToday = (site_id: string, is_asked = true) =>
  useQuery({
    queryKey: ['earnings-today', site_id],
    queryFn: ({ signal }) => {
      const today = new Date().toISOString().slice(0, 10)
      return heliograph.earningsSummaryGet({ site_id, start: today, end: today }, { signal })
    },
    refetchInterval: 60_000,
    enabled: is_asked,
  })

/** All of it, else what is known of it. */
export const netOf = (earned: EarningsSummary | undefined) =>
  earned?.net_amount ?? earned?.known?.net_amount
