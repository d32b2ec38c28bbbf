/**
 * What batteries may be told to discharge whose PCS have no timer. Where the edge falls silent they
 * go on with that, beside inverters that fall back to their shares of the permit: so both together
 * are never more than is permitted. Whole watts.
 */

import { waterFill } from '../control/core/core.ts'
import type { Permit } from '../control/permit-terms.ts'

/** A battery of which a PCS has no timer. */
export interface StandingUnit {
  bess_id: number
  /** null: it feeds in at the common connection alone. */
  logger_id: number | null
  /** The most that it is ever told; what its plant falls back to leaves that. */
  reserve_w: number
}

/**
 * Of each connection, what all others leave of the permit where the edge falls silent. Rows do not
 * count: when nobody writes they are over.
 *
 * @param taken_w by others; by plant, or null: at the common connection
 * @returns by bess_id
 */
export function standingRoom(
  permit: Permit | null,
  units: readonly StandingUnit[],
  taken_w: (logger_id: number | null) => number,
): ReadonlyMap<number, number> {
  const most = new Map(units.map(({ bess_id }) => [bess_id, Number.POSITIVE_INFINITY]))
  for (const key of new Set([null, ...units.map(({ logger_id }) => logger_id)])) {
    const permit_w = key === null ? permit?.site_w : permit?.plant_w.get(key)
    if (permit_w == null) continue
    const within = units.filter(({ logger_id }) => key === null || logger_id === key)
    const parts = within.map(({ reserve_w }) => ({ weight: reserve_w, max_w: reserve_w }))
    const shares_w = waterFill(permit_w - taken_w(key), parts)
    within.forEach(({ bess_id }, nth) => {
      most.set(bess_id, Math.min(most.get(bess_id)!, shares_w[nth]!))
    })
  }
  return most
}
