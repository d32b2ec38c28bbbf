/**
 * Forecasts of a weather service for the site: its true weather with the error of real forecasts,
 * as a function of seed, time and issue.
 *
 * The clear-sky index of an hour is mapped to its quantile on a normal distribution. The forecast
 * has another quantile, which correlates with it less with longer lead time, and the index of that
 * quantile. A forecast therefore varies as much as the true weather and is not smoothed. Errors
 * last for hours, and consecutive forecasts share a part of them.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { firstIndex } from '@heliograph/domain/first-index'
import type { Place } from '@heliograph/domain/place'
import { coverAtTransmission } from '@heliograph/physics/cloud-cover'
import { cloudsAt } from './clouds.ts'
import { noise } from './noise.ts'
import { horizontalIrradiance, sunAt } from './sky.ts'
import { weatherAt } from './weather.ts'

/** Means over an hour. */
interface Radiation {
  ghi_w_m2: number
  dni_w_m2: number
  dhi_w_m2: number
}

interface PointWeather {
  temperature_c: number
  relative_humidity_pct: number
  cloud_cover_pct: number
  wind_speed_m_s: number
}

export interface SkyForecast {
  /** Of the hour that ends at `end_ms`. */
  radiation(end_ms: number, issued_ms: number): Radiation
  point(time_ms: number, issued_ms: number): PointWeather
  /** Global irradiance by members of an ensemble, W/m2, of the hour that ends at `end_ms`. */
  members(end_ms: number, issued_ms: number, count: number): number[]
}

/** Step of the mean over an hour. */
const look_ms = 300_000
const looks = hour_ms / look_ms
export const issued_every_ms = 6 * hour_ms

/**
 * One minus the correlation of forecast and truth after an hour, and its growth. The error of the
 * clear-sky index is about 0.12 after 6 h, 0.20 after 24 h and 0.28 after 72 h.
 */
const decorrelation = 0.0142
const decorrelation_power = 0.8
/** Share of the error variance common to consecutive forecasts. */
const shared_ratio = 0.6
const error_hours = 5
/** Spread of the ensemble relative to the true error: weather services are too narrow, too. */
const ensemble_spread_ratio = 0.85
const climate_hours = 2000
/** Step between sampled hours: no whole number of days. */
const climate_step_ms = 35 * hour_ms

const channel = { shared: 6000, own: 6010, air: 6020, member: 6100 } as const

/** Deterministic by seed. Clouds are those over the site's origin. */
export function createSkyForecast(seed: number, place: Place): SkyForecast {
  const climate = climateOf(seed)
  const errorAt = createErrors(seed)
  const leadHours = (time_ms: number, issued_ms: number) =>
    Math.max(0, (time_ms - issued_ms) / hour_ms)

  function rank(middle_ms: number, issued_ms: number): number {
    const correlation = correlationAfter(leadHours(middle_ms, issued_ms))
    const truth = deviationOf(climate, meanIndex(seed, middle_ms))
    const error = errorAt(channel.shared, middle_ms, issued_ms)
    return correlation * truth + Math.sqrt(1 - correlation ** 2) * error
  }
  const index = (deviation: number) => biased(indexOf(climate, deviation))

  return {
    radiation(end_ms, issued_ms) {
      return radiationUnder(place, end_ms, index(rank(end_ms - hour_ms / 2, issued_ms)))
    },
    point(time_ms, issued_ms) {
      const lead_h = leadHours(time_ms, issued_ms)
      const truth = weatherAt(seed, time_ms, { ...place, east_m: 0 })
      const sky = errorAt(channel.shared, time_ms, issued_ms)
      const error = (nth: number) => errorAt(channel.air + nth, time_ms, issued_ms)
      const grown = (lead_h + 2) ** 0.4
      const wind_m_s = meanWind(seed, place, time_ms)
      const humidity_pct = truth.relative_humidity_pct + grown * (1.5 * error(1) - sky)
      return {
        // Too much forecast sun comes with too much heat.
        temperature_c: truth.ambient_temperature_c + grown * (0.3 * error(0) + 0.15 * sky),
        relative_humidity_pct: Math.min(100, Math.max(5, humidity_pct)),
        cloud_cover_pct: 100 * coverAtTransmission(index(rank(time_ms, issued_ms))),
        wind_speed_m_s: wind_m_s * Math.max(0.2, 1 + 0.08 * grown * error(2)),
      }
    },
    members(end_ms, issued_ms, count) {
      const middle_ms = end_ms - hour_ms / 2
      const correlation = correlationAfter(leadHours(middle_ms, issued_ms))
      const width = ensemble_spread_ratio * Math.sqrt(1 - correlation ** 2)
      const centre = correlation * rank(middle_ms, issued_ms)
      const clear_w_m2 = radiationUnder(place, end_ms, 1).ghi_w_m2
      return Array.from({ length: count }, (_, member) => {
        const error = errorAt(channel.member + 10 * member, middle_ms, issued_ms)
        return clear_w_m2 * index(centre + width * error)
      })
    },
  }
}

const correlationAfter = (lead_h: number): number =>
  Math.max(0, 1 - decorrelation * (lead_h + 0.5) ** decorrelation_power)

/** Weather models underestimate broken clouds, and slightly a clear sky. */
function biased(index: number): number {
  const bias = 0.18 * index * Math.max(0, 1 - index) - 0.025 * index ** 4
  return Math.max(0.02, index + bias)
}

/** Errors of mean 0 and deviation 1 that last for some hours. */
function createErrors(seed: number) {
  const wave = (of: number, x: number) =>
    // Two curves, half a step apart, so that the variance is equal between and at their points.
    (noise(seed, of, x) + noise(seed, of + 1, x + 0.5) - 1) / 0.36
  return (of: number, time_ms: number, issued_ms: number): number => {
    const x = time_ms / (error_hours * hour_ms)
    const own = wave(of + (channel.own - channel.shared), x + (issued_ms / issued_every_ms) * 1e5)
    return Math.sqrt(shared_ratio) * wave(of, x) + Math.sqrt(1 - shared_ratio) * own
  }
}

/** True clear-sky index of the hour around an instant. */
function meanIndex(seed: number, middle_ms: number): number {
  let sum = 0
  for (const time_ms of looksAround(middle_ms)) sum += cloudsAt(seed, time_ms, 0).clear_sky_index
  return sum / looks
}

/** Without gusts, which no forecast has. */
function meanWind(seed: number, place: Place, middle_ms: number): number {
  let sum = 0
  for (const time_ms of looksAround(middle_ms)) {
    sum += weatherAt(seed, time_ms, { ...place, east_m: 0 }).wind_speed_m_s
  }
  return sum / looks
}

const looksAround = (middle_ms: number) =>
  Array.from({ length: looks }, (_, look) => middle_ms + (look + 0.5 - looks / 2) * look_ms)

function radiationUnder(place: Place, end_ms: number, clear_sky_index: number): Radiation {
  const sum = { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 }
  for (const time_ms of looksAround(end_ms - hour_ms / 2)) {
    const light = horizontalIrradiance(place, sunAt(place, time_ms), { clear_sky_index })
    sum.ghi_w_m2 += light.ghi_w_m2 / looks
    sum.dni_w_m2 += light.dni_w_m2 / looks
    sum.dhi_w_m2 += light.dhi_w_m2 / looks
  }
  return sum
}

/** The clear-sky index of hours of all seasons and times of day, ascending. */
function climateOf(seed: number): Float64Array {
  const from_ms = Date.UTC(2020, 0, 1)
  return Float64Array.from({ length: climate_hours }, (_, nth) =>
    meanIndex(seed, from_ms + nth * climate_step_ms),
  ).sort()
}

/** Quantile of an index on a normal distribution, by the logistic function. */
function deviationOf(climate: Float64Array, index: number): number {
  const at = firstIndex(climate.length, (nth) => climate[nth]! >= index)
  const [below, above] = [climate[at - 1] ?? index, climate[at] ?? index]
  const between = above > below ? (index - below) / (above - below) : 0
  const ratio = Math.min(1 - edge, Math.max(edge, (at - 0.5 + between) / climate.length))
  return Math.log(ratio / (1 - ratio)) / 1.702
}

/** The rarest resolved quantile. */
const edge = 0.5 / climate_hours

function indexOf(climate: Float64Array, deviation: number): number {
  const at = climate.length / (1 + Math.exp(-1.702 * deviation)) - 0.5
  const held = Math.min(climate.length - 1, Math.max(0, at))
  const below = climate[Math.floor(held)]!
  return below + (climate[Math.ceil(held)]! - below) * (held - Math.floor(held))
}
