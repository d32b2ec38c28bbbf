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
