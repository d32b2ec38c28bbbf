/** How a power that may not be exceeded is shared out. All power in whole watts. */

interface Part {
  /** In proportion to which the parts get theirs, from 0. */
  weight: number
  max_w: number
}

/**
 * Shares `total_w` out in proportion to the weights; what a part cannot take, by its `max_w`, goes
 * to the others. The shares are whole and never add up to more than the total.
 */
export function waterFill(total_w: number, parts: readonly Part[]): number[] {
  const shares = parts.map(() => 0)
  const open = new Set(parts.keys())
  let left_w = Math.max(0, Math.floor(total_w))
  while (open.size > 0) {
    const weights = [...open].reduce((sum, nth) => sum + parts[nth]!.weight, 0)
    if (!(weights > 0)) break
    const full = [...open].filter((nth) => {
      const { weight, max_w } = parts[nth]!
      return (left_w * weight) / weights >= max_w
    })
    if (full.length === 0) {
      for (const nth of open) shares[nth] = Math.floor((left_w * parts[nth]!.weight) / weights)
      break
    }
    for (const nth of full) {
      shares[nth] = Math.max(0, Math.floor(parts[nth]!.max_w))
      left_w = Math.max(0, left_w - shares[nth]!)
      open.delete(nth)
    }
  }
  return shares
}

interface PlantPart {
  rated_w: number
  /** What the plant may do by itself. */
  ceiling_w: number
  /** What it may do whatever is commanded: its devices that do not obey now. */
  fixed_w: number
}

/**
 * Shares the ceiling of the common connection out over the plants: each first has what it may do
 * anyway, the rest goes in proportion to rated power up to each plant's own ceiling.
 */
export function sharePlants(site_w: number | null, plants: readonly PlantPart[]): number[] {
  if (site_w === null) return plants.map(({ ceiling_w }) => ceiling_w)
  const fixed_w = plants.reduce((sum, plant) => sum + plant.fixed_w, 0)
  const parts = plants.map(({ rated_w, ceiling_w, fixed_w: own_w }) => ({
    weight: rated_w,
    max_w: Math.max(0, ceiling_w - own_w),
  }))
  return waterFill(site_w - fixed_w, parts).map((share_w, nth) => {
    const { fixed_w: own_w, ceiling_w } = plants[nth]!
    return Math.min(ceiling_w, own_w + share_w)
  })
}
