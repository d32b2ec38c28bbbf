/**
 * The share of the light that gets through the glass at an angle of incidence, relative to that at
 * normal incidence: 1 at 0 degrees, 0 at 90 and behind. Angles are degrees; their sign does not
 * count.
 */

const degree = Math.PI / 180

/**
 * A. F. Souka and H. H. Safwat, Solar Energy 10(4), 1966, adopted as ASHRAE standard 93-77:
 * 1 - b (1/cos - 1), not below 0. `b` is 0.05 for plain glass.
 */
export function ashraeModifier(incidence_deg: number, b = 0.05): number {
  if (!(Math.abs(incidence_deg) < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  return Math.max(0, 1 - b * (1 / Math.cos(incidence_deg * degree) - 1))
}

/** A pane of glass. */
export interface Cover {
  /** Refractive index, above 1. */
  refractive_index: number
  /** Extinction coefficient. */
  extinction_per_m: number
  thickness_m: number
}

/** "Water white" glass of 2 mm, from the paper named at `physicalModifier`. */
export const white_glass: Cover = {
  refractive_index: 1.526,
  extinction_per_m: 4,
  thickness_m: 0.002,
}

/**
 * Snell's law, Fresnel's reflection at the first surface and Bouguer's absorption in the pane.
 * W. De Soto, S. A. Klein and W. A. Beckman, "Improvement and validation of a model for
 * photovoltaic array performance", Solar Energy 80(1), 2006.
 */
export function physicalModifier(incidence_deg: number, cover: Cover = white_glass): number {
  if (!(Math.abs(incidence_deg) < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  const n = cover.refractive_index
  const depth = cover.extinction_per_m * cover.thickness_m
  const cos_out = Math.cos(incidence_deg * degree)
  const sin_in = Math.sin(incidence_deg * degree) / n
  const cos_in = Math.sqrt(1 - sin_in * sin_in)
  const across = ((cos_out - n * cos_in) / (cos_out + n * cos_in)) ** 2
  const along = ((cos_in - n * cos_out) / (cos_in + n * cos_out)) ** 2
  const normal = ((1 - n) / (1 + n)) ** 2
  const transmitted = (1 - (across + along) / 2) * Math.exp(-depth / cos_in)
  return transmitted / ((1 - normal) * Math.exp(-depth))
}

/**
 * N. Martin and J. M. Ruiz, "Calculation of the PV modules angular losses under field conditions by
 * means of an analytical model", Solar Energy Materials and Solar Cells 70(1), 2001.
 * `a_r`, above 0, is 0.16 for clean glass and 0.20 for 2 percent of dust.
 */
export function martinRuizModifier(incidence_deg: number, a_r = 0.16): number {
  if (!(Math.abs(incidence_deg) < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  return (1 - Math.exp(-Math.cos(incidence_deg * degree) / a_r)) / (1 - Math.exp(-1 / a_r))
}

/**
 * The same for the diffuse light of sky and ground on a plane of tilt 0 to 180. N. Martin and
 * J. M. Ruiz, "A new model for PV modules angular losses under field conditions", International
 * Journal of Solar Energy 22(1), 2002, with the corrigendum of 2013 (Progress in Photovoltaics 21).
 * A plane that faces away from the sky (180) or the ground (0) has 0 there.
 */
export function martinRuizDiffuseModifier(
  tilt_deg: number,
  a_r = 0.16,
): { sky_ratio: number; ground_ratio: number } {
  const tilt = Math.min(180, Math.max(0, tilt_deg)) * degree
  // 4 / (3 pi), to the four places that the paper prints and that other programs use.
  const c1 = 0.4244
  const c2 = 0.5 * a_r - 0.154
  const through = (x: number) => 1 - Math.exp((-(c1 + c2 * x) * x) / a_r)
  const sin = Math.sin(tilt)
  const cos = Math.cos(tilt)
  const up = 1 + cos > 1e-12 ? sin + (Math.PI - tilt - sin) / (1 + cos) : 0
  const down = 1 - cos > 1e-12 ? sin + (tilt - sin) / (1 - cos) : 0
  return { sky_ratio: through(up), ground_ratio: through(down) }
}
