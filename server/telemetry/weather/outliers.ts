/**
 * Impossible values, judged by physical limits rather than by statistics, since power under moving
 * clouds has no stable distribution. After the limits of C. Long
 * and Y. Shi, "An automated quality assessment and control algorithm for surface radiation
 * measurements", Open Atmospheric Science Journal 2, 2008 (QCRad). A value inside the limits may
 * still be wrong: a sample that drops to a plausible value looks like a cloud.
 *
 * All functions return false for null.
 */

/** Tolerance of meters and inverters above their rating. */
const power_max_ratio = 1.05
/** Maximum consumption of an inverter and its transformer at night. */
const consumption_max_ratio = 0.03

/** Whether AC power exceeds what an inverter with this AC rating can deliver or draw. */
export function isImpossiblePower(power_kw: number | null, rated_kw: number): boolean {
  if (power_kw === null) return false
  return !(power_kw >= -consumption_max_ratio * rated_kw && power_kw <= power_max_ratio * rated_kw)
}

/**
 * Whether DC power exceeds what modules of `rated_kw` can deliver: 1.05 times their rated power at
 * 1500 W/m2, the maximum at cloud edges, plus 20 % for cold modules. Measured irradiance is not
 * used: it belongs to another instant and perhaps another plane, and a failed sensor would reject
 * every string. The same limit applies to reverse flow, from a faulty string or a reversed sensor.
 */
export function isImpossibleModulePower(power_kw: number | null, rated_kw: number): boolean {
  if (power_kw === null) return false
  return !(Math.abs(power_kw) <= power_max_ratio * 1.2 * 1.5 * rated_kw)
}

/**
 * Whether irradiance on any plane exceeds 1.2 times clear-sky irradiance plus 50 W/m2 (cloud
 * edges), or is below -10 W/m2, the offset of a thermopile at night.
 *
 * @param clear_sky_w_m2 0 with the sun below the horizon
 */
export function isImpossibleIrradiance(value_w_m2: number | null, clear_sky_w_m2: number): boolean {
  if (value_w_m2 === null) return false
  return !(value_w_m2 >= -10 && value_w_m2 <= 1.2 * clear_sky_w_m2 + 50)
}

/**
 * Whether diffuse horizontal irradiance is outside QCRad's possible limits: -4 to 0.95 S mu^1.2 +
 * 50, with the extraterrestrial normal irradiance S. Clear-sky irradiance is no bound, since clouds
 * multiply diffuse irradiance.
 */
export function isImpossibleDhi(
  dhi_w_m2: number | null,
  { dni_extra_w_m2, zenith_deg }: { dni_extra_w_m2: number; zenith_deg: number },
): boolean {
  if (dhi_w_m2 === null) return false
  const mu = Math.max(0, Math.cos((zenith_deg * Math.PI) / 180))
  return !(dhi_w_m2 >= -4 && dhi_w_m2 <= 0.95 * dni_extra_w_m2 * mu ** 1.2 + 50)
}
