import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { shareOf } from './sentence.ts'

/** Energy of today in percent of what the sun allowed so far; null where it is not known. */
export function useShareToday(site_id: string): number | null {
  const { data } = useQuery({
    queryKey: ['plant-summary', site_id],
    queryFn: ({ signal }) => heliograph.plantSummaryList({ site_id }, { signal }),
    refetchInterval: 60_000,
  })
  const { energy_kwh, expected_energy_kwh } = data?.meta.totals ?? {}
  return shareOf(energy_kwh, expected_energy_kwh)
}
