import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { asleep_below_deg } from '@heliograph/domain/place'
import { solarPosition } from '@heliograph/physics/solar-position'
import { awakeTime } from './daylight.ts'

const minutes_of_hour = 60
/** In which the sun rises, or sets, or at the third never does one or both. */
const places = [
  { latitude: 48.6, longitude: 12.2, elevation_m: 400 },
  { latitude: -33.9, longitude: 151.2, elevation_m: 0 },
  { latitude: 66.4, longitude: 25.7, elevation_m: 200 },
]

test('an hour is awake in the minutes in whose middle the sun is up, if they are ten', () => {
  for (const place of places) {
    const awake = awakeTime(place)
    for (let day = 0; day < 365; day += 30) {
      const start_ms = Date.UTC(2026, 0, 1) + day * day_ms
      for (let hour = start_ms; hour < start_ms + day_ms; hour += hour_ms) {
        const minutes = Array.from({ length: minutes_of_hour }, (_, nth) => hour + nth * minute_ms)
        const sunny = minutes.filter((minute) => isUp(minute + minute_ms / 2, place))
        const up = sunny.length < 10 ? [] : sunny
        const at = `${new Date(hour).toISOString()} at ${place.latitude}`
        assert.equal(awake(hour, hour + hour_ms), 60 * up.length, at)
        // Within a minute, late in the first half and in the second.
        for (const passed_ms of [29.5 * minute_ms, 47.25 * minute_ms]) {
          const until_ms = hour + passed_ms
          const passed = up.map((minute) => Math.max(0, Math.min(minute_ms, until_ms - minute)))
          const expected_ms = passed.reduce((sum, ms) => sum + ms, 0)
          assert.equal(awake(hour, until_ms), expected_ms / 1000, at)
        }
      }
    }
  }
})

test('an hour to come is not awake yet, and nobody knows of a place that is not known', () => {
  const noon = Date.UTC(2026, 5, 21, 11)
  assert.equal(awakeTime(places[0]!)(noon, noon - hour_ms), 0)
  assert.equal(awakeTime({ latitude: null, longitude: null, elevation_m: null })(noon, noon), null)
})

function isUp(time_ms: number, { latitude, longitude, elevation_m }: (typeof places)[number]) {
  const sun = solarPosition(time_ms, latitude, longitude, { elevation_m })
  return sun.apparent_elevation_deg >= asleep_below_deg
}
