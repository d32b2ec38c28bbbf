/** What each PCS is to hold, and whether there is room for that. Whole watts. */
import type { JointCeilings } from '../control/battery-shares.ts'
import { waterFill } from '../control/share.ts'
import type { ControlledPcs } from './controlled-pcs.ts'
import type { DispatchFacts } from './decide-dispatch.ts'

export interface PcsTarget {
  bess_id: number
  logger_id: number | null
  pcs: ControlledPcs
  power_w: number
  /** Where it is to come to, with time and room: what has to be on disk before. */
  wanted_w: number
  /** What it may discharge at worst until it is told. */
  worst_w: number
  /** Of that, what its registers may bring it to: to tell it more is to raise it. */
  held_w: number
}

const step_ratio = 0.02

/** The step in which room is kept for a battery, and taken off plants where it strays. */
export const stepOf = ({ rated_discharge_w }: DispatchFacts) =>
  Math.max(1, Math.ceil(step_ratio * rated_discharge_w))

/** In proportion to what they are rated at, and no more than each can. */
export function splitOver(
  power_w: number,
  usable: readonly ControlledPcs[],
): ReadonlyMap<ControlledPcs, number> {
  const parts = usable.map(({ power, rated_w }) => {
    const { charge_max_w, discharge_max_w } = power.state!
    return {
      weight: rated_w,
      max_w: Math.min(rated_w, power_w < 0 ? charge_max_w : discharge_max_w),
    }
  })
  const shares = waterFill(Math.abs(power_w), parts)
  return new Map(usable.map((pcs, nth) => [pcs, power_w < 0 ? -shares[nth]! : shares[nth]!]))
}

/** What of each sum nobody may use now, which a battery may be raised by. */
export class RoomLeft {
  /** By logger_id; null: at the common connection. */
  readonly #left_w = new Map<number | null, number>()
  readonly #rows_w: number

  /** @param plants_w what each plant may deliver at worst; null: nothing is to be raised */
  constructor(
    { plants, site_w }: JointCeilings,
    plants_w: ReadonlyMap<number, number> | null,
    batteries_w: (logger_id: number | null) => number,
  ) {
    const worstOf = (logger_id: number) => plants_w?.get(logger_id) ?? Number.POSITIVE_INFINITY
    for (const { logger_id, ceiling_w } of plants) {
      this.#left_w.set(logger_id, less(ceiling_w, worstOf(logger_id) + batteries_w(logger_id)))
    }
    const all_w = plants.reduce((sum, { logger_id }) => sum + worstOf(logger_id), 0)
    this.#left_w.set(null, less(site_w ?? Number.POSITIVE_INFINITY, all_w + batteries_w(null)))
    const rows_w = plants.reduce((sum, { row_w }) => sum + row_w, 0)
    this.#rows_w = less(rows_w, all_w + batteries_w(null))
  }

  of(logger_id: number | null): number {
    const of_plant_w = logger_id === null ? Number.POSITIVE_INFINITY : this.#plant(logger_id)
    return Math.max(0, Math.min(of_plant_w, this.#left_w.get(null) ?? 0))
  }

  /** Where each plant is held by a row, what they leave to a battery that holds `held_w` of it. */
  underRows(held_w: number): number {
    return Math.max(0, this.#rows_w + held_w)
  }

  take(logger_id: number | null, power_w: number): void {
    if (power_w === 0) return
    for (const key of new Set([logger_id, null])) {
      this.#left_w.set(key, less(this.#left_w.get(key) ?? 0, power_w))
    }
  }

  #plant(logger_id: number): number {
    return this.#left_w.get(logger_id) ?? 0
  }
}

/** Infinite less anything is infinite, but for what is not known at all. */
const less = (one_w: number, other_w: number) =>
  other_w === Number.POSITIVE_INFINITY ? 0 : one_w - other_w

/**
 * The invariant itself, summed up anew.
 *
 * @throws {Error} where a sum in which something is raised would be more than it may
 */
export function checkSums(
  { plants, site_w }: JointCeilings,
  plants_w: ReadonlyMap<number, number> | null,
  targets: readonly PcsTarget[],
): void {
  const bounds = new Map<number | null, number>(
    plants.map(({ logger_id, ceiling_w }) => [logger_id, ceiling_w]),
  )
  bounds.set(null, site_w ?? Number.POSITIVE_INFINITY)
  for (const [key, ceiling_w] of bounds) {
    const within = targets.filter(({ logger_id }) => key === null || logger_id === key)
    if (!within.some(({ power_w, held_w }) => power_w > held_w)) continue
    const batteries_w = within.map(({ power_w, worst_w }) => Math.max(power_w, worst_w))
    const of_plants = plants.filter(({ logger_id }) => key === null || logger_id === key)
    const worst_w = of_plants.map(({ logger_id }) => plants_w?.get(logger_id) ?? Number.NaN)
    const sum_w = [...batteries_w, ...worst_w].reduce((sum, one_w) => sum + one_w, 0)
    if (sum_w <= ceiling_w) continue
    throw new Error(`the batteries of ${key ?? 'the site'} would be raised too far`)
  }
}
