/** What the approval of a plan does to that of the next day, which begins where this one ends. */
import type { BessSchedule } from '@heliograph/sdk'

/** Of a day that is not over: the edge goes on trying what failed until then. */
export const isInForce = ({ status }: Pick<BessSchedule, 'status'>) =>
  status === 'approved' || status === 'dispatching' || status === 'failed'

/** Smaller differences of charge are within what forecasts of a day are good for, %. */
const tolerated_pct = 1

/** The approved plan of the next day that this one leaves too little or too much charge for. */
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
