/**
 * What batteries may be told to discharge whose PCS have no timer. Where the edge falls silent they
 * go on with that, beside inverters that fall back to their shares of the permit: so both together
 * are never more than is permitted. Whole watts.
 */
import type { JointCeilings } from '../control/battery-shares.ts'
import { waterFill } from '../control/share.ts'

/** A battery of which a PCS has no timer. */
export interface StandingUnit {
  bess_id: number
  /** null: it feeds in at the common connection alone. */
  logger_id: number | null
  /** The most that it is ever told; what its plant falls back to leaves that. */
  reserve_w: number
  /** Of that, what it may hold and cannot be told anything else. */
  fixed_w: number
}

/**
 * Of each connection, what the fall-back of its inverters, as they are armed now, leaves of the
 * permit. One that was not armed yet, or not as it should be, is taken to fall back to all that it
 * can. Rows and batteries with a timer do not count: when nobody writes they are over.
 *
 * @param left_w of PCS that left site.yaml, by plant; null: all of them
 * @returns by bess_id
 */
export function standingRoom(
  { permit, plants }: JointCeilings,
  units: readonly StandingUnit[],
  left_w: (logger_id: number | null) => number,
): ReadonlyMap<number, number> {
  const most = new Map(units.map(({ bess_id }) => [bess_id, Number.POSITIVE_INFINITY]))
  for (const key of new Set([null, ...units.map(({ logger_id }) => logger_id)])) {
    const permit_w = key === null ? permit?.site_w : permit?.plant_w.get(key)
    if (permit_w == null) continue
    const within = units.filter(({ logger_id }) => key === null || logger_id === key)
    const falling = plants.filter(({ logger_id }) => key === null || logger_id === key)
    const taken_w = [
      left_w(key),
      ...falling.map(({ falls_w }) => falls_w),
      ...within.map(({ fixed_w }) => fixed_w),
    ].reduce((sum, one_w) => sum + one_w, 0)
    const parts = within.map(({ reserve_w }) => ({ weight: reserve_w, max_w: reserve_w }))
    const shares_w = waterFill(permit_w - taken_w, parts)
    within.forEach(({ bess_id }, nth) => {
      most.set(bess_id, Math.min(most.get(bess_id)!, shares_w[nth]!))
    })
  }
  return most
}
