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

/**
 * Altitude, m, at which the standard atmosphere has this pressure; within 0.2 m the inverse of
 * `pressureAtAltitude`, from the same source. For 20 000 to 120 000 Pa; below 0 Pa as at 0 Pa.
 */
export function altitudeAtPressure(pressure_pa: number): number {
  return 44_331.5 - 4946.62 * Math.max(0, pressure_pa) ** 0.190263
}
