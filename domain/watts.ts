/**
 * A power in whole watts, the unit of device limits, rounded down. A plain `Math.floor` of the
 * product can lose a watt to binary fractions: `1.005 * 1000` is 1004.9999999999999.
 */
export function wattsWithin(power_kw: number): number {
  const nearest = Math.round(power_kw * 1000)
  return nearest / 1000 <= power_kw ? nearest : nearest - 1
}

/** The fewest whole watts that are not below a power. `Math.ceil` would add one: `1.1 * 1000`. */
export function wattsCovering(power_kw: number): number {
  const within = wattsWithin(power_kw)
  return within / 1000 === power_kw ? within : within + 1
}

/** Whole watts of a power of either sign, rounded towards zero. */
export function wattsTowardsZero(power_kw: number): number {
  const size_w = wattsWithin(Math.abs(power_kw))
  return power_kw < 0 ? 0 - size_w : size_w
}

/**
 * The whole watts of a percentage, rounded down. The product can lose a watt: 29 % of 100,100 W are
 * 29,029 W, and `(100.1 * 29) / 100` is 29.028999999999996.
 */
export function wattsOfPercent(whole_w: number, share_pct: number): number {
  const nearest = Math.round((whole_w * share_pct) / 100)
  return (nearest * 100) / whole_w > share_pct ? nearest - 1 : nearest
}
