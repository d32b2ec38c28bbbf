import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { useOverview } from '../../../queries.ts'
import type { Plant } from './limits.ts'
import { isMoving } from './rows.ts'

export const curtailmentKey = (site_id: string) => ['curtailment', site_id] as const

const moving_ms = 2000
const resting_ms = 15_000

/** Often while something is under way. */
export const useRows = (site_id: string, is_watched = false) =>
  useQuery({
    queryKey: [...curtailmentKey(site_id), 'rows'],
    queryFn: ({ signal }) => heliograph.curtailmentList({ site_id }, { signal }),
    refetchInterval: ({ state }) =>
      is_watched || state.data?.data.some(isMoving) ? moving_ms : resting_ms,
  })

export const useHistory = (site_id: string, days: number) =>
  useQuery({
    queryKey: [...curtailmentKey(site_id), 'history', days],
    queryFn: ({ signal }) => heliograph.curtailmentHistoryList({ site_id, days }, { signal }),
    refetchInterval: 60_000,
  })

/** The plants in service that a command limits; undefined until they are known. */
export function usePlants(site_id: string): Plant[] | undefined {
  const { data } = useOverview(site_id)
  return data?.loggers.flatMap(({ logger_id, name, rated_power_kw, ac_power_kw, retired_at }) =>
    retired_at === null && rated_power_kw !== null
      ? [{ logger_id, name, rated_power_kw, power_kw: ac_power_kw }]
      : [],
  )
}
