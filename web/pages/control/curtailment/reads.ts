import { useOverview, useRead } from '../../../queries.ts'
import type { Plant } from './limits.ts'
import { isChanging } from './rows.ts'

export const curtailmentKey = (site_id: string) => ['curtailment', site_id] as const

const changing_ms = 2000
const steady_ms = 15_000

/** Polls often while an order is being applied or released. */
export const useRows = (site_id: string, is_watched = false) =>
  useRead(
    'curtailment',
    'curtailmentList',
    { site_id },
    {
      refetchInterval: ({ state }) =>
        is_watched || state.data?.data.some(isChanging) ? changing_ms : steady_ms,
    },
  )

export const useHistory = (site_id: string, days: number) =>
  useRead('curtailment', 'curtailmentHistoryList', { site_id, days }, 60_000)

/** Plants in service; undefined while loading. */
export function usePlants(site_id: string): Plant[] | undefined {
  const { data } = useOverview(site_id)
  return data?.loggers.flatMap(({ logger_id, name, rated_power_kw, ac_power_kw, retired_at }) =>
    retired_at === null && rated_power_kw !== null
      ? [{ logger_id, name, rated_power_kw, power_kw: ac_power_kw }]
      : [],
  )
}
