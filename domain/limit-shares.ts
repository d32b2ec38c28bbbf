/**
 * Splits the limit of a command into limits of plants, in whole watts. No plant gets more than its
 * rated power, and all plants together get no more than the requested limit. Pure.
 */
import { wattsOfPercent, wattsWithin } from './watts.ts'

export interface Plant {
  logger_id: number
  rated_power_kw: number
}

export interface RequestedLimit {
  /** `percent` of the rated power of each plant; `kw` for all plants together. */
  limit_mode: 'percent' | 'kw'
  limit_value: number
}

export interface PlantLimit extends Plant {
  max_power_kw: number
  /** Limit before it is rounded down and capped at the rated power. */
  requested_max_power_kw: number
}

export function limitsOf(requested: RequestedLimit, plants: readonly Plant[]): PlantLimit[] {
  const { limit_mode, limit_value } = requested
  return limit_mode === 'percent'
    ? plants.map((plant) => percentOf(plant, limit_value))
    : sharesOf(plants, limit_value)
}

function percentOf(plant: Plant, limit_pct: number): PlantLimit {
  const { rated_power_kw } = plant
  const requested_kw = (rated_power_kw / 100) * limit_pct
  const rated_w = wattsWithin(rated_power_kw)
  const max_w = limit_pct < 100 ? wattsOfPercent(rated_w, limit_pct) : rated_w
  return limitOf(plant, max_w, requested_kw)
}

/** Shares in proportion to rated power, each rounded down: up to a watt per plant stays unused. */
function sharesOf(plants: readonly Plant[], limit_kw: number): PlantLimit[] {
  const rated_kw = plants.reduce((sum, plant) => sum + plant.rated_power_kw, 0)
  const rated_w = plants.map((plant) => wattsWithin(plant.rated_power_kw))
  const all_w = rated_w.reduce((sum, watts) => sum + watts, 0)
  const limit_w = Math.min(wattsWithin(limit_kw), all_w)
  return plants.map((plant, nth) => {
    const requested_kw = limit_kw * (plant.rated_power_kw / rated_kw)
    return limitOf(plant, shareOf(limit_w, rated_w[nth]!, all_w), requested_kw)
  })
}

/** Integer arithmetic: the products of a large site exceed what a double holds exactly. */
function shareOf(limit_w: number, rated_w: number, all_w: number): number {
  return all_w === 0 ? 0 : Number((BigInt(limit_w) * BigInt(rated_w)) / BigInt(all_w))
}

function limitOf(plant: Plant, max_w: number, requested_kw: number): PlantLimit {
  return {
    ...plant,
    max_power_kw: max_w / 1000,
    requested_max_power_kw: Math.min(requested_kw, Number.MAX_VALUE),
  }
}
