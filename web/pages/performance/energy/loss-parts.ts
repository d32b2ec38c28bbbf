import type { InverterLosses } from '@heliograph/sdk'
import { sumKnown } from '../../../ui/format.ts'

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
 * Losses by kind. Expected energy that no kind explains was lost before the inverters; null when
 * more was delivered than expected.
 */
export function lossesOf(
  inverters: readonly InverterLosses[],
  energy: { expected_kwh: number | null; delivered_kwh: number | null },
): Loss[] {
  const { expected_kwh, delivered_kwh } = energy
  const known = kinds.map(({ name, of }) => ({ name, kwh: sumKnown(inverters, of) }))
  if (expected_kwh === null || delivered_kwh === null) return known
  const explained_kwh = known.reduce((sum, { kwh }) => sum + (kwh ?? 0), delivered_kwh)
  const rest_kwh = expected_kwh - explained_kwh
  return [{ name: 'Strings, soiling, shading', kwh: rest_kwh > 0 ? rest_kwh : null }, ...known]
}
