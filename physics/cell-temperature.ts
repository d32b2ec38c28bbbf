/** Heat that a module gives to the air: at rest, and more for each metre per second of wind. */
export interface FaimanCoefficients {
  u0_w_m2_k: number
  u1_w_s_m3_k: number
}

/** Mean of the modules of the paper named at `faiman`. */
export const faiman_mean: FaimanCoefficients = { u0_w_m2_k: 25, u1_w_s_m3_k: 6.84 }

/** What warms and cools a module. */
export interface ModuleWeather {
  /** Irradiance in the plane of the array. */
  poa_w_m2: number
  air_temperature_c: number
  wind_speed_m_s: number
}

/**
 * Module temperature, Celsius. D. Faiman, "Assessing the outdoor operating temperature of
 * photovoltaic modules", Progress in Photovoltaics 16(4), 2008; IEC 61853-2.
 * Negative irradiance and wind count as 0; without any cooling (u0 and u1 * wind both 0) the module
 * stays at air temperature. Steady state: a real module follows with a delay of minutes.
 */
export function faiman(weather: ModuleWeather, coefficients = faiman_mean): number {
  const wind = Math.max(0, weather.wind_speed_m_s)
  const loss = coefficients.u0_w_m2_k + coefficients.u1_w_s_m3_k * wind
  const heating = Math.max(0, weather.poa_w_m2)
  return weather.air_temperature_c + (loss > 0 ? heating / loss : 0)
}

/** How a module is built and mounted, in the terms of the Sandia model. */
export interface SapmMounting {
  a: number
  b_s_m: number
  /** How much the cell is warmer than the back of the module at 1000 W/m2. */
  delta_t_c: number
}

/** Table 1 of the report named at `sapmModuleTemperature`. */
export const sapm_mountings = {
  open_rack_glass_glass: { a: -3.47, b_s_m: -0.0594, delta_t_c: 3 },
  close_mount_glass_glass: { a: -2.98, b_s_m: -0.0471, delta_t_c: 1 },
  open_rack_glass_polymer: { a: -3.56, b_s_m: -0.075, delta_t_c: 3 },
  insulated_back_glass_polymer: { a: -2.81, b_s_m: -0.0455, delta_t_c: 0 },
} as const satisfies Record<string, SapmMounting>

/**
 * Temperature at the back of a module, Celsius. D. L. King, W. E. Boyson and J. A. Kratochvil,
 * "Photovoltaic Array Performance Model", Sandia SAND2004-3535, equation 11.
 * Negative irradiance and wind count as 0.
 */
export function sapmModuleTemperature(weather: ModuleWeather, mounting: SapmMounting): number {
  const wind = Math.max(0, weather.wind_speed_m_s)
  const warming = Math.exp(mounting.a + mounting.b_s_m * wind)
  return weather.air_temperature_c + Math.max(0, weather.poa_w_m2) * warming
}

/**
 * Temperature of the cell, Celsius, from that at the back of its module; equation 12 of the same.
 * Negative irradiance counts as 0.
 */
export function sapmCellTemperature(
  module_temperature_c: number,
  poa_w_m2: number,
  delta_t_c: number,
): number {
  return module_temperature_c + (Math.max(0, poa_w_m2) / 1000) * delta_t_c
}
