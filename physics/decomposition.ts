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

/** Diffuse share of the global irradiance at a clearness index, equation 1. */
function diffuseRatio(kt: number): number {
  if (kt <= 0.22) return 1 - 0.09 * kt
  if (kt > 0.8) return 0.165
  return 0.9511 + kt * (-0.1604 + kt * (4.388 + kt * (-16.638 + kt * 12.336)))
}

/**
 * Splits global horizontal irradiance into direct and diffuse. D. G. Erbs, S. A. Klein and
 * J. A. Duffie, "Estimation of the diffuse radiation fraction for hourly, daily and monthly-average
 * global radiation", Solar Energy 28(4), 1982, equation 1.
 * Takes the true zenith angle and the extraterrestrial normal irradiance (above 0). Negative global
 * irradiance (the night offset of a thermopile) counts as 0; beyond 87 degrees all of it is
 * diffuse. Global = direct * cos(zenith) + diffuse.
 */
export function erbs(ghi_w_m2: number, zenith_deg: number, dni_extra_w_m2: number): Decomposition {
  const ghi = Math.max(0, ghi_w_m2)
  const cos_zenith = Math.cos((zenith_deg * Math.PI) / 180)
  const horizontal = dni_extra_w_m2 * Math.max(cos_zenith, cos_zenith_min)
  const clearness_ratio = Math.min(1, ghi / horizontal)
  if (zenith_deg > zenith_deg_max) return { dni_w_m2: 0, dhi_w_m2: ghi, clearness_ratio }
  const dhi_w_m2 = ghi * diffuseRatio(clearness_ratio)
  return { dni_w_m2: (ghi - dhi_w_m2) / cos_zenith, dhi_w_m2, clearness_ratio }
}
