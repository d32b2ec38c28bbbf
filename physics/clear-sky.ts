import { absoluteAirmass, relativeAirmass } from './airmass.ts'

export interface ClearSky {
  /** Global horizontal irradiance. */
  ghi_w_m2: number
  /** Direct normal irradiance. */
  dni_w_m2: number
  /** Diffuse horizontal irradiance. */
  dhi_w_m2: number
}

interface IneichenPerezInput {
  apparent_zenith_deg: number
  /** Null with the sun below the horizon, as `relativeAirmass` gives it. */
  absolute_airmass: number | null
  /** Turbidity at air mass 2: about 2 in clean cold air, 3 in clear, 7 in polluted air. */
  linke_turbidity: number
  altitude_m: number
  dni_extra_w_m2: number
}

/** More than any sun gives; keeps what follows finite. */
const dni_extra_max_w_m2 = 10_000

const darkness: ClearSky = { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 }

/**
 * Irradiance under a cloudless sky. P. Ineichen and R. Perez, "A new airmass independent
 * formulation for the Linke turbidity coefficient", Solar Energy 73(3), 2002, with the limit of the
 * beam by the global irradiance of R. Perez et al., "A new operational model for satellite-derived
 * irradiances", Solar Energy 73(5), 2002, without that paper's factor for high air mass, which is
 * 2.5 at an elevation of 4 degrees and 1000 at the horizon.
 * Good for altitudes up to about 3000 m and turbidities of 1 to 10; the altitude is held to -1000
 * to 10 000 m, the turbidity to 0 to 100, the air mass to 40, that of the horizon, the irradiance
 * outside the air to 0 to 10 000 W/m2. All zero with the sun at or below the horizon. Never
 * negative, and global = direct * cos(zenith) + diffuse.
 */
export function ineichenPerez(input: IneichenPerezInput): ClearSky {
  const dni_extra_w_m2 = heldExtra(input)
  const cos_zenith = Math.cos((input.apparent_zenith_deg * Math.PI) / 180)
  if (input.absolute_airmass === null || cos_zenith <= 0) return { ...darkness }
  const altitude_m = Math.min(10_000, Math.max(-1000, input.altitude_m))
  const linke_turbidity = Math.min(100, Math.max(0, input.linke_turbidity))
  const absolute_airmass = Math.min(40, Math.max(0, input.absolute_airmass))
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
 * As `ineichenPerez`, with the absolute air mass from the apparent zenith angle and the pressure,
 * Pa: `relativeAirmass` and `absoluteAirmass` with their ranges and sources.
 */
export function clearSkyIrradiance({
  pressure_pa,
  ...input
}: Omit<IneichenPerezInput, 'absolute_airmass'> & { pressure_pa: number }): ClearSky {
  const airmass = relativeAirmass(input.apparent_zenith_deg)
  const absolute_airmass = airmass === null ? null : absoluteAirmass(airmass, pressure_pa)
  return ineichenPerez({ ...input, absolute_airmass })
}

/**
 * Global horizontal irradiance under a cloudless sky from the zenith angle alone, W/m2.
 * B. Haurwitz, "Insolation in relation to cloudiness and cloud density", Journal of Meteorology 2,
 * 1945, with the constants of 1946. Zero with the sun at or below the horizon.
 */
export function haurwitz(apparent_zenith_deg: number): number {
  const cos_zenith = Math.cos((apparent_zenith_deg * Math.PI) / 180)
  return cos_zenith <= 0 ? 0 : 1098 * cos_zenith * Math.exp(-0.059 / cos_zenith)
}

interface SimplifiedSolisInput {
  apparent_zenith_deg: number
  /** Optical depth of the aerosols at 700 nm: 0.05 in clean, 0.1 in usual, 0.3 in hazy air. */
  aerosol_depth_700nm: number
  precipitable_water_cm: number
  pressure_pa: number
  dni_extra_w_m2: number
}

const heldExtra = ({ dni_extra_w_m2 }: { dni_extra_w_m2: number }) =>
  Math.min(dni_extra_max_w_m2, Math.max(0, dni_extra_w_m2))

/** A polynomial, the constant term first. */
const polynomial = (x: number, terms: readonly number[]) =>
  terms.reduceRight((value, term) => value * x + term, 0)

/** Total optical depth of the diffuse light and its exponent. */
function solisDiffuse(aod: number, water_cm: number, log_pressure: number) {
  const w = water_cm
  const clean = aod < 0.05
  const terms = clean
    ? [0.0042 * w + 3.12, 0.092 * w - 8.86, -0.23 * w + 74.8, -3.11 * w + 79.4, 86 * w - 13_800]
    : [0.0057 * w + 2.94, 0.0554 * w - 5.71, -0.134 * w + 15.5, 0.27 * w - 20.7, -0.21 * w + 11.6]
  const by_pressure = clean ? -0.83 * (1 + aod) ** -17.2 : -0.71 * (1 + aod) ** -15
  return {
    depth: polynomial(aod, terms) + by_pressure * log_pressure,
    exponent: polynomial(aod, [0.116, 0.63, -0.337]) + log_pressure / (18 + 152 * aod),
  }
}

/**
 * Irradiance under a cloudless sky from what the air holds. P. Ineichen, "A broadband simplified
 * version of the Solis clear sky model", Solar Energy 82, 2008: each component is the enhanced
 * irradiance outside the air weakened by exp(-depth / sin(elevation)^exponent).
 * Fitted for aerosol depths of 0 to 0.45, 0.2 to 10 cm of water and 0 to 7000 m; outside, the
 * inputs are held to these (the pressure to 41 000 to 110 000 Pa), and the irradiance outside the
 * air to 0 to 10 000 W/m2. All zero with the sun at or below the horizon, never negative. The three
 * components are fitted apart: global differs from direct * cos(zenith) + diffuse by up to 11 W/m2
 * in usual air.
 */
export function simplifiedSolis(input: SimplifiedSolisInput): ClearSky {
  const sin_elevation = Math.cos((input.apparent_zenith_deg * Math.PI) / 180)
  if (sin_elevation <= 0) return { ...darkness }
  const aod = Math.min(0.45, Math.max(0, input.aerosol_depth_700nm))
  const w = Math.min(10, Math.max(0.2, input.precipitable_water_cm))
  const log_w = Math.log(w)
  const log_pressure = Math.log(Math.min(110_000, Math.max(41_000, input.pressure_pa)) / 101_325)

  const enhancement = polynomial(aod, [1.08 * w ** 0.0051, 0.97 * w ** 0.032, 0.12 * w ** 0.56])
  const outside_w_m2 = heldExtra(input) * (enhancement + 0.071 * log_pressure)
  const weakened = (depth: number, exponent: number) =>
    outside_w_m2 * Math.exp(-depth / sin_elevation ** exponent)

  const beam_depth =
    polynomial(log_w, [1.82, 0.056, 0.0071]) * aod +
    polynomial(log_w, [0.33, 0.045, 0.0096]) +
    (0.0089 * w + 0.13) * log_pressure
  const beam_exponent =
    polynomial(aod, [-0.0172, 0.0148, 0.00925]) * log_w + polynomial(aod, [0.4557, 0.5057, -0.7565])
  const global_depth =
    polynomial(log_w, [1.24, 0.047, 0.0061]) * aod +
    polynomial(log_w, [0.27, 0.043, 0.009]) +
    (0.0079 * w + 0.1) * log_pressure
  const global_exponent = polynomial(aod, [0.3798, 0.2846, -0.3079]) - 0.0147 * log_w
  const diffuse = solisDiffuse(aod, w, log_pressure)
  return {
    ghi_w_m2: weakened(global_depth, global_exponent) * sin_elevation,
    dni_w_m2: weakened(beam_depth, beam_exponent),
    dhi_w_m2: weakened(diffuse.depth, diffuse.exponent),
  }
}
