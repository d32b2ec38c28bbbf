import type { EarningsHour, Site } from '@heliograph/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useRead } from '../../queries.ts'
import { marketZone } from '../../ui/market-zone.ts'
import type { Period } from '../../ui/periods.ts'
import { daysFrom } from '../../ui/site-day.ts'
import { isWithin, utcDays } from '../../ui/site-days.ts'

interface Asked {
  site_id: string
  period: Period
  /** Present day in that zone. */
  today: string
  /** Zone of the market days; undefined while loading. */
  timezone: string | undefined
}

/** Future days have no amounts yet. */
const windowOf = ({ period, today }: Asked) => ({
  start: period.start_date,
  end: period.end_date < today ? period.end_date : today,
})

const often = ({ period, today }: Asked) => (period.end_date >= today ? 60_000 : false)

export const useEarnings = (asked: Asked) =>
  useRead(
    'earnings',
    'earningsSummaryGet',
    { site_id: asked.site_id, timezone: asked.timezone, ...windowOf(asked) },
    {
      enabled: asked.timezone !== undefined,
      staleTime: 30_000,
      placeholderData: keepPreviousData,
      refetchInterval: often(asked),
    },
  )

/** Only for one day, because a month would have thousands of rows. */
export const useEarningsHours = (asked: Asked) =>
  useQuery({
    queryKey: ['earnings', 'hours', asked.site_id, asked.period, asked.timezone],
    queryFn: async ({ signal }): Promise<EarningsHour[]> => {
      const span = daysFrom(asked.period.start_date, 1, asked.timezone!)
      const days = utcDays(span)
      const query = { site_id: asked.site_id, start: days[0]!, end: days.at(-1)! }
      const { data } = await heliograph.earningsHourlyList(query, { signal })
      return data.filter(({ start_at }) => isWithin(span, start_at))
    },
    enabled: asked.period.kind === 'day' && asked.timezone !== undefined,
    staleTime: 30_000,
    refetchInterval: often(asked),
  })

/** Undefined while loading. */
export function useMarketZone(
  { site_id, timezone }: Pick<Site, 'site_id' | 'timezone'>,
  is_asked = true,
): string | undefined {
  const { data, isError } = useContracts(site_id, is_asked)
  if (data === undefined) return isError ? timezone : undefined
  return marketZone(data, timezone)
}

export const useContracts = (site_id: string, is_asked = true) =>
  useRead(
    'contracts',
    'earningsMarketAssignmentsList',
    { site_id },
    { select: ({ data }) => data, staleTime: 300_000, enabled: is_asked },
  )

export const unknownWords = {
  no_contract: 'no contract',
  no_price: 'no market price',
  no_exchange_rate: 'no exchange rate',
  no_energy: 'energy not measured',
  not_yet: 'prices or readings pending',
} as const
