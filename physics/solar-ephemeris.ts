import {
  latitude_terms,
  longitude_terms,
  nutation_terms,
  radius_terms,
} from './solar-ephemeris-terms.ts'

/**
 * Where the sun stands as seen from the centre of the earth: steps 3.2 to 3.10 of the NREL solar
 * position algorithm (I. Reda and A. Andreas, NREL/TP-560-34302, revised 2008).
 *
 * These steps sum some 260 periodic terms and change slowly, so their result is tabulated every
 * three hours as it is asked for and interpolated between; the interpolation errs by less than
 * 1e-9 degrees. The table is bounded and only remembers: a result depends on its argument alone.
 */

/** Geocentric apparent position of the sun, true equator and equinox of date. */
export interface SunVector {
  /** Unit vector: x towards the equinox, z towards the north pole. */
  x: number
  y: number
  z: number
  /** Distance between earth and sun, astronomical units. */
  distance_au: number
  /** What turns mean into apparent sidereal time. */
  equation_of_equinoxes_deg: number
}

const degree = Math.PI / 180
const arc_second = degree / 3600

const longitude = longitude_terms.map((rows) => Float64Array.from(rows.flat()))
const latitude = latitude_terms.map((rows) => Float64Array.from(rows.flat()))
const radius = radius_terms.map((rows) => Float64Array.from(rows.flat()))
const nutation = Float64Array.from(nutation_terms.flat())

/** Sum of amplitude * cos(phase + frequency * t) over one list, equation 9. */
function periodicSum(terms: Float64Array, t: number): number {
  let sum = 0
  for (let i = 0; i < terms.length; i += 3) {
    sum += terms[i]! * Math.cos(terms[i + 1]! + terms[i + 2]! * t)
  }
  return sum
}

/** The lists as coefficients of a polynomial of t, equations 10 and 11. */
function periodicPolynomial(lists: readonly Float64Array[], t: number): number {
  let value = 0
  for (let power = lists.length - 1; power >= 0; power--) {
    value = value * t + periodicSum(lists[power]!, t)
  }
  return value * 1e-8
}

/**
 * Nutation in longitude and obliquity, rad, for Julian centuries since J2000; equations 15 to 23.
 */
function nutationAt(t: number): { longitude_rad: number; obliquity_rad: number } {
  const elongation = 297.85036 + t * (445267.11148 + t * (-0.0019142 + t / 189474))
  const sun_anomaly = 357.52772 + t * (35999.05034 + t * (-0.0001603 - t / 300000))
  const moon_anomaly = 134.96298 + t * (477198.867398 + t * (0.0086972 + t / 56250))
  const moon_latitude = 93.27191 + t * (483202.017538 + t * (-0.0036825 + t / 327270))
  const moon_node = 125.04452 + t * (-1934.136261 + t * (0.0020708 + t / 450000))
  let longitude_sum = 0
  let obliquity_sum = 0
  for (let i = 0; i < nutation.length; i += 9) {
    const argument =
      degree *
      (nutation[i]! * elongation +
        nutation[i + 1]! * sun_anomaly +
        nutation[i + 2]! * moon_anomaly +
        nutation[i + 3]! * moon_latitude +
        nutation[i + 4]! * moon_node)
    longitude_sum += (nutation[i + 5]! + nutation[i + 6]! * t) * Math.sin(argument)
    obliquity_sum += (nutation[i + 7]! + nutation[i + 8]! * t) * Math.cos(argument)
  }
  const unit = 1e-4 * arc_second
  return { longitude_rad: longitude_sum * unit, obliquity_rad: obliquity_sum * unit }
}

// Equation 24, arc seconds, by powers of ten Julian millennia.
const obliquity_coefficients = [
  84381.448, -4680.93, -1.55, 1999.25, -51.38, -249.67, -39.05, 7.12, 27.87, 5.79, 2.45,
]

/**
 * The sun at `days_tt`, days of terrestrial time since 2000-01-01 12:00 TT, term by term.
 * Meant for the years -2000 to 6000; outside them the series drift but stay finite. A time that is
 * not finite gives NaN. Equations 9 to 31.
 */
export function sunVector(days_tt: number): SunVector {
  const centuries = days_tt / 36525
  const millennia = centuries / 10
  const distance_au = periodicPolynomial(radius, millennia)
  const nutation_now = nutationAt(centuries)
  const scaled = millennia / 10
  const obliquity_rad =
    obliquity_coefficients.reduceRight((value, term) => value * scaled + term, 0) * arc_second +
    nutation_now.obliquity_rad
  const aberration_rad = (-20.4898 * arc_second) / distance_au
  const lambda =
    periodicPolynomial(longitude, millennia) + Math.PI + nutation_now.longitude_rad + aberration_rad
  const beta = -periodicPolynomial(latitude, millennia)
  // The rotation by the obliquity, of which equations 30 and 31 are the angles.
  const ecliptic_y = Math.cos(beta) * Math.sin(lambda)
  const ecliptic_z = Math.sin(beta)
  const cos_obliquity = Math.cos(obliquity_rad)
  const sin_obliquity = Math.sin(obliquity_rad)
  return {
    x: Math.cos(beta) * Math.cos(lambda),
    y: ecliptic_y * cos_obliquity - ecliptic_z * sin_obliquity,
    z: ecliptic_y * sin_obliquity + ecliptic_z * cos_obliquity,
    distance_au,
    equation_of_equinoxes_deg: (nutation_now.longitude_rad * cos_obliquity) / degree,
  }
}

const nodes_per_day = 8
const slot_count = 4096
const slot_node = new Float64Array(slot_count).fill(Number.NaN)
const slot_values = new Float64Array(slot_count * 5)

/** Position in `slot_values` of a node of the table, computed when it is not there. */
function slotOf(node: number): number {
  const slot = node & (slot_count - 1)
  const offset = slot * 5
  if (slot_node[slot] !== node) {
    const sun = sunVector(node / nodes_per_day)
    slot_values[offset] = sun.x
    slot_values[offset + 1] = sun.y
    slot_values[offset + 2] = sun.z
    slot_values[offset + 3] = sun.distance_au
    slot_values[offset + 4] = sun.equation_of_equinoxes_deg
    slot_node[slot] = node
  }
  return offset
}

/**
 * As `sunVector`, by four-point Lagrange interpolation: within 1e-9 degrees and 1e-11 au of it, and
 * much faster once the surrounding hours are in the table.
 */
export function interpolatedSunVector(days_tt: number): SunVector {
  const position = days_tt * nodes_per_day
  const node = Math.floor(position)
  const f = position - node
  const a = slotOf(node - 1)
  const b = slotOf(node)
  const c = slotOf(node + 1)
  const d = slotOf(node + 2)
  const weight_a = (-f * (f - 1) * (f - 2)) / 6
  const weight_b = ((f + 1) * (f - 1) * (f - 2)) / 2
  const weight_c = (-(f + 1) * f * (f - 2)) / 2
  const weight_d = ((f + 1) * f * (f - 1)) / 6
  const value = (i: number) =>
    weight_a * slot_values[a + i]! +
    weight_b * slot_values[b + i]! +
    weight_c * slot_values[c + i]! +
    weight_d * slot_values[d + i]!
  return {
    x: value(0),
    y: value(1),
    z: value(2),
    distance_au: value(3),
    equation_of_equinoxes_deg: value(4),
  }
}
