import type { BatteryDeviation } from '@heliograph/sdk'
import { formatMoney } from '../../../ui/format.ts'

/** Hours without an approved plan deviate from nothing. */
export const isPlanned = ({ planned_soc_end_pct }: BatteryDeviation) => planned_soc_end_pct !== null

export function summaryOf(rows: readonly BatteryDeviation[]): string {
  if (rows.length === 0) return 'No hour of this day is over, or nothing was planned and measured.'
  const all = rows.filter(isPlanned)
  if (all.length === 0) return 'No approved plan was in force in the hours so far.'
  const strayed = all.filter(({ within_tolerance }) => !within_tolerance)
  if (strayed.length === 0) return `All ${all.length} planned hours so far were as planned.`
  const [first] = strayed
  const costs = strayed.map(({ cost_amount }) => cost_amount)
  const known = costs.every((cost) => cost !== null)
  const cost = costs.reduce<number>((sum, one) => sum + (one ?? 0), 0)
  const money = formatMoney(Math.abs(cost), first?.currency ?? null)
  const told = known ? ` That ${cost >= 0 ? 'cost' : 'earned'} ${money}.` : ''
  return `${strayed.length} of ${all.length} planned hours deviated.${told}`
}
