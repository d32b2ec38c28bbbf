import { interpolatedSunVector } from './solar-ephemeris.ts'
import { delta_t_s_now, siderealTime } from './solar-position.ts'

/** A local date as UTC instants: from its midnight to the next one, 23 to 25 hours. */
interface LocalDay {
  from_ms: number
  to_ms: number
}

interface SunEvents {
  /** When the sun crosses the meridian, its highest; exists on every day. */
  transit_ms: number
  /** Null when the sun does not rise on this solar day. */
  sunrise_ms: number | null
  /** Null when the sun does not set on this solar day. */
  sunset_ms: number | null
  /**
   * Why both may be null: polar day or polar night. At the edges of either a day has one of the
   * two alone and counts as `rises_or_sets`.
   */
  course: 'rises_or_sets' | 'always_up' | 'always_down'
}

interface Observer {
  longitude_deg: number
  sin_latitude: number
  cos_latitude: number
  delta_t_s: number
}

const degree = Math.PI / 180
const day_ms = 86_400_000
const j2000_ms = Date.UTC(2000, 0, 1, 12)
/** Semidiameter of the sun and refraction at the horizon as the report rounds them. */
const sin_horizon = Math.sin(-0.8333 * degree)

/** Of half a solar day: leaves a sixth of a millisecond. */
const halvings = 28

/** To -180 or more and below 180. */
const signedAngle = (angle_deg: number) => angle_deg - 360 * Math.floor((angle_deg + 180) / 360)

/** Geocentric hour angle in degrees (negative before noon) and sine of the elevation. */
function sunAt(time_ms: number, observer: Observer) {
  const days_ut = (time_ms - j2000_ms) / day_ms
  const sun = interpolatedSunVector(days_ut + observer.delta_t_s / 86_400)
  const local_rad = (siderealTime(days_ut, sun) + observer.longitude_deg) * degree
  const meridian = sun.x * Math.cos(local_rad) + sun.y * Math.sin(local_rad)
  const west = sun.x * Math.sin(local_rad) - sun.y * Math.cos(local_rad)
  return {
    hour_angle_deg: Math.atan2(west, meridian) / degree,
    sin_elevation: sun.z * observer.sin_latitude + meridian * observer.cos_latitude,
  }
}

/** The instant nearest to `time_ms` at which the sun has this hour angle. */
function hourAnglePassage(time_ms: number, hour_angle_deg: number, observer: Observer): number {
  let passage_ms = time_ms
  // The sun turns 360 degrees a day to within 0.04 %: each step leaves that share of its error.
  for (let step = 0; step < 4; step++) {
    const ahead_deg = signedAngle(sunAt(passage_ms, observer).hour_angle_deg - hour_angle_deg)
    passage_ms -= (ahead_deg / 360) * day_ms
  }
  return passage_ms
}

/** When the sun crosses the horizon upwards or downwards between two culminations. */
function crossing(
  way: 'up' | 'down',
  start_ms: number,
  end_ms: number,
  observer: Observer,
): number | null {
  const isUp = (time_ms: number) => sunAt(time_ms, observer).sin_elevation >= sin_horizon
  if (isUp(start_ms) === isUp(end_ms) || isUp(end_ms) !== (way === 'up')) return null
  let before_ms = start_ms
  let after_ms = end_ms
  for (let i = 0; i < halvings; i++) {
    const middle_ms = (before_ms + after_ms) / 2
    if (isUp(middle_ms) === (way === 'up')) after_ms = middle_ms
    else before_ms = middle_ms
  }
  return Math.round(after_ms)
}

function requireFinite(field: string, value: number): void {
  if (!Number.isFinite(value)) throw new RangeError(`${field} must be finite, not ${value}`)
}

/**
 * Sunrise, transit and sunset of the solar day of a local date, Unix milliseconds. The solar day is
 * the one whose transit is nearest to the middle of `day`, so that any zone, also across the date
 * line and on days of 23 and 25 hours, gets the noon of its own date; where clocks are far from the
 * sun the sunset may lie after the midnight of the date.
 *
 * By the definitions of I. Reda and A. Andreas, "Solar Position Algorithm for Solar Radiation
 * Applications", NREL/TP-560-34302, revised 2008, appendix A.2: the geocentric sun, its centre
 * 0.8333 degrees below a level horizon at sea level. The appendix takes one step from three
 * daily positions and folds its answer into one UTC day, which puts a sunrise before 0 UT or a
 * sunset after 24 UT off by as much as the event moves in a day; here the crossing between the
 * culminations is found to within a millisecond. Refraction at the real horizon varies.
 *
 * `latitude_deg` -90 to 90, `longitude_deg` east positive. Years -2000 to 6000; beyond, as far as
 * `Date` goes, the answers drift. `delta_t_s` is terrestrial less universal time. Throws a
 * RangeError naming an argument that is not finite or a latitude out of its range.
 */
export function sunEvents(
  day: LocalDay,
  latitude_deg: number,
  longitude_deg: number,
  delta_t_s: number = delta_t_s_now,
): SunEvents {
  requireFinite('from_ms', day.from_ms)
  requireFinite('to_ms', day.to_ms)
  requireFinite('longitude_deg', longitude_deg)
  requireFinite('delta_t_s', delta_t_s)
  if (!(Math.abs(latitude_deg) <= 90)) {
    throw new RangeError(`latitude_deg must be -90 to 90, not ${latitude_deg}`)
  }
  const observer = {
    longitude_deg,
    sin_latitude: Math.sin(latitude_deg * degree),
    cos_latitude: Math.cos(latitude_deg * degree),
    delta_t_s,
  }
  const noon_ms = hourAnglePassage((day.from_ms + day.to_ms) / 2, 0, observer)
  const before_ms = hourAnglePassage(noon_ms - day_ms / 2, 180, observer)
  const after_ms = hourAnglePassage(noon_ms + day_ms / 2, 180, observer)
  // Beside a pole the season can turn the order round, hence the second tries.
  const sunrise_ms =
    crossing('up', before_ms, noon_ms, observer) ?? crossing('up', noon_ms, after_ms, observer)
  const sunset_ms =
    crossing('down', noon_ms, after_ms, observer) ?? crossing('down', before_ms, noon_ms, observer)
  const transit_ms = Math.round(noon_ms)
  if (sunrise_ms !== null || sunset_ms !== null) {
    return { transit_ms, sunrise_ms, sunset_ms, course: 'rises_or_sets' }
  }
  const is_up = sunAt(noon_ms, observer).sin_elevation >= sin_horizon
  return { transit_ms, sunrise_ms, sunset_ms, course: is_up ? 'always_up' : 'always_down' }
}

/**
 * Equation of time, minutes, -17 to 17: what a sundial is ahead of the mean sun. The same report,
 * appendix A.1. Years -2000 to 6000; `delta_t_s` is terrestrial less universal time. A time that is
 * not finite gives NaN.
 */
export function equationOfTime(time_ms: number, delta_t_s: number = delta_t_s_now): number {
  const days_tt = (time_ms - j2000_ms) / day_ms + delta_t_s / 86_400
  const sun = interpolatedSunVector(days_tt)
  const millennia = days_tt / 365_250
  const terms = [280.4664567, 360007.6982779, 0.03032028, 1 / 49_931, -1 / 15_300, -1 / 2_000_000]
  const mean_longitude_deg = terms.reduceRight((value, term) => value * millennia + term, 0)
  const right_ascension_deg = Math.atan2(sun.y, sun.x) / degree
  const ahead_deg =
    mean_longitude_deg - 0.0057183 - right_ascension_deg + sun.equation_of_equinoxes_deg
  return signedAngle(ahead_deg) * 4
}
