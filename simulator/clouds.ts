/**
 * The clouds over the site as a function of seed and time: weather that changes over hours and days
 * between clear, broken and overcast, and a field of clouds that the wind carries over the plants
 * one after the other.
 *
 * Distribution, ramps and autocorrelation of the clear-sky index were fitted to one-minute
 * measurements; a test compares them.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { noise } from './noise.ts'

interface Clouds {
  /** Share of the clear sky's global irradiance: 0.02 overcast, 1.3 beside clouds. */
  clear_sky_index: number
  /** Share of the sky that is covered, 0 to 1. */
  cover_ratio: number
  rain_mm_h: number
  drift_m_s: number
}

/** Ranks of all weather below which the sky is clear, and above which it is overcast. */
const clear_rank_max = 0.38
const overcast_rank_min = 0.78
/** Rank from which it rains, heavier with a higher rank. */
const rain_rank_min = 0.88
const rain_mm_h_max = 5
const drift_mean_m_s = 9
const drift_swing_m = 90_000
const drift_swing_ms = 9 * hour_ms

const channel = { regime: 1, drift: 10, field: 40, turbidity: 50, thickness: 52, glow: 56 } as const

/** `east_m` is the distance of a plant east of the site's origin: clouds come from the west. */
export function cloudsAt(seed: number, time_ms: number, east_m: number): Clouds {
  const rank = regimeRank(seed, time_ms)
  const cover_ratio = held((rank - clear_rank_max) / (overcast_rank_min - clear_rank_max))
  const along_m = east_m - driftedTo(seed, time_ms)
  return {
    clear_sky_index: clearSkyIndex(seed, { time_ms, along_m, rank, cover_ratio }),
    cover_ratio,
    rain_mm_h: rainAt(seed, time_ms, rank),
    drift_m_s: (driftedTo(seed, time_ms + 60_000) - driftedTo(seed, time_ms - 60_000)) / 120,
  }
}

/** Rain over the site at an instant, mm an hour. */
export function rainRate(seed: number, time_ms: number): number {
  return rainAt(seed, time_ms, regimeRank(seed, time_ms))
}

/** Cloudiness among all weather, 0 to 1, uniformly distributed. */
function regimeRank(seed: number, time_ms: number): number {
  const slow = noise(seed, channel.regime, time_ms / (26 * hour_ms))
  const quick = noise(seed, channel.regime + 1, time_ms / (4 * hour_ms))
  return rankOf(0.8 * slow + 0.2 * quick, 0.203)
}

function rainAt(seed: number, time_ms: number, rank: number): number {
  if (rank <= rain_rank_min) return 0
  const shower = noise(seed, channel.regime + 2, time_ms / (0.5 * hour_ms))
  const hardness = (rank - rain_rank_min) / (1 - rain_rank_min)
  return rain_mm_h_max * hardness * hardness * Math.max(0, 2 * shower - 0.6)
}

/** Distance travelled by the clouds, m; its slope, their speed, changes over hours. */
function driftedTo(seed: number, time_ms: number): number {
  const swing = noise(seed, channel.drift, time_ms / drift_swing_ms)
  return (drift_mean_m_s * time_ms) / 1000 + drift_swing_m * (swing - 0.5)
}

interface Sky {
  time_ms: number
  along_m: number
  rank: number
  cover_ratio: number
}

/** There are clouds where the field is below the cover; beside them they add light. */
function clearSkyIndex(seed: number, { time_ms, along_m, rank, cover_ratio }: Sky): number {
  const clean = 1 + 0.07 * (noise(seed, channel.turbidity, time_ms / (9 * hour_ms)) - 0.5)
  if (cover_ratio <= 0) return clean + haze(seed, along_m)
  const field = fieldAt(seed, along_m)
  const depth = (cover_ratio * (1 + edge_width) - field) / edge_width
  const density = smooth(held(depth))
  const glow =
    (cover_ratio * (1 - cover_ratio) * 4) ** 0.7 *
    (1 - density) *
    Math.exp(-(((depth - 0.4) / 1.6) ** 2)) *
    noise(seed, channel.glow, along_m / 1100)
  const passing = transmission(seed, { time_ms, along_m, rank, cover_ratio })
  return (clean + haze(seed, along_m)) * (1 - density * (1 - passing)) + 0.38 * glow
}

/** Distance of the field below the cover at which the cloud is complete. */
const edge_width = 0.33

/** Slight variation of a clear sky. */
const haze = (seed: number, along_m: number): number =>
  0.012 * (noise(seed, channel.turbidity + 1, along_m / 2500) - 0.5)

/** Share of the light that passes a complete cloud: thin veils to black rain clouds. */
function transmission(seed: number, { time_ms, along_m, rank, cover_ratio }: Sky): number {
  const slow = noise(seed, channel.thickness, time_ms / (7 * hour_ms))
  const within =
    0.55 * noise(seed, channel.thickness + 1, along_m / 7000) +
    0.45 * noise(seed, channel.thickness + 2, along_m / 1300)
  const broken = 0.86 - 0.5 * slow
  const dark = held((rank - overcast_rank_min) / (1 - overcast_rank_min))
  const overcast = 0.6 * (1 - dark) ** 1.1 + 0.025
  const mean = broken + (overcast - broken) * cover_ratio * cover_ratio
  return mean * (1 + 1.1 * (within - 0.5))
}

/** The field of clouds, uniform over 0 to 1, with structures of 200 m to 20 km. */
function fieldAt(seed: number, along_m: number): number {
  const sum =
    0.36 * noise(seed, channel.field, along_m / 14_000) +
    0.27 * noise(seed, channel.field + 1, along_m / 4000) +
    0.23 * noise(seed, channel.field + 2, along_m / 1400) +
    0.14 * noise(seed, channel.field + 3, along_m / 500)
  return rankOf(sum, 0.135)
}

/** Share of normally distributed values about 0.5 below `value`, by the logistic function. */
const rankOf = (value: number, sigma: number): number =>
  1 / (1 + Math.exp((-1.702 * (value - 0.5)) / sigma))

const held = (value: number): number => Math.min(1, Math.max(0, value))
const smooth = (share: number): number => share * share * (3 - 2 * share)
