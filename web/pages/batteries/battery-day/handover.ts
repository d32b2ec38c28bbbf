/** Effect of an approval on the plan of the next day, which starts at the end of this one. */
import type { BessSchedule } from '@heliograph/sdk'

/** Includes failed plans: the edge retries until the day ends. */
export const isInForce = ({ status }: Pick<BessSchedule, 'status'>) =>
  status === 'approved' || status === 'dispatching' || status === 'failed'

/** Smaller differences are within the accuracy of day-ahead forecasts, % of charge. */
const tolerated_pct = 1

/** Approved plan of the next day whose initial charge differs from the end of this plan. */
export function handoverOf(
  { hours }: Pick<BessSchedule, 'hours'>,
  next_day: readonly BessSchedule[],
): { schedule_id: number; target_date: string; needs_pct: number; ends_pct: number } | null {
  const ends_pct = hours.at(-1)?.soc_end_pct ?? null
  const next = next_day.find(isInForce)
  if (ends_pct === null || next === undefined) return null
  const { schedule_id, target_date } = next
  const needs_pct = next.inputs.soc_start_pct
  if (needs_pct === null || Math.abs(needs_pct - ends_pct) <= tolerated_pct) return null
  return { schedule_id, target_date, needs_pct, ends_pct }
}
