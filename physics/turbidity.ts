/**
 * Linke turbidity: how many clean, dry atmospheres weaken the direct light as much as the real one
 * does. About 2 in clean cold air, 3 in clear, 7 in polluted air.
 */

const held = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value))

/**
 * Linke turbidity from what the air holds: F. Kasten, "The Linke turbidity factor based on improved
 * values of the integral Rayleigh optical thickness", Solar Energy 56(3), 1996, with the depths of
 * dry air and water vapour by B. Molineaux, P. Ineichen and N. O'Neill, Applied Optics 37, 1998,
 * as P. Ineichen, "Conversion function between the Linke turbidity and the atmospheric water vapor
 * and aerosol content", Solar Energy 82, 2008, joins them.
 * `aerosol_depth` is the broadband optical depth, for which that at 700 nm stands well; take an air
 * mass of 2 for the turbidity that clear-sky models want. Fitted for air masses of 1 to 5 and up to
 * 5 cm of water; the air mass is held to 0.1 to 40, water and aerosol depth to 0 and more.
 */
export function linkeTurbidity(
  absolute_airmass: number,
  precipitable_water_cm: number,
  aerosol_depth: number,
): number {
  const airmass = held(absolute_airmass, 0.1, 40)
  const dry_depth = -0.101 + 0.235 * airmass ** -0.16
  const water_depth = 0.112 * airmass ** -0.55 * Math.max(0, precipitable_water_cm) ** 0.34
  return (9.4 + 0.9 * airmass) * (dry_depth + water_depth + Math.max(0, aerosol_depth))
}

/**
 * Water in the whole column of air, cm, at least 0.1, from temperature and relative humidity (0 to
 * 100) at the ground. C. Gueymard, "Analysis of monthly average atmospheric precipitable water and
 * turbidity in Canada and northern United States", Solar Energy 53(1), 1994, equations 1, 2 and 4,
 * and his saturation pressure, Journal of Applied Meteorology 32(7), 1993, equation 1; joined by
 * W. M. Keogh and A. W. Blakers, Progress in Photovoltaics 12(1), 2004. Within some 20 % for 1 to
 * 3 cm, less sure outside. The temperature is held to -80 to 60, the humidity to its range.
 */
export function precipitableWater(temperature_c: number, relative_humidity_pct: number): number {
  const kelvin = held(temperature_c, -80, 60) + 273.15
  const theta = kelvin / 273.15
  const scale_height_km =
    0.4976 + 1.5265 * theta + Math.exp(13.6897 * theta - 14.9188 * theta * theta * theta)
  const inverse = 100 / kelvin
  const saturation_hpa = Math.exp(
    22.33 - 49.14 * inverse - 10.922 * inverse * inverse - 0.39015 / inverse,
  )
  const humidity_ratio = held(relative_humidity_pct, 0, 100) / 100
  const density_g_m3 = (216.7 * humidity_ratio * saturation_hpa) / kelvin
  return Math.max(0.1, 0.1 * scale_height_km * density_g_m3)
}

/**
 * Dew point over water, degrees Celsius, from air temperature and relative humidity (0 to 100), by
 * the Magnus formula with the coefficients of the WMO Guide to Instruments and Methods of
 * Observation (WMO-No. 8, 2023), made for -45 to 60. The temperature is held to -80 to 60, the
 * humidity to 0.1 to 100: perfectly dry air has no dew point.
 */
export function dewPoint(temperature_c: number, relative_humidity_pct: number): number {
  const air_c = held(temperature_c, -80, 60)
  const humidity_ratio = held(relative_humidity_pct, 0.1, 100) / 100
  const exponent = (17.62 * air_c) / (243.12 + air_c) + Math.log(humidity_ratio)
  return (243.12 * exponent) / (17.62 - exponent)
}

/**
 * Turbidity at an instant from the twelve monthly values of a site, January first, as maps of it
 * give them: linear between the middles of the months (UTC), from December on to January. Throws a
 * RangeError for another number of values or a time that is not a date with a month around it.
 */
export function monthlyTurbidity(monthly: readonly number[], time_ms: number): number {
  if (monthly.length !== 12) throw new RangeError(`monthly has ${monthly.length} values, not 12`)
  const date = new Date(time_ms)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  const middle = (of: number) => (Date.UTC(year, of) + Date.UTC(year, of + 1)) / 2
  const first = time_ms < middle(month) ? month - 1 : month
  const share = (time_ms - middle(first)) / (middle(first + 1) - middle(first))
  if (Number.isNaN(share)) throw new RangeError(`time_ms is no date: ${time_ms}`)
  return monthly[(first + 12) % 12]! * (1 - share) + monthly[(first + 1) % 12]! * share
}
