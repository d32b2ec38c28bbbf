import type { InverterLosses } from '@heliograph/sdk'
import { sumKnown } from './sums.ts'

export const kinds = [
  { name: 'Downtime', of: (row: InverterLosses) => row.downtime_loss_kwh },
  { name: 'Curtailment', of: (row: InverterLosses) => row.curtailment_loss_kwh },
  { name: 'Clipping', of: (row: InverterLosses) => row.clipping_loss_kwh },
  { name: 'Derating', of: (row: InverterLosses) => row.derating_loss_kwh },
  { name: 'Conversion', of: (row: InverterLosses) => row.conversion_loss_kwh },
] as const

export interface Loss {
  name: string
  kwh: number | null
}

/**
 * By kind. What was expected by the light and is in none of them was lost before the inverters;
 * null where more came than was expected.
 */
export function lossesOf(
  inverters: readonly InverterLosses[],
  energy: { expected_kwh: number | null; delivered_kwh: number | null },
): Loss[] {
  const { expected_kwh, delivered_kwh } = energy
  const known = kinds.map(({ name, of }) => ({ name, kwh: sumKnown(inverters, of) }))
  if (expected_kwh === null || delivered_kwh === null) return known
  const told_kwh = known.reduce((sum, { kwh }) => sum + (kwh ?? 0), delivered_kwh)
  const rest_kwh = expected_kwh - told_kwh
  return [{ name: 'Strings, dirt, shade', kwh: rest_kwh > 0 ? rest_kwh : null }, ...known]
}
