/**
 * Air pressure at an altitude in the standard atmosphere, Pa. U.S. Standard Atmosphere 1976 (sea
 * level 101 325 Pa, 288.15 K, lapse rate 6.5 K/km), in the form of the Sandia PV_LIB (J. Stein et
 * al., 2012). For -5000 to 11 000 m; beyond, the altitude is held to -5000 and 44 331 m (nearly 0
 * Pa).
 */
export function pressureAtAltitude(altitude_m: number): number {
  const held_m = Math.min(44_331, Math.max(-5000, altitude_m))
  return 100 * ((44_331.514 - held_m) / 11_880.516) ** (1 / 0.1902632)
}
