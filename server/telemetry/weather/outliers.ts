/**
 * Values that can not be: judged by what is physically possible rather than by how rare they are,
 * since power under moving clouds has no distribution to be rare in. After the limits of C. Long
 * and Y. Shi, "An automated quality assessment and control algorithm for surface radiation
 * measurements", Open Atmospheric Science Journal 2, 2008 (QCRad). A value inside the limits may
 * still be wrong; a sample that drops to a plausible value looks like a cloud.
 *
 * All are false for null: what is not measured is not wrong.
 */

/** Meters and inverters overshoot their rating by this. */
const power_max_ratio = 1.05
/** Consumption at night, of the inverter and its transformer, at most. */
const consumption_max_ratio = 0.03

/**
 * Whether AC power is beyond what the inverter can give or draw. `rated_kw` is its AC rating (also
 * of one with more modules than that); `noise_kw` is the resolution of the meter, for small ones.
 */
export function isImpossiblePower(
  power_kw: number | null,
  rated_kw: number,
  noise_kw = 0,
): boolean {
  if (power_kw === null) return false
  const min_kw = -consumption_max_ratio * rated_kw - noise_kw
  return !(power_kw >= min_kw && power_kw <= power_max_ratio * rated_kw + noise_kw)
}

/**
 * Whether DC power is beyond what modules of `rated_kw` can give in any light: 1.05 times their
 * rated power in the brightest that the edges of clouds make, 1500 W/m2, raised by 20 % for cold
 * modules. The irradiance measured then is not asked: it is of another instant, perhaps of another
 * plane, and a sensor that fails would take every string with it. As much may flow backwards,
 * through a faulty string or a sensor mounted the wrong way round.
 */
export function isImpossibleModulePower(power_kw: number | null, rated_kw: number): boolean {
  if (power_kw === null) return false
  return !(Math.abs(power_kw) <= power_max_ratio * 1.2 * 1.5 * rated_kw)
}

/**
 * Whether irradiance on a plane, horizontal or not, is beyond 1.2 times that of a clear sky plus
 * 50 W/m2 (edges of clouds), or more negative than the offset of a thermopile at night, -10 W/m2.
 * `clear_sky_w_m2` is 0 with the sun below the horizon.
 */
export function isImpossibleIrradiance(value_w_m2: number | null, clear_sky_w_m2: number): boolean {
  if (value_w_m2 === null) return false
  return !(value_w_m2 >= -10 && value_w_m2 <= 1.2 * clear_sky_w_m2 + 50)
}

/** What QCRad's physically possible limits need of the sun. */
interface SunLimits {
  /** Solar constant at the earth's distance of the day. */
  dni_extra_w_m2: number
  zenith_deg: number
}

/**
 * Whether diffuse horizontal irradiance is beyond QCRad's possible limits: -4 to 0.95 S mu^1.2 +
 * 50. Clouds make it many times that of a clear sky, which is no bound to it.
 */
export function isImpossibleDhi(
  dhi_w_m2: number | null,
  { dni_extra_w_m2, zenith_deg }: SunLimits,
): boolean {
  if (dhi_w_m2 === null) return false
  const mu = Math.max(0, Math.cos((zenith_deg * Math.PI) / 180))
  return !(dhi_w_m2 >= -4 && dhi_w_m2 <= 0.95 * dni_extra_w_m2 * mu ** 1.2 + 50)
}
