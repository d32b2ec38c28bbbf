import { useQuery } from '@tanstack/react-query'
import { askPlatform } from '../../../api.ts'
import type { PlatformCurtailmentWarnings } from '../../../generated/platform.ts'
import { useOverview, useRead, useSite } from '../../../queries.ts'
import type { Span } from '../../../ui/site-clock.ts'
import type { Plant } from './limits.ts'
import type { RequestedLimit } from './requested-limit.ts'
import { isChanging } from './rows.ts'

const changing_ms = 2000
const steady_ms = 15_000

/** Polls often while an order is being applied or released. */
export const useRows = (is_watched = false) =>
  useRead(
    'curtailment',
    'curtailmentList',
    {},
    {
      refetchInterval: ({ state }) =>
        is_watched || state.data?.data.some(isChanging) ? changing_ms : steady_ms,
    },
  )

export const useHistory = (days: number) =>
  useRead('curtailment', 'curtailmentHistoryList', { days }, 60_000)

/** Plants in service; undefined while loading. */
export const usePlants = (): Plant[] | undefined =>
  useOverview().data?.loggers.flatMap((plant) => {
    const { logger_id, name, rated_power_kw, ac_power_kw, retired_at } = plant
    if (retired_at !== null || rated_power_kw === null) return []
    return [{ logger_id, name, rated_power_kw, power_kw: ac_power_kw }]
  })

/** Warnings that a limit would have if it was created now. */
export function useWarnings({ where, limit_mode, limit_value }: RequestedLimit, span: Span) {
  const { site_id } = useSite()
  const query = new URLSearchParams({
    site_id,
    ...(where === 'site' ? { scope: 'site' } : { scope: 'logger', logger_id: where }),
    limit_mode,
    limit_value: String(limit_value),
    start_at: new Date(span.start_ms).toISOString(),
    end_at: new Date(span.end_ms).toISOString(),
  }).toString()
  return useQuery({
    queryKey: ['curtailment', site_id, 'warnings', query],
    queryFn: () =>
      askPlatform<PlatformCurtailmentWarnings>('GET', `/curtailment/warnings?${query}`),
  })
}
