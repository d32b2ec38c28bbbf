import type { EarningsHour, EarningsSummary, MarketAssignment } from '@heliograph/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import type { Period } from '../../ui/periods.ts'

interface Asked {
  site_id: string
  period: Period
  /** The day of now, UTC: money is counted by UTC days. */
  today: string
}

/** Days to come have no money yet. */
const windowOf = ({ period, today }: Asked) => ({
  start: period.start_date,
  end: period.end_date < today ? period.end_date : today,
})

const often = ({ period, today }: Asked) => (period.end_date >= today ? 60_000 : false)

export const useEarnings = (asked: Asked) =>
  useQuery({
    queryKey: ['earnings', asked.site_id, asked.period, asked.today],
    queryFn: ({ signal }): Promise<EarningsSummary> =>
      heliograph.earningsSummaryGet({ site_id: asked.site_id, ...windowOf(asked) }, { signal }),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    refetchInterval: often(asked),
  })

/** Only of a day: of a month it would be thousands. */
export const useEarningsHours = (asked: Asked) =>
  useQuery({
    queryKey: ['earnings', 'hours', asked.site_id, asked.period],
    queryFn: async ({ signal }): Promise<EarningsHour[]> => {
      const query = { site_id: asked.site_id, ...windowOf(asked) }
      return (await heliograph.earningsHourlyList(query, { signal })).data
    },
    enabled: asked.period.kind === 'day',
    staleTime: 30_000,
    refetchInterval: often(asked),
  })

export const useContracts = (site_id: string) =>
  useQuery({
    queryKey: ['earnings', 'contracts', site_id],
    queryFn: async ({ signal }): Promise<MarketAssignment[]> =>
      (await heliograph.earningsMarketAssignmentsList({ site_id }, { signal })).data,
    staleTime: 300_000,
  })

export const unknownWords = {
  no_contract: 'no contract then',
  no_price: 'no market price',
  no_exchange_rate: 'no exchange rate',
  no_energy: 'energy not measured',
  not_yet: 'not yet: prices or readings are still to come',
} as const
