/** Heat that a module gives to the air: at rest, and more for each metre per second of wind. */
export interface FaimanCoefficients {
  u0_w_m2_k: number
  u1_w_s_m3_k: number
}

/** Mean of the modules of the paper named at `faiman`. */
export const faiman_mean: FaimanCoefficients = { u0_w_m2_k: 25, u1_w_s_m3_k: 6.84 }

/** What warms and cools a module. */
interface ModuleWeather {
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
  return weather.air_temperature_c + (loss <= 0 ? 0 : heating / loss)
}

/** How a module is built and mounted, in the terms of the Sandia model. */
interface SapmMounting {
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

/** How a module gives off heat in PVsyst: at rest, and more with the wind. */
interface PvsystCoefficients {
  constant_w_m2_k: number
  wind_w_s_m3_k: number
}

/** PVsyst's own defaults; none counts on the wind, since few data of wind are good. */
export const pvsyst_mountings = {
  freestanding: { constant_w_m2_k: 29, wind_w_s_m3_k: 0 },
  semi_integrated: { constant_w_m2_k: 20, wind_w_s_m3_k: 0 },
  insulated: { constant_w_m2_k: 15, wind_w_s_m3_k: 0 },
} as const satisfies Record<string, PvsystCoefficients>

interface PvsystModule {
  /** Share of the light that becomes electricity, 0 to 1; 0.1 is PVsyst's default. */
  efficiency_ratio: number
  /** Share of the light that is absorbed, 0 to 1; 0.9 is PVsyst's default. */
  absorption_ratio: number
  cooling: PvsystCoefficients
}

/**
 * Cell temperature, Celsius, of PVsyst: the heat balance of Faiman with what is absorbed and not
 * turned into electricity. "Array thermal losses", PVsyst 7 help; A. Mermoud and B. Lejeune,
 * "Performance assessment of a simulation model for PV modules of any available technology", 25th
 * EUPVSEC, 2010.
 * Negative irradiance and wind count as 0; without any cooling the cell stays at air temperature.
 */
export function pvsystCellTemperature(weather: ModuleWeather, module: PvsystModule): number {
  const { constant_w_m2_k, wind_w_s_m3_k } = module.cooling
  const loss = constant_w_m2_k + wind_w_s_m3_k * Math.max(0, weather.wind_speed_m_s)
  const heated = module.absorption_ratio * (1 - module.efficiency_ratio)
  const heating = Math.max(0, weather.poa_w_m2) * Math.max(0, heated)
  return weather.air_temperature_c + (loss <= 0 ? 0 : heating / loss)
}

interface NoctModule {
  /** Nominal operating cell temperature: at 800 W/m2, 20 Celsius and 1 m/s of wind. */
  noct_c: number
  /** Share of the light that becomes electricity, 0 to 1. */
  efficiency_ratio: number
}

/** Transmittance of the cover times absorptance of the cells, as SAM takes it. */
const absorbed_ratio = 0.9

/**
 * Cell temperature, Celsius, from the nominal operating cell temperature, as SAM has it. P. Gilman
 * et al., "SAM Photovoltaic Model Technical Reference Update", NREL/TP-6A20-67399, 2018, section
 * 10.6. `wind_speed_m_s` is that at 10 m, reduced here to an array below two storeys, with free air
 * behind it.
 * Negative irradiance and wind count as 0, and a cell is never colder than the air.
 */
export function noctCellTemperature(weather: ModuleWeather, module: NoctModule): number {
  const wind = 0.51 * Math.max(0, weather.wind_speed_m_s)
  const warming_k = (Math.max(0, weather.poa_w_m2) / 800) * (module.noct_c - 20)
  const heated = 1 - module.efficiency_ratio / absorbed_ratio
  return weather.air_temperature_c + Math.max(0, warming_k * heated) * (9.5 / (5.7 + 3.8 * wind))
}

/**
 * Cell temperature, Celsius, in proportion to irradiance alone. R. G. Ross, "Design techniques for
 * flat-plate photovoltaic arrays", 15th IEEE Photovoltaic Specialists Conference, 1981.
 * `ross_k_m2_w` is the rise per W/m2: 0.021 standing free, 0.034 on a poorly ventilated roof, 0.056
 * on an unventilated one (E. Skoplaki and J. A. Palyvos, Renewable Energy 34(1), 2009),
 * by definition (NOCT - 20 C) / 800 W/m2. Negative irradiance counts as 0.
 */
export function rossCellTemperature(
  weather: Pick<ModuleWeather, 'poa_w_m2' | 'air_temperature_c'>,
  ross_k_m2_w: number,
): number {
  return weather.air_temperature_c + ross_k_m2_w * Math.max(0, weather.poa_w_m2)
}
