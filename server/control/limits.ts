/**
 * What a command allows each plant, in whole watts: never more than was asked for, together or
 * alone, and never more than the plant's rated power. Pure.
 */

export interface Plant {
  logger_id: number
  rated_power_kw: number
}

export interface AskedLimit {
  /** `percent` of the rated power of each plant; `kw` for all plants together. */
  limit_mode: 'percent' | 'kw'
  limit_value: number
}

export interface PlantLimit extends Plant {
  max_power_kw: number
  /** Before it was rounded down and capped at the rated power. */
  requested_max_power_kw: number
}

export function limitsOf(asked: AskedLimit, plants: readonly Plant[]): PlantLimit[] {
  return asked.limit_mode === 'percent'
    ? plants.map((plant) => percentOf(plant, asked.limit_value))
    : sharesOf(plants, asked.limit_value)
}

function percentOf(plant: Plant, limit_pct: number): PlantLimit {
  const { rated_power_kw } = plant
  const requested_kw = (rated_power_kw / 100) * limit_pct
  const max_w = limit_pct < 100 ? wattsWithin((rated_power_kw * limit_pct) / 100) : Infinity
  return limitOf(plant, Math.min(max_w, wattsWithin(rated_power_kw)), requested_kw)
}

/** In proportion to rated power. The rest that whole watts leave, a watt a plant, goes to none. */
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

/** In integers: the products of a large site are beyond what a double holds exactly. */
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

/** The most whole watts that are not above a power. */
export function wattsWithin(power_kw: number): number {
  const nearest = Math.round(power_kw * 1000)
  return nearest / 1000 <= power_kw ? nearest : nearest - 1
}
