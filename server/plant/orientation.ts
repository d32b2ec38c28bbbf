/** The orientation of panels as a word. */

export const orientations = ['north', 'east', 'south', 'west', 'flat', 'mixed'] as const
type Orientation = (typeof orientations)[number]

/** Below this tilt the azimuth does not matter. */
const flat_below_deg = 3

/** By quarters of the compass, azimuth clockwise from north: east is 45 to below 135. */
export function orientationOf(azimuth_deg: number, tilt_deg: number): Orientation {
  if (tilt_deg < flat_below_deg) return 'flat'
  const quarter = Math.floor(((azimuth_deg + 45) % 360) / 90)
  return (['north', 'east', 'south', 'west'] as const)[quarter] ?? 'north'
}
