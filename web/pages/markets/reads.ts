import type { MarketPrice } from '@heliograph/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useRead } from '../../queries.ts'
import type { Span } from '../../ui/site-day.ts'
import { isWithin, utcDays } from '../../ui/site-days.ts'

export const useMarkets = (site_id: string) =>
  useRead(
    'markets',
    'marketsList',
    { site_id },
    { select: ({ data }) => data, staleTime: 60_000, refetchInterval: 60_000 },
  )

interface PricesAsked {
  site_id: string
  market_code: string
  span: Span
}

/** Prices of a span across UTC days. */
export const usePrices = ({ site_id, market_code, span }: PricesAsked) =>
  useQuery({
    queryKey: ['markets', 'prices', site_id, market_code, span],
    queryFn: async ({ signal }): Promise<MarketPrice[]> => {
      const days = await Promise.all(
        utcDays(span).map((target_date) =>
          heliograph.marketPricesList({ site_id, market_code, target_date }, { signal }),
        ),
      )
      return days.flatMap(({ data }) => data).filter(({ start_at }) => isWithin(span, start_at))
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })

export const useComparison = (site_id: string, target_date: string) =>
  useRead(
    'markets',
    'marketsCompare',
    { site_id, target_date },
    { staleTime: 60_000, placeholderData: keepPreviousData, refetchInterval: 60_000 },
  )
