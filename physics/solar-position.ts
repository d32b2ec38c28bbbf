import { pressureAtAltitude } from './atmosphere.ts'
import { requireRoom, roomFor } from './series.ts'
import { interpolatedSunVector, type SunVector } from './solar-ephemeris.ts'

export interface SolarPosition {
  /** Angle from the zenith without refraction, 0 to 180. */
  zenith_deg: number
  /** As an observer sees it, bent by the air. */
  apparent_zenith_deg: number
  elevation_deg: number
  apparent_elevation_deg: number
  /** Clockwise from north, 0 to below 360. */
  azimuth_deg: number
  /** Distance between earth and sun, astronomical units. */
  distance_au: number
}

interface SolarPositionOptions {
  /** Height of the observer above sea level; 0 by default. */
  elevation_m?: number
  /** Air pressure, yearly mean; by default that of the standard atmosphere at `elevation_m`. */
  pressure_pa?: number
  /** Air temperature, yearly mean; 12 by default, held within -100 to 100. */
  temperature_c?: number
  /** Terrestrial time less universal time; by default `delta_t_s_now`. */
  delta_t_s?: number
}

/**
 * TT - UTC since 2017-01-01: 32.184 s and 37 leap seconds. One second moves the sun by 1e-5 deg.
 */
export const delta_t_s_now = 69.184

/** Total solar irradiance at one astronomical unit, ASTM E490 (2000). */
export const solar_constant_w_m2 = 1366.1

const degree = Math.PI / 180
const j2000_ms = Date.UTC(2000, 0, 1, 12)
const day_ms = 86_400_000
const earth_radius_m = 6_378_140
const earth_axis_ratio = 0.99664719
/** Semidiameter of the sun and refraction at the horizon: below this the sun has set. */
const sunset_elevation_deg = -(0.26667 + 0.5667)

/** Refraction, degrees, at a true elevation; nothing once the sun has set. Equation 42. */
function refraction(elevation_deg: number, pressure_pa: number, temperature_c: number): number {
  if (elevation_deg < sunset_elevation_deg) return 0
  const kelvin_ratio = 283 / (273 + Math.min(100, Math.max(-100, temperature_c)))
  const bent_rad = (elevation_deg + 10.3 / (elevation_deg + 5.11)) * degree
  return ((pressure_pa / 101_000) * kelvin_ratio * 1.02) / (60 * Math.tan(bent_rad))
}

/**
 * Apparent sidereal time at Greenwich, degrees, not reduced to a turn, at `days_ut` days of
 * universal time since 2000-01-01 12:00, with the sun of that instant. Equations 28 and 29 of the
 * algorithm that `solarPosition` names.
 */
export function siderealTime(days_ut: number, sun: SunVector): number {
  const centuries = days_ut / 36525
  const turned = days_ut - Math.floor(days_ut)
  const drift =
    0.98564736629 * days_ut + centuries * centuries * (0.000387933 - centuries / 38_710_000)
  return 280.46061837 + 360 * turned + drift + sun.equation_of_equinoxes_deg
}

/** What does not change from one instant to the next at one place. */
interface Observer {
  longitude_deg: number
  sin_latitude: number
  cos_latitude: number
  /** The observer on the ellipsoid, in earth radii: off the axis, and above the equator. */
  x: number
  z: number
  pressure_pa: number
  temperature_c: number
  delta_t_days: number
}

function observerAt(
  latitude_deg: number,
  longitude_deg: number,
  options: SolarPositionOptions,
): Observer {
  const elevation_m = options.elevation_m ?? 0
  const sin_latitude = Math.sin(latitude_deg * degree)
  const cos_latitude = Math.cos(latitude_deg * degree)
  const ellipsoid = Math.hypot(cos_latitude, earth_axis_ratio * sin_latitude)
  const height = elevation_m / earth_radius_m
  return {
    longitude_deg,
    sin_latitude,
    cos_latitude,
    x: cos_latitude * (1 / ellipsoid + height),
    z: sin_latitude * (earth_axis_ratio ** 2 / ellipsoid + height),
    pressure_pa: options.pressure_pa ?? pressureAtAltitude(elevation_m),
    temperature_c: options.temperature_c ?? 12,
    delta_t_days: (options.delta_t_s ?? delta_t_s_now) / 86_400,
  }
}

function positionAt(time_ms: number, observer: Observer): SolarPosition {
  const days_ut = (time_ms - j2000_ms) / day_ms
  const sun = interpolatedSunVector(days_ut + observer.delta_t_days)
  const local_rad = (siderealTime(days_ut, sun) + observer.longitude_deg) * degree
  const sin_local = Math.sin(local_rad)
  const cos_local = Math.cos(local_rad)
  // The sun as seen from the observer. Its parallax is so small that it is its own sine.
  const parallax = ((8.794 / 3600) * degree) / sun.distance_au
  const meridian = sun.x * cos_local + sun.y * sin_local - observer.x * parallax
  const west = sun.x * sin_local - sun.y * cos_local
  const polar = sun.z - observer.z * parallax

  const { sin_latitude, cos_latitude } = observer
  const up = meridian * cos_latitude + polar * sin_latitude
  const south = meridian * sin_latitude - polar * cos_latitude
  const elevation_deg = Math.atan2(up, Math.sqrt(south * south + west * west)) / degree
  const bent_deg = refraction(elevation_deg, observer.pressure_pa, observer.temperature_c)
  const azimuth_deg = Math.atan2(west, south) / degree + 180
  return {
    zenith_deg: 90 - elevation_deg,
    apparent_zenith_deg: 90 - elevation_deg - bent_deg,
    elevation_deg,
    apparent_elevation_deg: elevation_deg + bent_deg,
    azimuth_deg: azimuth_deg < 360 ? azimuth_deg : 0,
    distance_au: sun.distance_au,
  }
}

/**
 * Position of the sun by the NREL solar position algorithm (I. Reda and A. Andreas, "Solar Position
 * Algorithm for Solar Radiation Applications", NREL/TP-560-34302, revised 2008; Solar Energy 76(5),
 * 2004), which gives itself an uncertainty of 0.0003 deg in the years -2000 to 6000.
 *
 * `time_ms` is UTC since 1970, `latitude_deg` -90 to 90 north positive, `longitude_deg` east
 * positive. Later or earlier dates drift but stay finite, as far as `Date` goes; with the sun in
 * the zenith and at the poles the azimuth is one of the possible ones; an argument that is not
 * finite gives NaN.
 *
 * The parallax is applied to the vector of the sun, which equals equations 32 to 41, 45 and 46 of
 * the report without the angles between.
 */
export function solarPosition(
  time_ms: number,
  latitude_deg: number,
  longitude_deg: number,
  options: SolarPositionOptions = {},
): SolarPosition {
  return positionAt(time_ms, observerAt(latitude_deg, longitude_deg, options))
}

/** The same of many instants, one element for each. */
type SolarPositionSeries = { [part in keyof SolarPosition]: Float64Array }

const parts = [
  'zenith_deg',
  'apparent_zenith_deg',
  'elevation_deg',
  'apparent_elevation_deg',
  'azimuth_deg',
  'distance_au',
] as const satisfies readonly (keyof SolarPosition)[]

/**
 * As `solarPosition` at many times, ms since 1970, in any order. `out` is filled from its start and
 * given back; without it a new one is. Throws a RangeError where it is too short.
 */
export function solarPositions(
  times_ms: Float64Array,
  latitude_deg: number,
  longitude_deg: number,
  options: SolarPositionOptions = {},
  out: SolarPositionSeries = roomFor(parts, times_ms.length),
): SolarPositionSeries {
  const observer = observerAt(latitude_deg, longitude_deg, options)
  const count = times_ms.length
  requireRoom(out, count)
  for (let i = 0; i < count; i++) {
    const sun = positionAt(times_ms[i]!, observer)
    out.zenith_deg[i] = sun.zenith_deg
    out.apparent_zenith_deg[i] = sun.apparent_zenith_deg
    out.elevation_deg[i] = sun.elevation_deg
    out.apparent_elevation_deg[i] = sun.apparent_elevation_deg
    out.azimuth_deg[i] = sun.azimuth_deg
    out.distance_au[i] = sun.distance_au
  }
  return out
}

/**
 * Distance between earth and sun, astronomical units, 0.983 to 1.017; equation 11 of the same, with
 * its range of times.
 */
export function sunEarthDistance(time_ms: number, delta_t_s: number = delta_t_s_now): number {
  return interpolatedSunVector((time_ms - j2000_ms) / day_ms + delta_t_s / 86_400).distance_au
}

/**
 * Irradiance on a plane facing the sun outside the air, W/m2: `solar_constant_w_m2` by the inverse
 * square of the distance in astronomical units (above 0; about 1321 to 1414 over the year).
 */
export function extraterrestrialDni(distance_au: number): number {
  return solar_constant_w_m2 / (distance_au * distance_au)
}
