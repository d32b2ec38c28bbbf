import type { BatteryDeviation } from '@heliograph/sdk'
import { formatMoney, sumAll } from '../../../ui/format.ts'

/** Planned hours, those that left the plan, and their cost; null when a part of it is unknown. */
export function deviationsOf(rows: readonly BatteryDeviation[]) {
  // Hours without an approved plan have no deviation.
  const planned = rows.filter(({ planned_soc_end_pct }) => planned_soc_end_pct !== null)
  const strayed = planned.filter(({ within_tolerance }) => !within_tolerance)
  return {
    planned,
    strayed,
    cost_amount: sumAll(strayed.map(({ cost_amount }) => cost_amount)),
    currency: strayed.find(({ currency }) => currency !== null)?.currency ?? null,
  }
}

export function summaryOf(rows: readonly BatteryDeviation[]): string {
  if (rows.length === 0) return 'No past hours with both a plan and measurements.'
  const { planned, strayed, cost_amount: cost, currency } = deviationsOf(rows)
  if (planned.length === 0) return 'No approved plan was in force so far.'
  if (strayed.length === 0) return `All ${planned.length} planned hours so far went as planned.`
  const money = cost === null ? '' : formatMoney(Math.abs(cost), currency)
  const words = cost === null ? '' : ` ${cost >= 0 ? 'Cost' : 'Gain'}: ${money}.`
  return `${strayed.length} of ${planned.length} planned hours deviated.${words}`
}
