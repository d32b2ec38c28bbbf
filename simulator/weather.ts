/**
 * The weather over the site, as a function of seed and time: a field of clouds that the wind
 * carries over the plants, so that a shadow reaches one plant after the other, under a cover that
 * changes over hours and days; air temperature by season, hour and air mass; wind, humidity,
 * pressure. Invented weather with the shape of real weather, not a forecast of any place.
 */
import { noise } from './noise.ts'

export interface Weather {
  /** Share of the clear sky's global irradiance that arrives: about 0.2 overcast, up to 1.05. */
  clear_sky_index: number
  ambient_temperature_c: number
  relative_humidity_pct: number
  pressure_hpa: number
  wind_speed_m_s: number
  wind_direction_deg: number
}

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms
const cloud_speed_m_s = 8

const channel = { cover: 1, air: 20, cloud: 40, wind: 60, pressure: 80 } as const

/** `east_m` is how far east of the site's origin the plant lies: clouds come from the west. */
export function weatherAt(
  seed: number,
  time_ms: number,
  place: { latitude: number; longitude: number; elevation_m: number; east_m: number },
): Weather {
  const days = time_ms / day_ms
  const air = noise(seed, channel.air, days / 2.5)
  const wind = noise(seed, channel.wind, time_ms / (3 * hour_ms))
  const gust = noise(seed, channel.wind + 1, time_ms / 20_000)
  const year = ((days - 200) / 365.25) * 2 * Math.PI
  const season = Math.cos(year) * Math.sign(place.latitude || 1)
  const solar_hour = (days * 24 + place.longitude / 15) % 24
  const diurnal = Math.cos(((solar_hour - 15) / 24) * 2 * Math.PI)
  const cover = coverAt(seed, time_ms)
  const mean_c = 26 - Math.abs(place.latitude) * 0.35 - place.elevation_m * 0.0065
  const ambient_temperature_c = mean_c + 10 * season + (4.5 - 2 * cover) * diurnal + 8 * (air - 0.5)
  const humid = 72 + 18 * (cover - 0.5) - 14 * diurnal
  return {
    clear_sky_index: clearSkyIndex(seed, time_ms, place.east_m, cover),
    ambient_temperature_c,
    relative_humidity_pct: Math.min(100, Math.max(15, humid)),
    pressure_hpa:
      1013.25 * (1 - 2.25577e-5 * place.elevation_m) ** 5.25588 +
      20 * (noise(seed, channel.pressure, days / 3) - 0.5),
    wind_speed_m_s: Math.max(0, 0.3 + 7 * wind * wind + 2 * (gust - 0.5) * wind),
    wind_direction_deg: (270 + 120 * (air - 0.5) + 40 * (gust - 0.5)) % 360,
  }
}

/** How much of the sky is covered: 0 clear, 1 overcast, for hours to days. */
function coverAt(seed: number, time_ms: number): number {
  const slow = noise(seed, channel.cover, time_ms / (30 * hour_ms))
  const quick = noise(seed, channel.cover + 1, time_ms / (4 * hour_ms))
  return Math.min(1, Math.max(0, 1.5 * (0.65 * slow + 0.35 * quick) - 0.25))
}

/** Clouds stand where the field lies below the cover; at their edges they let more light by. */
function clearSkyIndex(seed: number, time_ms: number, east_m: number, cover: number): number {
  const along_m = east_m - (cloud_speed_m_s * time_ms) / 1000
  const field =
    0.55 * noise(seed, channel.cloud, along_m / 1800) +
    0.3 * noise(seed, channel.cloud + 1, along_m / 600) +
    0.15 * noise(seed, channel.cloud + 2, along_m / 180)
  const inside = Math.min(1, Math.max(0, (cover - field) / 0.16 + 0.5))
  const density = inside * inside * (3 - 2 * inside)
  const thickness = 0.55 + 0.27 * cover
  return 1 - thickness * density + 0.16 * density * (1 - density)
}
