/** Air pressure to which relative air mass refers, Pa. */
const sea_level_pa = 101_325

/**
 * Relative optical air mass: 1 with the sun in the zenith, about 38 at the horizon.
 * F. Kasten and A. T. Young, "Revised optical air mass tables and approximation formula", Applied
 * Optics 28(22), 1989, equation 3.
 * Takes the apparent zenith angle, 0 to 90 (below 0 as its absolute value); null above 90, where
 * the sun is below the horizon.
 */
export function relativeAirmass(apparent_zenith_deg: number): number | null {
  const zenith_deg = Math.abs(apparent_zenith_deg)
  if (zenith_deg > 90) return null
  const cos_zenith = Math.cos((zenith_deg * Math.PI) / 180)
  return 1 / (cos_zenith + 0.50572 * (96.07995 - zenith_deg) ** -1.6364)
}

/**
 * Relative optical air mass by the older formula with which the DISC model was fitted.
 * F. Kasten, "A new table and approximation formula for the relative optical air mass", Archiv fuer
 * Meteorologie, Geophysik und Bioklimatologie B 14, 1966. Zenith angle 0 to 90 (below 0 as its
 * absolute value), 1 to 36; null above 90.
 */
export function relativeAirmass1966(zenith_deg: number): number | null {
  const held_deg = Math.abs(zenith_deg)
  if (held_deg > 90) return null
  const cos_zenith = Math.cos((held_deg * Math.PI) / 180)
  return 1 / (cos_zenith + 0.15 * (93.885 - held_deg) ** -1.253)
}

/**
 * Absolute air mass: the relative one by the ratio of the pressure at the site to that at sea
 * level. Ch. A. Gueymard, Solar Energy 51(2), 1993. `pressure_pa` of 0 and more.
 */
export function absoluteAirmass(relative_airmass: number, pressure_pa: number): number {
  return (relative_airmass * pressure_pa) / sea_level_pa
}
