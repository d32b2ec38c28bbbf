import { absoluteAirmass, relativeAirmass1966 } from './airmass.ts'
import { solar_constant_w_m2 } from './solar-position.ts'

export interface Decomposition {
  /** Direct normal irradiance. */
  dni_w_m2: number
  /** Diffuse horizontal irradiance. */
  dhi_w_m2: number
  /** Clearness index, 0 to 1: global irradiance over that outside the air. */
  clearness_ratio: number
}

/** Cosine of the zenith below which the clearness index divides by this instead (86.3 degrees). */
const cos_zenith_min = 0.065
/** Above it the little global irradiance there is counts as diffuse. */
const zenith_deg_max = 87

/**
 * Clearness index. Negative irradiance counts as 0, and so does the index where there is no light
 * outside the air.
 */
function clearness(ghi_w_m2: number, cos_zenith: number, dni_extra_w_m2: number): number {
  const horizontal = dni_extra_w_m2 * Math.max(cos_zenith, cos_zenith_min)
  return horizontal <= 0 ? 0 : Math.min(1, Math.max(0, ghi_w_m2) / horizontal)
}

/** The parts by a model that gives the diffuse share at a clearness index. */
function split(
  ghi_w_m2: number,
  zenith_deg: number,
  dni_extra_w_m2: number,
  diffuseRatio: (kt: number) => number,
): Decomposition {
  const ghi = Math.max(0, ghi_w_m2)
  const cos_zenith = Math.cos((zenith_deg * Math.PI) / 180)
  const clearness_ratio = clearness(ghi, cos_zenith, dni_extra_w_m2)
  if (Math.abs(zenith_deg) > zenith_deg_max) return { dni_w_m2: 0, dhi_w_m2: ghi, clearness_ratio }
  const dhi_w_m2 = ghi * diffuseRatio(clearness_ratio)
  const dni_w_m2 = (ghi - dhi_w_m2) / cos_zenith
  return { dni_w_m2, dhi_w_m2, clearness_ratio }
}

/** Equation 1 of Erbs, Klein and Duffie. */
function erbsDiffuseRatio(kt: number): number {
  if (kt <= 0.22) return 1 - 0.09 * kt
  if (kt > 0.8) return 0.165
  return 0.9511 + kt * (-0.1604 + kt * (4.388 + kt * (-16.638 + kt * 12.336)))
}

/** The same with a quartic that meets its neighbours in value and slope, Driesse et al. */
function erbsDriesseDiffuseRatio(kt: number): number {
  if (kt <= 0.216) return 1 - 0.09 * kt
  if (kt > 0.792) return 0.165
  const cubic = -16.470508424704697 + kt * 12.26911439571261
  return 0.946296633571001 + kt * (-0.11390583806313881 + kt * (4.246926715218317 + kt * cubic))
}

/**
 * Splits global horizontal irradiance into direct and diffuse. D. G. Erbs, S. A. Klein and
 * J. A. Duffie, "Estimation of the diffuse radiation fraction for hourly, daily and monthly-average
 * global radiation", Solar Energy 28(4), 1982, equation 1.
 * Takes the true zenith angle, 0 to 180 (below 0 as its absolute value), and the extraterrestrial
 * normal irradiance, of which 0 and less makes a clearness of 0. Negative global irradiance (the
 * night offset of a thermopile) counts as 0; beyond 87 degrees all of it is diffuse.
 * Global = direct * cos(zenith) + diffuse.
 */
export function erbs(ghi_w_m2: number, zenith_deg: number, dni_extra_w_m2: number): Decomposition {
  return split(ghi_w_m2, zenith_deg, dni_extra_w_m2, erbsDiffuseRatio)
}

/**
 * As `erbs`, without its steps and kinks, so that it can be inverted; within 0.0005 of its diffuse
 * share. A. Driesse, A. R. Jensen and R. Perez, "A continuous form of the Perez diffuse sky model
 * for forward and reverse transposition", Solar Energy 267, 2024, 112093.
 */
export function erbsDriesse(
  ghi_w_m2: number,
  zenith_deg: number,
  dni_extra_w_m2: number,
): Decomposition {
  return split(ghi_w_m2, zenith_deg, dni_extra_w_m2, erbsDriesseDiffuseRatio)
}

/** Solar constant with which the DISC model was fitted, W/m2. */
const disc_solar_constant_w_m2 = 1370
/** The air mass to which it was fitted. */
const disc_airmass_max = 12

/** Direct light that reaches the ground, of that outside the air. */
function discBeamRatio(kt: number, airmass: number): number {
  const [a, b, c] =
    kt <= 0.6
      ? [
          0.512 + kt * (-1.56 + kt * (2.286 - 2.222 * kt)),
          0.37 + 0.962 * kt,
          -0.28 + kt * (0.932 - 2.048 * kt),
        ]
      : [
          -5.743 + kt * (21.77 + kt * (-27.49 + 11.56 * kt)),
          41.4 + kt * (-118.5 + kt * (66.05 + 31.9 * kt)),
          -47.01 + kt * (184.2 + kt * (-222 + 73.81 * kt)),
        ]
  const clear =
    0.866 + airmass * (-0.122 + airmass * (0.0121 + airmass * (-0.000653 + 1.4e-5 * airmass)))
  return clear - (a + b * Math.exp(c * airmass))
}

/**
 * Splits global horizontal irradiance by air mass and clearness: DISC, E. L. Maxwell, "A
 * quasi-physical model for converting hourly global horizontal to direct normal insolation",
 * SERI/TR-215-3087, 1987, with absolute air mass (F. Kasten, 1966, held to 12) as in its author's
 * worksheet.
 * Arguments as `erbs`, on the same solar constant as elsewhere here: the one of 1370 W/m2 with
 * which the model was fitted, also behind its clearness index, is put in. A pressure below 0 counts
 * as 0. All diffuse beyond 87 degrees. Global = direct * cos(zenith) + diffuse, and at pressures up
 * to 110 000 Pa at least an eighth of it is diffuse.
 */
export function disc(
  ghi_w_m2: number,
  zenith_deg: number,
  dni_extra_w_m2: number,
  pressure_pa: number,
): Decomposition {
  const ghi = Math.max(0, ghi_w_m2)
  const outside_w_m2 =
    Math.max(0, dni_extra_w_m2) * (disc_solar_constant_w_m2 / solar_constant_w_m2)
  const cos_zenith = Math.cos((zenith_deg * Math.PI) / 180)
  const clearness_ratio = clearness(ghi, cos_zenith, outside_w_m2)
  const relative_airmass = relativeAirmass1966(zenith_deg)
  if (Math.abs(zenith_deg) > zenith_deg_max || relative_airmass === null) {
    return { dni_w_m2: 0, dhi_w_m2: ghi, clearness_ratio }
  }
  const absolute_airmass = absoluteAirmass(relative_airmass, Math.max(0, pressure_pa))
  const airmass = Math.min(disc_airmass_max, absolute_airmass)
  const dni_w_m2 = Math.max(0, outside_w_m2 * discBeamRatio(clearness_ratio, airmass))
  return { dni_w_m2, dhi_w_m2: ghi - dni_w_m2 * cos_zenith, clearness_ratio }
}
