import { relativeAirmass } from './airmass.ts'
import {
  cosIncidence,
  type HorizontalIrradiance,
  type PlaneIrradiance,
  planeIrradiance,
  type SunDirection,
  type Surface,
} from './transposition.ts'

/** How bright the sky is around the sun and along the horizon, of the diffuse irradiance. */
interface Brightness {
  circumsolar: number
  horizon: number
}

type Coefficients = readonly [
  f11: number,
  f12: number,
  f13: number,
  f21: number,
  f22: number,
  f23: number,
]

const degree = Math.PI / 180
const cos_zenith_min = Math.cos(85 * degree)
const airmass_max = relativeAirmass(90)!
/** Far above the brightness of any sky, whose fits are for less than 0.6. */
const delta_max = 100
/** Weight of the zenith angle in the clearness of the sky, per cubic radian. */
const kappa = 1.041

/** Perez 1990, table 1: clearness at which a bin begins, and its coefficients of table 6. */
const bins: readonly (readonly [clearness: number, ...Coefficients])[] = [
  [6.2, 0.678, -0.327, -0.25, 0.156, -1.377, 0.251],
  [4.5, 1.06, -1.6, -0.359, 0.264, -1.127, 0.131],
  [2.8, 1.132, -1.237, -0.412, 0.288, -0.823, 0.056],
  [1.95, 0.873, -0.392, -0.362, 0.226, -0.462, 0.001],
  [1.5, 0.568, 0.187, -0.295, 0.109, -0.152, -0.014],
  [1.23, 0.33, 0.487, -0.221, 0.055, -0.064, -0.026],
  [1.065, 0.13, 0.683, -0.151, -0.019, 0.066, -0.029],
  [1, -0.008, 0.588, -0.062, -0.06, 0.072, -0.022],
]

/** Knots and control points of the quadratic splines in Driesse et al., 2024. */
const knots = [0, 0, 0, 0.061, 0.187, 0.333, 0.487, 0.643, 0.778, 0.839, 1, 1, 1]
const control_points: readonly Coefficients[] = [
  [-0.053, 0.529, -0.028, -0.071, 0.061, -0.019],
  [-0.008, 0.588, -0.062, -0.06, 0.072, -0.022],
  [0.131, 0.77, -0.167, -0.026, 0.106, -0.032],
  [0.328, 0.471, -0.216, 0.069, -0.105, -0.028],
  [0.557, 0.241, -0.3, 0.086, -0.085, -0.012],
  [0.861, -0.323, -0.355, 0.24, -0.467, -0.008],
  [1.212, -1.239, -0.444, 0.305, -0.797, 0.047],
  [1.099, -1.847, -0.365, 0.275, -1.132, 0.124],
  [0.544, 0.157, -0.213, 0.118, -1.455, 0.292],
  [0.544, 0.157, -0.213, 0.118, -1.455, 0.292],
]

/** Coefficients at a clearness of 0 to 1, by the three B-splines that are not zero there. */
function splineCoefficients(zeta: number): Coefficients {
  let span = 2
  while (span < control_points.length - 1 && zeta >= knots[span + 1]!) span++
  const [t0, t1, t2, t3] = [knots[span - 1]!, knots[span]!, knots[span + 1]!, knots[span + 2]!]
  const along = (zeta - t1) / (t2 - t1)
  const left = ((t2 - zeta) / (t2 - t0)) * (1 - along)
  const right = ((zeta - t1) / (t3 - t1)) * along
  const [first, second, third] = [
    control_points[span - 2]!,
    control_points[span - 1]!,
    control_points[span]!,
  ]
  return first.map(
    (value, i) => left * value + (1 - left - right) * second[i]! + right * third[i]!,
  ) as unknown as Coefficients
}

/** Of the zenith angle, 0 to pi. */
const zenithRadians = ({ zenith_deg }: SunDirection) => Math.min(180, Math.abs(zenith_deg)) * degree

/** Brightness by the coefficients, with the brightness `delta` of equation 2 of 1990. */
function brightness(
  [f11, f12, f13, f21, f22, f23]: Coefficients,
  sun: SunDirection,
  { dhi_w_m2, dni_extra_w_m2 }: HorizontalIrradiance,
): Brightness {
  const airmass = relativeAirmass(sun.zenith_deg) ?? airmass_max
  const bright = dni_extra_w_m2 <= 0 ? 0 : (Math.max(0, dhi_w_m2) / dni_extra_w_m2) * airmass
  const delta = Math.min(delta_max, bright)
  const zenith = zenithRadians(sun)
  return {
    circumsolar: Math.max(0, f11 + f12 * delta + f13 * zenith),
    horizon: f21 + f22 * delta + f23 * zenith,
  }
}

/** The plane irradiance of a sky with these brightnesses, equation 9 of 1990. */
function perezPlane(
  surface: Surface,
  sun: SunDirection,
  horizontal: HorizontalIrradiance,
  sky: Brightness,
): PlaneIrradiance {
  const tilt = surface.tilt_deg * degree
  const projection = Math.max(0, cosIncidence(surface, sun))
  const direct_w_m2 = Math.max(0, horizontal.dni_w_m2) * projection
  const beam_ratio = projection / Math.max(Math.cos(sun.zenith_deg * degree), cos_zenith_min)
  const seen =
    ((1 - sky.circumsolar) * (1 + Math.cos(tilt))) / 2 +
    sky.circumsolar * beam_ratio +
    sky.horizon * Math.sin(tilt)
  const sky_w_m2 = Math.max(0, horizontal.dhi_w_m2) * Math.max(0, seen)
  return planeIrradiance(surface, horizontal, { direct_w_m2, sky_w_m2 })
}

/**
 * Irradiance in a plane under a sky that is brighter around the sun and along the horizon.
 * R. Perez, P. Ineichen, R. Seals, J. Michalsky and R. Stewart, "Modeling daylight availability and
 * irradiance components from direct and global irradiance", Solar Energy 44(5), 1990, with its
 * coefficients for all sites and the relative air mass of Kasten and Young.
 * Arguments as `hayDavies`: the apparent zenith angle, 0 to 180 (below 0 as its absolute value,
 * above as 180). Negative irradiances count as 0; without diffuse irradiance the sky gives none,
 * without extraterrestrial irradiance its brightness counts as 0, and above 100 as 100. The light
 * around the sun is followed to 85 degrees; below the horizon the air mass stays that of the
 * horizon, so that twilight is not lost. Steps where the clearness crosses a bin.
 */
export function perez(
  surface: Surface,
  sun: SunDirection,
  horizontal: HorizontalIrradiance,
): PlaneIrradiance {
  const dhi = Math.max(0, horizontal.dhi_w_m2)
  const dni = Math.max(0, horizontal.dni_w_m2)
  // Equation 1, with 1 subtracted: 0 for an overcast sky.
  const excess = dhi > 0 ? dni / dhi / (1 + kappa * zenithRadians(sun) ** 3) : 0
  const [, ...coefficients] = bins.find(([begin]) => 1 + excess >= begin) ?? bins.at(-1)!
  return perezPlane(surface, sun, horizontal, brightness(coefficients, sun, horizontal))
}

/**
 * As `perez`, with splines in place of the bins: continuous with its slope, so that it can be
 * inverted. A. Driesse, A. R. Jensen and R. Perez, "A continuous form of the Perez diffuse sky
 * model for forward and reverse transposition", Solar Energy 267, 2024, 112093, with its limit of
 * 0.9 on the circumsolar brightness.
 */
export function perezDriesse(
  surface: Surface,
  sun: SunDirection,
  horizontal: HorizontalIrradiance,
): PlaneIrradiance {
  const dhi = Math.max(0, horizontal.dhi_w_m2)
  const dni = Math.max(0, horizontal.dni_w_m2)
  const uncorrected = dhi > 0 ? dni / (dhi + dni) : 0
  const zenith_term = kappa * zenithRadians(sun) ** 3
  const zeta = uncorrected / (1 + zenith_term * (1 - uncorrected))
  const sky = brightness(splineCoefficients(zeta), sun, horizontal)
  const circumsolar = Math.min(0.9, sky.circumsolar)
  return perezPlane(surface, sun, horizontal, { ...sky, circumsolar })
}
