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
interface Cover {
  /** Refractive index, 1 and more; held to that. */
  refractive_index: number
  /** Extinction coefficient, 0 and more. */
  extinction_per_m: number
  thickness_m: number
}

/** "Water white" glass of 2 mm, from the paper named at `physicalModifier`. */
const white_glass: Cover = {
  refractive_index: 1.526,
  extinction_per_m: 4,
  thickness_m: 0.002,
}

/**
 * Snell's law, Fresnel's reflection at the first surface and Bouguer's absorption in the pane.
 * W. De Soto, S. A. Klein and W. A. Beckman, "Improvement and validation of a model for
 * photovoltaic array performance", Solar Energy 80(1), 2006, equations 13 and 14 (the latter with
 * the ratio of the indices turned round, as Snell's law has it).
 */
export function physicalModifier(incidence_deg: number, cover: Cover = white_glass): number {
  if (!(Math.abs(incidence_deg) < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  return transmitted(incidence_deg * degree, cover) / transmitted(0, cover)
}

/** Share of unpolarised light through the cover, over the absorption at normal incidence. */
function transmitted(incidence_rad: number, cover: Cover): number {
  const glass = Math.max(1, cover.refractive_index)
  const sin_out = Math.sin(incidence_rad)
  const cos_out = Math.cos(incidence_rad)
  const cos_glass = Math.sqrt(1 - (sin_out / glass) ** 2)
  // Fresnel's two polarisations: the amplitudes of each with the angles at the other's place.
  const across = 1 - reflected(cos_out, glass * cos_glass)
  const along = 1 - reflected(cos_glass, glass * cos_out)
  const longer_m = cover.thickness_m * (1 / cos_glass - 1)
  return ((across + along) / 2) * Math.exp(-cover.extinction_per_m * longer_m)
}

function reflected(before: number, after: number): number {
  return ((before - after) / (before + after)) ** 2
}

/**
 * 1 - (1 - cos)^5. C. Schlick, "An inexpensive BRDF model for physically-based rendering", Computer
 * Graphics Forum 13(3), 1994; for modules Y. Xie, M. Sengupta, A. Habte and A. Andreas, "The
 * 'Fresnel Equations' for Diffuse radiation on Inclined photovoltaic Surfaces (FEDIS)", Renewable
 * and Sustainable Energy Reviews 161, 2022. Has no parameter.
 */
export function schlickModifier(incidence_deg: number): number {
  if (!(Math.abs(incidence_deg) < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  return 1 - (1 - Math.cos(incidence_deg * degree)) ** 5
}

/** One measured point of a modifier; 1 at 0 degrees. */
interface ModifierPoint {
  incidence_deg: number
  modifier_ratio: number
}

/**
 * Between measured points (IEC 61853-2; PAN files hold such tables) by straight lines. `points`
 * ascend by angle and there is at least one; before the first and after the last, the value is
 * theirs. A table that ends above 0 is still 0 from 90 degrees on. Never below 0.
 */
export function interpolatedModifier(
  incidence_deg: number,
  points: readonly ModifierPoint[],
): number {
  const angle = Math.abs(incidence_deg)
  if (!(angle < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  const next = points.findIndex((point) => point.incidence_deg > angle)
  const before = points.at(next < 0 ? -1 : Math.max(0, next - 1))
  if (before === undefined) throw new RangeError('points: at least one point is needed')
  const after = next < 0 ? before : points[next]!
  const span = after.incidence_deg - before.incidence_deg
  const share = span > 0 ? Math.max(0, (angle - before.incidence_deg) / span) : 0
  const ratio = before.modifier_ratio + share * (after.modifier_ratio - before.modifier_ratio)
  return Math.max(0, ratio)
}

/**
 * N. Martin and J. M. Ruiz, "Calculation of the PV modules angular losses under field conditions by
 * means of an analytical model", Solar Energy Materials and Solar Cells 70(1), 2001.
 * `a_r` is 0.16 for clean glass and 0.20 for 2 percent of dust; below 0 it counts as 0, no loss.
 */
export function martinRuizModifier(incidence_deg: number, a_r = 0.16): number {
  if (!(Math.abs(incidence_deg) < 90)) return Number.isNaN(incidence_deg) ? Number.NaN : 0
  const held = Math.max(0, a_r)
  return Math.expm1(-Math.cos(incidence_deg * degree) / held) / Math.expm1(-1 / held)
}

/**
 * The same for the diffuse light of sky and ground on a plane of tilt 0 to 180. N. Martin and
 * J. M. Ruiz, "A new model for PV modules angular losses under field conditions", International
 * Journal of Solar Energy 22(1), 2002, with the corrigendum of 2013 (Progress in Photovoltaics 21).
 * A plane that faces away from the sky (180) or the ground (0) has 0 there. `a_r` is held to 0.02
 * to 0.5; dusty glass has 0.27.
 */
export function martinRuizDiffuseModifier(
  tilt_deg: number,
  a_r = 0.16,
): { sky_ratio: number; ground_ratio: number } {
  const tilt = Math.min(180, Math.max(0, tilt_deg)) * degree
  // 4 / (3 pi), to the four places that the paper prints and that other programs use.
  const c1 = 0.4244
  const held = Math.min(0.5, Math.max(0.02, a_r))
  const c2 = 0.5 * held - 0.154
  const through = (x: number) => 1 - Math.exp((-(c1 + c2 * x) * x) / held)
  const sin = Math.sin(tilt)
  const cos = Math.cos(tilt)
  const up = 1 + cos > 1e-12 ? sin + (Math.PI - tilt - sin) / (1 + cos) : 0
  const down = 1 - cos > 1e-12 ? sin + (tilt - sin) / (1 - cos) : 0
  return { sky_ratio: through(up), ground_ratio: through(down) }
}

/** The modifier of diffuse light by where it comes from. */
interface DiffuseModifier {
  sky_ratio: number
  /** The half degree above the horizon, where the sky is brighter. */
  horizon_ratio: number
  ground_ratio: number
}

/**
 * Any modifier for the diffuse light of sky, horizon and ground on a plane of tilt 0 to 180: its
 * mean over the part of the sphere, weighted by the cosine of incidence. B. Marion, "Numerical
 * method for angle-of-incidence correction factors for diffuse radiation incident photovoltaic
 * modules", Solar Energy 147, 2017, with the paper's grid of 1 degree, 0.1 at the horizon. A part
 * that the plane does not see has 0. Some 35 000 evaluations: for a fixed plane, compute it once.
 */
export function diffuseModifier(
  tilt_deg: number,
  modifier: (incidence_deg: number) => number,
): DiffuseModifier {
  const tilt_rad = Math.min(180, Math.max(0, tilt_deg)) * degree
  const mean = (first: number, end: number, rings: number) =>
    weightedMean({ tilt_rad, modifier, first, end, rings })
  return {
    sky_ratio: mean(0, 90, 180),
    horizon_ratio: mean(895, 900, 1800),
    ground_ratio: mean(90, 180, 180),
  }
}

/** Rings `first` to below `end` of the `rings` between zenith and nadir. */
function weightedMean(part: {
  tilt_rad: number
  modifier: (incidence_deg: number) => number
  first: number
  end: number
  rings: number
}): number {
  const { tilt_rad, modifier, first, end, rings } = part
  const step = Math.PI / rings
  let sum = 0
  let weight = 0
  for (let ring = first; ring < end; ring++) {
    const polar = (ring + 0.5) * step
    const height = Math.cos(tilt_rad) * Math.cos(polar)
    const reach = Math.sin(tilt_rad) * Math.sin(polar)
    const area = Math.cos(ring * step) - Math.cos((ring + 1) * step)
    // Left and right of the plane are alike, so half a turn is enough.
    for (let k = 0; k < rings; k++) {
      const cosine = height + reach * Math.cos((k + 0.5) * step)
      if (cosine <= 0) continue
      const incidence_deg = Math.acos(Math.min(1, cosine)) / degree
      sum += modifier(incidence_deg) * cosine * area
      weight += cosine * area
    }
  }
  return weight > 0 ? sum / weight : 0
}
