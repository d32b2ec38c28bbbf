import { useOverview, useRead } from '../../../queries.ts'
import type { Plant } from './limits.ts'
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
