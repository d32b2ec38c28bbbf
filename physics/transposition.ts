/** How a plane is mounted: tilt 0 (lying) to 90 (standing), azimuth clockwise from north. */
export interface Surface {
  tilt_deg: number
  azimuth_deg: number
}

/** Where the sun is; the apparent zenith angle suits transposition. */
export interface SunDirection {
  zenith_deg: number
  azimuth_deg: number
}

/** Direction of the sun as an observer sees it, from the result of `solarPosition`. */
export function sunDirection({
  apparent_zenith_deg,
  azimuth_deg,
}: {
  apparent_zenith_deg: number
  azimuth_deg: number
}): SunDirection {
  return { zenith_deg: apparent_zenith_deg, azimuth_deg }
}

export interface HorizontalIrradiance {
  ghi_w_m2: number
  dni_w_m2: number
  dhi_w_m2: number
  dni_extra_w_m2: number
  /** Share of the light that the ground throws back, 0 to 1; about 0.2 for grass, 0.6 for snow. */
  albedo_ratio: number
}

/** Irradiance in the plane of an array and its parts: global is the sum of the others. */
export interface PlaneIrradiance {
  global_w_m2: number
  direct_w_m2: number
  sky_w_m2: number
  ground_w_m2: number
}

const degree = Math.PI / 180
/** Cosine of 89 degrees: as close to the horizon as the circumsolar light is followed. */
const cos_zenith_min = 0.01745

/** Cosine of the angle between the sun and the normal of a surface, -1 to 1. */
export function cosIncidence(surface: Surface, sun: SunDirection): number {
  const tilt = surface.tilt_deg * degree
  const zenith = sun.zenith_deg * degree
  const turn = (sun.azimuth_deg - surface.azimuth_deg) * degree
  const cosine =
    Math.cos(tilt) * Math.cos(zenith) + Math.sin(tilt) * Math.sin(zenith) * Math.cos(turn)
  return Math.min(1, Math.max(-1, cosine))
}

/**
 * Angle of incidence, degrees, 0 to 180; above 90 the sun is behind the surface. J. A. Duffie and
 * W. A. Beckman, "Solar Engineering of Thermal Processes", 4th edition 2013, equation 1.6.3.
 */
export function incidenceAngle(surface: Surface, sun: SunDirection): number {
  return Math.acos(cosIncidence(surface, sun)) / degree
}

/**
 * Irradiance in a plane from its direct and sky parts: adds what the ground throws back,
 * ghi * albedo * (1 - cos tilt) / 2, and their sum. B. Y. H. Liu and R. C. Jordan, Solar Energy
 * 7(2), 1963. A negative global irradiance counts as 0.
 */
export function planeIrradiance(
  surface: Surface,
  horizontal: HorizontalIrradiance,
  parts: { direct_w_m2: number; sky_w_m2: number },
): PlaneIrradiance {
  const { direct_w_m2, sky_w_m2 } = parts
  const seen = (1 - Math.cos(surface.tilt_deg * degree)) / 2
  const ground_w_m2 = Math.max(0, horizontal.ghi_w_m2) * horizontal.albedo_ratio * seen
  return { global_w_m2: direct_w_m2 + sky_w_m2 + ground_w_m2, direct_w_m2, sky_w_m2, ground_w_m2 }
}

/**
 * Irradiance in a plane under an evenly bright sky. H. C. Hottel and B. B. Woertz, Transactions of
 * the ASME 64, 1942; B. Y. H. Liu and R. C. Jordan, Solar Energy 7(2), 1963.
 * Negative irradiances count as 0; `dni_extra_w_m2` is not used.
 */
export function isotropic(
  surface: Surface,
  sun: SunDirection,
  horizontal: HorizontalIrradiance,
): PlaneIrradiance {
  const direct_w_m2 = Math.max(0, horizontal.dni_w_m2) * Math.max(0, cosIncidence(surface, sun))
  const seen = (1 + Math.cos(surface.tilt_deg * degree)) / 2
  const sky_w_m2 = Math.max(0, horizontal.dhi_w_m2) * seen
  return planeIrradiance(surface, horizontal, { direct_w_m2, sky_w_m2 })
}

/**
 * Irradiance in a plane under a sky that is brighter around the sun. J. E. Hay and J. A. Davies,
 * "Calculations of the solar radiation incident on an inclined surface", First Canadian Solar
 * Radiation Data Workshop, 1980.
 * Negative irradiances count as 0. The circumsolar share, dni over `dni_extra_w_m2`, is held to 0
 * to 1, and is 0 when the latter is; the sun is followed to 89 degrees of zenith. Below the horizon
 * a caller has no direct irradiance to give.
 */
export function hayDavies(
  surface: Surface,
  sun: SunDirection,
  horizontal: HorizontalIrradiance,
): PlaneIrradiance {
  const projection = Math.max(0, cosIncidence(surface, sun))
  const dni = Math.max(0, horizontal.dni_w_m2)
  const circumsolar =
    horizontal.dni_extra_w_m2 <= 0 ? 0 : Math.min(1, dni / horizontal.dni_extra_w_m2)
  const beam_ratio = projection / Math.max(Math.cos(sun.zenith_deg * degree), cos_zenith_min)
  const seen = (1 + Math.cos(surface.tilt_deg * degree)) / 2
  const sky_w_m2 =
    Math.max(0, horizontal.dhi_w_m2) * (circumsolar * beam_ratio + (1 - circumsolar) * seen)
  return planeIrradiance(surface, horizontal, { direct_w_m2: dni * projection, sky_w_m2 })
}
