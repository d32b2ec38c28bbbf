import type { EarningsHour, Site } from '@heliograph/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useRead, useSite } from '../../queries.ts'
import { marketZone } from '../../ui/market-zone.ts'
import type { Period } from '../../ui/periods.ts'
import { daysFrom, isWithin, utcDays } from '../../ui/site-clock.ts'

interface Asked {
  period: Period
  /** Present day in that zone. */
  today: string
  /** Zone of the market days; undefined while loading. */
  timezone: string | undefined
}

const often = ({ period, today }: Asked) => (period.end_date >= today ? 60_000 : false)

/** Future days have no amounts yet. */
export function useEarnings(asked: Asked) {
  const { period, today, timezone } = asked
  const { start_date: start, end_date } = period
  const end = end_date < today ? end_date : today
  return useRead(
    'earnings',
    'earningsSummaryGet',
    { timezone, start, end },
    {
      enabled: timezone !== undefined,
      staleTime: 30_000,
      placeholderData: keepPreviousData,
      refetchInterval: often(asked),
    },
  )
}

/** Only for one day, because a month would have thousands of rows. */
export function useEarningsHours(asked: Asked) {
  const { site_id } = useSite()
  const { period, timezone } = asked
  return useQuery({
    queryKey: ['earnings', 'hours', site_id, period, timezone],
    queryFn: async ({ signal }): Promise<EarningsHour[]> => {
      const span = daysFrom(period.start_date, 1, timezone!)
      const days = utcDays(span)
      const query = { site_id, start: days[0]!, end: days.at(-1)! }
      const { data } = await heliograph.earningsHourlyList(query, { signal })
      return data.filter(({ start_at }) => isWithin(span, start_at))
    },
    enabled: period.kind === 'day' && timezone !== undefined,
    staleTime: 30_000,
    refetchInterval: often(asked),
  })
}

/** Undefined while loading. */
export function useMarketZone(site: Pick<Site, 'site_id' | 'timezone'>, is_asked = true) {
  const { site_id, timezone } = site
  const { data, isError } = useContracts({ site_id }, is_asked)
  if (data === undefined) return isError ? timezone : undefined
  return marketZone(data, timezone)
}

export const useContracts = (named: { site_id?: string } = {}, enabled = true) =>
  useRead('contracts', 'earningsMarketAssignmentsList', named, {
    select: ({ data }) => data,
    staleTime: 300_000,
    enabled,
  })

export const unknownWords = {
  no_contract: 'no contract',
  no_price: 'no market price',
  no_exchange_rate: 'no exchange rate',
  no_energy: 'energy not measured',
  not_yet: 'prices or readings pending',
} as const
