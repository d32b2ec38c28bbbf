/** That coverage is held against the same daylight as readings are counted by. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { placeOf } from '@heliograph/domain/place'
import { coverageOf, periodOf } from './period.ts'
import { sumInverter } from './rollups/inverter-span.ts'
import { daylightAt } from './rollups/plant-light.ts'
import type { PlantInverter, RawInverter } from './rollups/raw.ts'

const places = [
  { latitude: 48.62, longitude: 12.17, elevation_m: 400 },
  { latitude: 1.3, longitude: 103.8, elevation_m: 15 },
  { latitude: -33.9, longitude: 151.2, elevation_m: null },
  { latitude: 66.4, longitude: 25.7, elevation_m: 200 },
]
const dates = ['2026-01-15', '2026-03-20', '2026-06-21', '2026-09-01', '2026-11-22', '2026-12-21']
const now = new Date('2027-06-01T00:00:00Z')

type Place = (typeof places)[number]
interface Reading {
  step_ms: number
  from_ms: number
  is_read?(time_ms: number): boolean
}

const inverter = {
  inverter_id: 1,
  logger_id: 1,
  rated_ac_power_kw: 100,
  dc_capacity_kwp: 120,
  nominal_efficiency_pct: null,
  exchanged_ms: [],
  strings: [],
} as unknown as PlantInverter

/** Read every step from a while before the day to a while after it, hour by hour as rolled up. */
function coveredOf(date: string, place: Place, reading: Reading): number {
  const { step_ms, from_ms, is_read = () => true } = reading
  const start_ms = Date.parse(date)
  const readings: RawInverter[] = []
  for (let at = start_ms - hour_ms + from_ms; at < start_ms + day_ms + hour_ms; at += step_ms) {
    if (is_read(at)) readings.push({ time_ms: at, state: 'running', ac_power_kw: 1 } as RawInverter)
  }
  const { isDay, isAwake } = daylightAt(placeOf(place))!
  let covered_s = 0
  for (let hour = start_ms; hour < start_ms + day_ms; hour += hour_ms) {
    const near = readings.filter(
      ({ time_ms }) => time_ms > hour - hour_ms && time_ms < hour + 2 * hour_ms,
    )
    const measured = { readings: near, ranges: [], sun: null, isDay, isAwake }
    const sums = sumInverter(inverter, measured, { start_ms: hour, end_ms: hour + hour_ms })
    covered_s += sums.inverter?.daylight_covered_s ?? 0
  }
  return covered_s
}

const daylightOf = (date: string, place: Place): number =>
  periodOf(
    { start: `${date}T00:00:00Z`, end: new Date(Date.parse(date) + day_ms).toISOString() },
    place,
    now,
  ).daylight_s!

test('a day that was read in full is all of its daylight, and no more', () => {
  for (const place of places) {
    for (const date of dates) {
      const daylight_s = daylightOf(date, place)
      for (const reading of [
        { step_ms: 10_000, from_ms: 3_217 },
        { step_ms: 60_000, from_ms: 41_000 },
      ]) {
        const covered_s = coveredOf(date, place, reading)
        const told = `${date} at ${place.latitude}, every ${reading.step_ms} ms`
        assert.ok(Math.abs(covered_s - daylight_s) < 1e-6, `${told}: ${covered_s} ${daylight_s}`)
      }
    }
  }
})

test('one part in a hundred that is missing is seen', () => {
  for (const place of places) {
    for (const date of dates) {
      const daylight_s = daylightOf(date, place)
      if (daylight_s === 0) continue
      const { isDay } = daylightAt(placeOf(place))!
      const start_ms = Date.parse(date)
      // About the middle of the longest light there is, whole minutes.
      const minutes = Array.from({ length: 1440 }, (_, nth) => start_ms + nth * minute_ms)
      const light = minutes.filter(isDay)
      const gap = new Set(light.slice(light.length >> 1).slice(0, Math.ceil(light.length / 100)))
      if (gap.size < 5) continue
      const covered_s = coveredOf(date, place, {
        step_ms: 10_000,
        from_ms: 0,
        is_read: (time_ms) => !gap.has(Math.floor(time_ms / minute_ms) * minute_ms),
      })
      const coverage = coverageOf(covered_s, daylight_s)!
      // Readings right beside the gap stand for the half of a step less.
      assert.ok(coverage < 0.9905 && coverage > 0.97, `${date} at ${place.latitude}: ${coverage}`)
    }
  }
})

test('daylight of a period is of its minutes, as far as they have passed', () => {
  const [place] = places
  const { isDay } = daylightAt(placeOf(place!))!
  const start_ms = Date.parse('2026-03-01T00:00:00Z')
  const end_ms = start_ms + 9 * day_ms + 13.5 * minute_ms
  const minutes = Math.floor((end_ms - start_ms) / minute_ms)
  const bright = Array.from({ length: minutes }, (_, nth) => start_ms + nth * minute_ms).filter(
    isDay,
  )
  const window = { start: '2026-03-01T00:00:00Z', end: '2026-04-01T00:00:00Z' }
  const { daylight_s } = periodOf(window, place!, new Date(end_ms))
  assert.equal(daylight_s, 60 * bright.length)
})
