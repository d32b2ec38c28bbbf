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
