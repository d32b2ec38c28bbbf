/** Yields of a plant from those of its inverters. */

import type { Period } from '../period.ts'
import type { InverterSumsRow } from './inverter-sums.ts'
import { combined, type Yields, yieldsOf } from './yields.ts'

/** Combines the inverters with enough data; `completeness_pct` covers all inverters. */
export function plantYields(inverters: readonly InverterSumsRow[], period: Period): Yields {
  const of = (rows: readonly InverterSumsRow[]) => {
    const sums = combined(rows.map((row) => ({ ...row, sums: row })))
    return yieldsOf(sums, sums, period, rows.length)
  }
  const all = of(inverters)
  if (all.excluded_reason !== null) return all
  const known = inverters.filter((row) => yieldsOf(row, row, period, 1).excluded_reason === null)
  return { ...of(known), completeness_pct: all.completeness_pct }
}
