import type { EarningsSummary, Site } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { dayAt } from '../../ui/site-clock.ts'
import { useMarketZone } from '../earnings/reads.ts'

/** Revenue of the present market day. */
export function useEarnedToday(site: Pick<Site, 'site_id' | 'timezone'>, is_asked = true) {
  const { site_id } = site
  const timezone = useMarketZone(site, is_asked)
  return useQuery({
    queryKey: ['earnings-today', site_id, timezone],
    queryFn: ({ signal }) => {
      const today = dayAt(Date.now(), timezone!)
      const asked = { site_id, timezone, start: today, end: today }
      return heliograph.earningsSummaryGet(asked, { signal })
    },
    refetchInterval: 60_000,
    enabled: is_asked && timezone !== undefined,
  })
}

/** Net amount, or its known part while it is incomplete. */
export const netOf = (earned: EarningsSummary | undefined) =>
  earned?.net_amount ?? earned?.known?.net_amount
