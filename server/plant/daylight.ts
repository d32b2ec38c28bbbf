/** The part of an hour in which inverters must be awake, by the position of the sun. */
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { asleep_below_deg, type Position, placeOf } from '@heliograph/domain/place'
import { solarPosition } from '@heliograph/physics/solar-position'

const half_hour_ms = hour_ms / 2
/** An hour with less daylight requires no readings, since minutes matter at dawn and dusk. */
const awake_ms_min = 10 * minute_ms
/** The sun never climbs or sinks faster. */
const steepest_deg_per_ms = 15.1 / hour_ms
/** Bound on atmospheric refraction, which changes faster. */
const lifted_deg_max = 1

/** Awake seconds, to the minute, from `hour` (ms) up to `until_ms`; null without a position. */
export type AwakeTime = (hour: number, until_ms: number) => number | null

export function awakeTime(position: Position): AwakeTime {
  const place = placeOf(position)
  if (place === null) return () => null
  const { latitude, longitude, elevation_m } = place
  const known = new Map<number, boolean>()
  let sure = { from_ms: Number.NaN, to_ms: Number.NaN, is_up: false }
  const isUp = (time_ms: number): boolean => {
    // Far from sunrise and sunset the state cannot change for hours.
    if (time_ms >= sure.from_ms && time_ms <= sure.to_ms) return sure.is_up
    let is_up = known.get(time_ms)
    if (is_up === undefined) {
      const sun = solarPosition(time_ms, latitude, longitude, { elevation_m })
      const above_deg = sun.apparent_elevation_deg - asleep_below_deg
      is_up = above_deg >= 0
      known.set(time_ms, is_up)
      const length_ms = (Math.abs(above_deg) - lifted_deg_max) / steepest_deg_per_ms
      sure = { from_ms: time_ms - length_ms, to_ms: time_ms + length_ms, is_up }
    }
    return is_up
  }
  /** Assumes at most one sunrise or sunset within half an hour. */
  const inHalfHour = (from_ms: number, until_ms: number): number => {
    const to_ms = from_ms + half_hour_ms
    const was_up = isUp(from_ms)
    const change_ms = was_up === isUp(to_ms) ? to_ms : firstChange(from_ms, to_ms, isUp)
    const [begin, end] = was_up ? [from_ms, change_ms] : [change_ms, to_ms]
    return Math.max(0, Math.min(end, until_ms) - begin)
  }
  const inHour = (hour: number, until_ms: number) =>
    inHalfHour(hour, until_ms) + inHalfHour(hour + half_hour_ms, until_ms)
  return (hour, until_ms) =>
    inHour(hour, hour + hour_ms) < awake_ms_min ? 0 : inHour(hour, until_ms) / 1000
}

/** The start of the first minute whose middle has the same state as `to_ms`. */
function firstChange(from_ms: number, to_ms: number, isUp: (time_ms: number) => boolean): number {
  const is_up = isUp(to_ms)
  let [before, after] = [-1, (to_ms - from_ms) / minute_ms]
  while (after - before > 1) {
    const minute = (before + after) >> 1
    if (isUp(from_ms + (minute + 0.5) * minute_ms) === is_up) after = minute
    else before = minute
  }
  return from_ms + after * minute_ms
}
