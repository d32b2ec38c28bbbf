/** In how much of an hour inverters must be awake, by the sun. */
import { asleep_below_deg, type Position, placeOf } from '@heliograph/domain/place'
import { solarPosition } from '@heliograph/physics/solar-position'
import { hour_ms } from '../../http/time-windows.ts'

const minute_ms = 60_000

/** Seconds of the hour from `hour` up to `until_ms`; null where the place is not known. */
export type AwakeTime = (hour: number, until_ms: number) => number | null

export function awakeTime(position: Position): AwakeTime {
  const place = placeOf(position)
  if (place === null) return () => null
  const { latitude, longitude, elevation_m } = place
  const known = new Map<number, boolean>()
  const isUp = (time_ms: number): boolean => {
    let is_up = known.get(time_ms)
    if (is_up === undefined) {
      const sun = solarPosition(time_ms, latitude, longitude, { elevation_m })
      is_up = sun.apparent_elevation_deg >= asleep_below_deg
      known.set(time_ms, is_up)
    }
    return is_up
  }
  return (hour, until_ms) => {
    const end_ms = Math.min(hour + hour_ms, until_ms)
    if (end_ms <= hour) return 0
    const is_up = isUp(hour)
    // The sun does not rise and set, nor set and rise, within half an hour.
    if (is_up === isUp(hour + hour_ms / 2) && is_up === isUp(hour + hour_ms)) {
      return is_up ? (end_ms - hour) / 1000 : 0
    }
    let awake_ms = 0
    for (let at = hour; at < end_ms; at += minute_ms) {
      if (isUp(at + minute_ms / 2)) awake_ms += Math.min(minute_ms, end_ms - at)
    }
    return awake_ms / 1000
  }
}
