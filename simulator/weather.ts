/**
 * The weather over the site as a function of seed and time: clouds and, consistent with them, air
 * temperature by season, hour and air mass, humidity, wind, rain and pressure. Synthetic, not a
 * forecast of any place.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { cloudsAt } from './clouds.ts'
import { noise } from './noise.ts'

export interface Weather {
  /** Share of the clear sky's global irradiance: 0.02 overcast, 1.3 beside clouds. */
  clear_sky_index: number
  ambient_temperature_c: number
  relative_humidity_pct: number
  pressure_hpa: number
  wind_speed_m_s: number
  wind_direction_deg: number
}

const channel = { air: 20, wind: 60, pressure: 80 } as const

/** `east_m` is the distance of the plant east of the site's origin: clouds come from the west. */
export function weatherAt(
  seed: number,
  time_ms: number,
  place: { latitude: number; longitude: number; elevation_m: number; east_m: number },
): Weather {
  const clouds = cloudsAt(seed, time_ms, place.east_m)
  const days = time_ms / day_ms
  const air = noise(seed, channel.air, days / 2.5)
  const year = ((days - 200) / 365.25) * 2 * Math.PI
  const season = Math.cos(year) * Math.sign(place.latitude || 1)
  const solar_hour = (days * 24 + place.longitude / 15) % 24
  const diurnal = Math.cos(((solar_hour - 15) / 24) * 2 * Math.PI)
  const rain = Math.min(1, clouds.rain_mm_h)
  const daily_mean_c =
    26 -
    Math.abs(place.latitude) * 0.35 -
    place.elevation_m * 0.0065 +
    10 * season +
    8 * (air - 0.5)
  const ambient_temperature_c =
    daily_mean_c + (5.5 - 3.5 * clouds.cover_ratio) * diurnal - 1.5 * rain
  const dew_point_c = daily_mean_c - 7 + 4 * clouds.cover_ratio + 1.5 * rain
  return {
    clear_sky_index: clouds.clear_sky_index,
    ambient_temperature_c,
    relative_humidity_pct: Math.min(100, relativeHumidity(ambient_temperature_c, dew_point_c)),
    pressure_hpa:
      1013.25 * (1 - 2.25577e-5 * place.elevation_m) ** 5.25588 +
      20 * (noise(seed, channel.pressure, days / 3) - 0.5),
    ...windAt(seed, time_ms, { air, drift_m_s: clouds.drift_m_s, warmed: (1 + diurnal) / 2 }),
  }
}

/** Air temperature over the origin of the site, °C. */
export function ambientOf(site: Site, seed: number): (time_ms: number) => number {
  const place = { ...site, elevation_m: site.elevation_m ?? 0, east_m: 0 }
  return (time_ms) => weatherAt(seed, time_ms, place).ambient_temperature_c
}

/** At the ground, a share of the wind that carries the clouds; the sun's heat increases it. */
function windAt(
  seed: number,
  time_ms: number,
  { air, drift_m_s, warmed }: { air: number; drift_m_s: number; warmed: number },
) {
  const calm = noise(seed, channel.wind, time_ms / (2 * hour_ms))
  const gust = noise(seed, channel.wind + 1, time_ms / 20_000) - 0.5
  const mean_m_s = drift_m_s * (0.08 + 0.3 * calm) * (0.6 + 0.6 * warmed)
  return {
    wind_speed_m_s: Math.max(0, mean_m_s * (1 + 0.8 * gust)),
    wind_direction_deg: (270 + 120 * (air - 0.5) + 40 * gust) % 360,
  }
}

/** Percent, by the Magnus formula with the coefficients of WMO-No. 8. */
function relativeHumidity(temperature_c: number, dew_point_c: number): number {
  const exponent = (of_c: number) => (17.62 * of_c) / (243.12 + of_c)
  return 100 * Math.exp(exponent(dew_point_c) - exponent(temperature_c))
}
