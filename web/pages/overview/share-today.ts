import { useRead } from '../../queries.ts'
import { shareOf } from './sentence.ts'

/** Energy of today, % of the expected energy so far; null when unknown. */
export function useShareToday(site_id: string): number | null {
  const { data } = useRead('plant-summary', 'plantSummaryList', { site_id }, 60_000)
  const { energy_kwh, expected_energy_kwh } = data?.meta.totals ?? {}
  return shareOf(energy_kwh, expected_energy_kwh)
}
