/** Reads of the overview beside the live poll, each in few requests. */
import type { Overview, WorkOrder } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useMayRead, useRead } from '../../queries.ts'
import { periodOf } from '../../ui/periods.ts'
import { useMarketZone } from '../earnings/reads.ts'
import { type Bucket, useBuckets } from '../performance/energy/reads.ts'
import type { ShownDays } from './shown-days.ts'

type OfSite = Pick<Overview, 'site' | 'loggers'>

/** Revenue by market day, since the start of the month or the day before the shown one. */
export function useEarned({ site }: OfSite, { before, today }: ShownDays) {
  const may = useMayRead()('earnings:read')
  const timezone = useMarketZone(site, may)
  const month = periodOf('month', today).start_date
  const asked = { timezone, start: before < month ? before : month, end: today }
  const enabled = may && timezone !== undefined
  return useRead('earnings', 'earningsSummaryGet', asked, {
    enabled,
    refetchInterval: 60_000,
    staleTime: 30_000,
  })
}

/** Energy of a day by hour. */
export function useHours({ site, loggers }: OfSite, date: string, today: string): Bucket[] {
  const { data } = useBuckets({
    site_id: site.site_id,
    timezone: site.timezone,
    period: periodOf('day', date),
    today,
    plant_count: loggers.length,
  })
  return data ?? []
}

const is_over = new Set<WorkOrder['status']>(['completed', 'approved', 'cancelled'])
const page_size = 200

/** Work orders that are not completed, of the whole list. */
export const useOpenOrders = (site_id: string, enabled: boolean) =>
  useQuery({
    queryKey: ['work-orders', site_id, 'open'],
    enabled,
    staleTime: 60_000,
    refetchInterval: 60_000,
    queryFn: async ({ signal }) => {
      const open: WorkOrder[] = []
      for (let offset = 0, count = 1; offset < count; offset += page_size) {
        const asked = { site_id, limit: page_size, offset }
        const { data, meta } = await heliograph.workOrdersList(asked, { signal })
        open.push(...data.filter(({ status }) => !is_over.has(status)))
        count = meta.count
      }
      return open
    },
  })
