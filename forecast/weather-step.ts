/**
 * Forecast weather of one step of time, [start_ms, end_ms) in Unix ms. Values are means over the
 * step; null if the forecast has none.
 */
export interface WeatherStep {
  start_ms: number
  end_ms: number
  /** Global horizontal irradiance. */
  ghi_w_m2: number | null
  /** Direct normal irradiance. */
  dni_w_m2: number | null
  /** Diffuse horizontal irradiance. */
  dhi_w_m2: number | null
  /** Air temperature 2 m above ground. */
  temperature_c: number | null
  /** 10 m above ground. */
  wind_speed_m_s: number | null
  /** Share of the sky that is covered, 0 to 100. */
  cloud_cover_pct: number | null
  relative_humidity_pct: number | null
}

/** Quantities of a step, in their order of storage. */
export const weather_quantities = [
  'ghi_w_m2',
  'dni_w_m2',
  'dhi_w_m2',
  'temperature_c',
  'wind_speed_m_s',
  'cloud_cover_pct',
  'relative_humidity_pct',
] as const satisfies readonly (keyof WeatherStep)[]
