import type { BatteryDeviation } from '@heliograph/sdk'
import { formatMoney } from '../../../ui/format.ts'

/** Hours without an approved plan have no deviation. */
export const isPlanned = ({ planned_soc_end_pct }: BatteryDeviation) => planned_soc_end_pct !== null

export function summaryOf(rows: readonly BatteryDeviation[]): string {
  if (rows.length === 0) return 'No past hours with both a plan and measurements.'
  const all = rows.filter(isPlanned)
  if (all.length === 0) return 'No approved plan was in force so far.'
  const strayed = all.filter(({ within_tolerance }) => !within_tolerance)
  if (strayed.length === 0) return `All ${all.length} planned hours so far went as planned.`
  const [first] = strayed
  const costs = strayed.map(({ cost_amount }) => cost_amount)
  const known = costs.every((cost) => cost !== null)
  const cost = costs.reduce<number>((sum, one) => sum + (one ?? 0), 0)
  const money = formatMoney(Math.abs(cost), first?.currency ?? null)
  const told = known ? ` ${cost >= 0 ? 'Cost' : 'Gain'}: ${money}.` : ''
  return `${strayed.length} of ${all.length} planned hours deviated.${told}`
}
