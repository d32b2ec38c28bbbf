/**
 * What plants may deliver together with their batteries, and what they press for. Whole watts.
 * Batteries that charge make no room for anybody.
 */
import type { WallTime } from './clock-watch.ts'
import type { ControlledPlants, Plant } from './controlled-plants.ts'
import type { Permit } from './permit-terms.ts'
import type { PlantTerms } from './plant-ceilings.ts'
import { sum } from './sum.ts'

/** What a plant may deliver together with its batteries, and the common connection with all. */
export interface JointCeilings extends WallTime {
  permit: Permit | null
  /** By the stopwatch. */
  now_ms: number
  /** False: the clock jumped, and is not trusted yet. */
  is_settled: boolean
  plants: readonly JointCeiling[]
  /** Of the common connection; null: there is none. */
  site_w: number | null
}

export interface JointCeiling {
  logger_id: number
  /** The least of its permit and rows; infinite: there is neither. */
  ceiling_w: number
  /** By its permit alone. */
  permit_w: number
  /** The least of its rows; infinite: none is in force. */
  row_w: number
  /** What its devices deliver; of those that do not obey, all that they may. */
  power_w: number
  /** The most that its devices could deliver, whatever they are told. */
  most_w: number
  /** Each of its devices was read, or has been waited for. */
  is_known: boolean
}

export function jointCeilings(
  known: ControlledPlants,
  termsOf: (plant: Plant) => Pick<PlantTerms, 'permit_w' | 'row_w'>,
  now_ms: number,
): JointCeiling[] {
  return known.counted.map((plant) => {
    const { logger_id, devices, removed } = plant
    const { permit_w, row_w } = termsOf(plant)
    const removed_w = sum(removed, ({ limits }) => limits.ceiling_w)
    const asleep = known.is_night ? known.silentOf(plant, now_ms) : []
    const asleep_most_w = sum(asleep, ({ limits }) => limits.ceiling_w)
    return {
      logger_id,
      permit_w,
      row_w,
      ceiling_w: Math.min(permit_w, row_w),
      is_known: known.isKnown(plant, now_ms),
      power_w: pressingPower(plant, now_ms),
      most_w: removed_w + sum(devices, ({ limits }) => limits.ceiling_w) - asleep_most_w,
    }
  })
}

/** What a plant is about to deliver: one that does not obey counts with all that it may. */
function pressingPower({ devices, removed }: Plant, now_ms: number): number {
  const of_devices = sum(devices, ({ limits, power }) => {
    const power_w = limits.obeys(now_ms) ? (power?.power_w ?? null) : null
    return power_w === null ? limits.worst_w(now_ms) : Math.max(0, power_w)
  })
  return of_devices + sum(removed, ({ limits }) => limits.worst_w(now_ms))
}
