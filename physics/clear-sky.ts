export interface ClearSky {
  /** Global horizontal irradiance. */
  ghi_w_m2: number
  /** Direct normal irradiance. */
  dni_w_m2: number
  /** Diffuse horizontal irradiance. */
  dhi_w_m2: number
}

export interface IneichenPerezInput {
  apparent_zenith_deg: number
  /** Null with the sun below the horizon, as `relativeAirmass` gives it. */
  absolute_airmass: number | null
  /** Turbidity at air mass 2: about 2 in clean cold air, 3 in clear, 7 in polluted air. */
  linke_turbidity: number
  altitude_m: number
  dni_extra_w_m2: number
}

/**
 * Irradiance under a cloudless sky. P. Ineichen and R. Perez, "A new airmass independent
 * formulation for the Linke turbidity coefficient", Solar Energy 73(3), 2002, with the limit of the
 * beam by the global irradiance of R. Perez et al., "A new operational model for satellite-derived
 * irradiances", Solar Energy 73(5), 2002, and without that paper's factor for high air mass.
 * Good for altitudes up to about 3000 m and turbidities of 1 to 10. All zero with the sun at or
 * below the horizon. Never negative, and global = direct * cos(zenith) + diffuse.
 */
export function ineichenPerez(input: IneichenPerezInput): ClearSky {
  const { absolute_airmass, linke_turbidity, altitude_m, dni_extra_w_m2 } = input
  const cos_zenith = Math.cos((input.apparent_zenith_deg * Math.PI) / 180)
  if (absolute_airmass === null || cos_zenith <= 0) {
    return { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 }
  }
  const fh1 = Math.exp(-altitude_m / 8000)
  const fh2 = Math.exp(-altitude_m / 1250)
  const cg1 = 5.09e-5 * altitude_m + 0.868
  const cg2 = 3.92e-5 * altitude_m + 0.0387
  const transmitted = Math.exp(-cg2 * absolute_airmass * (fh1 + fh2 * (linke_turbidity - 1)))
  const ghi_w_m2 = Math.max(0, cg1 * dni_extra_w_m2 * cos_zenith * transmitted)

  const b = 0.664 + 0.163 / fh1
  const beam = dni_extra_w_m2 * b * Math.exp(-0.09 * absolute_airmass * (linke_turbidity - 1))
  const share = 1 - (0.1 - 0.2 * Math.exp(-linke_turbidity)) / (0.1 + 0.882 / fh1)
  const beam_max = Math.max(0, share) * (ghi_w_m2 / cos_zenith)
  const dni_w_m2 = Math.min(Math.max(0, beam), beam_max)
  return { ghi_w_m2, dni_w_m2, dhi_w_m2: Math.max(0, ghi_w_m2 - dni_w_m2 * cos_zenith) }
}

/**
 * Global horizontal irradiance under a cloudless sky from the zenith angle alone, W/m2.
 * B. Haurwitz, "Insolation in relation to cloudiness and cloud density", Journal of Meteorology 2,
 * 1945, with the constants of 1946. Zero with the sun at or below the horizon.
 */
export function haurwitz(apparent_zenith_deg: number): number {
  const cos_zenith = Math.cos((apparent_zenith_deg * Math.PI) / 180)
  return cos_zenith > 0 ? 1098 * cos_zenith * Math.exp(-0.059 / cos_zenith) : 0
}
