/** An obstacle close to one string, such as a tree or a mast, that shades part of it. */
import type { Surface } from '@heliograph/physics/transposition'
import { hash01 } from './noise.ts'

/** Its outline against the sky as seen from the string: an arch. */
export interface Obstacle {
  azimuth_deg: number
  half_width_deg: number
  height_deg: number
}

const channel = 4000
const half_width_deg = 22
const height_deg = 68
/** Angle of the sun below the outline at which the shadow has its full size. */
const border_deg = 10
const shadow_ratio_max = 0.35

/**
 * The obstacle of a string, number `nth` of the site: 30 to 45 degrees off the meridian, on the
 * side that the string faces, so that the sun passes it in every season.
 */
export function obstacleOf(
  seed: number,
  nth: number,
  { surface, latitude }: { surface: Surface; latitude: number },
): Obstacle {
  const meridian_deg = latitude < 0 ? 0 : 180
  const off_deg = ((surface.azimuth_deg - meridian_deg + 540) % 360) - 180
  const drawn = hash01(seed, channel, nth) < 0.5 ? -1 : 1
  const side = Math.abs(off_deg) < 20 ? drawn : Math.sign(off_deg)
  const away_deg = 30 + 15 * hash01(seed, channel + 1, nth)
  return {
    azimuth_deg: (meridian_deg + side * away_deg + 360) % 360,
    half_width_deg,
    height_deg,
  }
}

/** Share of the string in the shadow of the obstacle, 0 to 0.35. */
export function shadowRatio(
  obstacle: Obstacle,
  sun: { azimuth_deg: number; apparent_elevation_deg: number },
): number {
  if (sun.apparent_elevation_deg <= 0) return 0
  const turn_deg = ((sun.azimuth_deg - obstacle.azimuth_deg + 540) % 360) - 180
  const aside = Math.abs(turn_deg) / obstacle.half_width_deg
  if (aside >= 1) return 0
  const outline_deg = obstacle.height_deg * Math.sqrt(1 - aside * aside)
  const depth = (outline_deg - sun.apparent_elevation_deg) / border_deg
  return shadow_ratio_max * Math.min(1, Math.max(0, depth)) * Math.min(1, 2 * (1 - aside))
}
