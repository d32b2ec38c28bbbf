import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { Place } from '@heliograph/domain/place'
import { cloudsAt } from './clouds.ts'
import { createSkyForecast } from './forecast-sky.ts'
import { horizontalIrradiance, sunAt } from './sky.ts'
import { weatherAt } from './weather.ts'

const seed = 20261
const place: Place = { latitude: 48.62, longitude: 12.17, elevation_m: 410 }
const leads_h = [0, 1, 6, 12, 24, 48, 72]

/** Means of the hour that ends then: under the true sky, and under a clear one. */
function trueHour(end_ms: number) {
  const sum = { ghi: 0, clear: 0 }
  for (let minute = 2.5; minute < 60; minute += 5) {
    const time_ms = end_ms - minute * 60_000
    const sun = sunAt(place, time_ms)
    const under = (clear_sky_index: number) =>
      horizontalIrradiance(place, sun, { clear_sky_index }).ghi_w_m2 / 12
    sum.ghi += under(cloudsAt(seed, time_ms, 0).clear_sky_index)
    sum.clear += under(1)
  }
  return sum
}

interface Hour {
  ghi: number
  clear: number
  /** By lead. */
  forecast: number[]
}

/** The hours of light of every third day of a year. */
function yearOfHours(): Hour[] {
  const sky = createSkyForecast(seed, place)
  const hours: Hour[] = []
  for (let day = 0; day < 365; day += 3) {
    for (let hour = 5; hour < 20; hour += 1) {
      const end_ms = Date.UTC(2026, 0, 1 + day, hour)
      const truth = trueHour(end_ms)
      if (truth.clear < 20) continue
      const issued = (lead_h: number) => end_ms - (lead_h + 0.5) * hour_ms
      const forecast = leads_h.map((lead_h) => sky.radiation(end_ms, issued(lead_h)).ghi_w_m2)
      hours.push({ ...truth, forecast })
    }
  }
  return hours
}

const hours = yearOfHours()
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const errorsAt = (nth: number) => hours.map(({ ghi, forecast }) => forecast[nth]! - ghi)
/** Root mean square, as a share of that of the clear sky. */
const scoreOf = (errors: readonly number[]) =>
  Math.sqrt(sumOf(errors.map((error) => error ** 2)) / sumOf(hours.map(({ clear }) => clear ** 2)))

test('the error grows with lead time as in real forecasts', (t) => {
  const scores = leads_h.map((_, nth) => scoreOf(errorsAt(nth)))
  t.diagnostic(leads_h.map((lead_h, nth) => `${lead_h} h ${scores[nth]!.toFixed(3)}`).join(', '))
  assert.ok(hours.length > 1200)
  for (const [nth, score] of scores.entries()) assert.ok(nth === 0 || score > scores[nth - 1]!)
  const near = (lead_h: number, expected: number) => {
    const score = scores[leads_h.indexOf(lead_h)]!
    assert.ok(Math.abs(score / expected - 1) < 0.12, `${lead_h} h: ${score}, not ${expected}`)
  }
  near(6, 0.12)
  near(24, 0.2)
  near(72, 0.28)
  // Guessing a usual day is worse than the forecast of a day ahead, and not much worse than three.
  const usual = sumOf(hours.map(({ ghi }) => ghi)) / sumOf(hours.map(({ clear }) => clear))
  const guessed = scoreOf(hours.map(({ ghi, clear }) => usual * clear - ghi))
  assert.ok(guessed > 1.2 * scores[4]!, `${guessed}`)
})

test('forecasts vary as much as the weather', () => {
  const indices = (of: (hour: Hour) => number) => hours.map((hour) => of(hour) / hour.clear)
  const deviation = (values: number[]) => {
    const mean = sumOf(values) / values.length
    return Math.sqrt(sumOf(values.map((value) => (value - mean) ** 2)) / values.length)
  }
  const truth = deviation(indices(({ ghi }) => ghi))
  const told = deviation(indices(({ forecast }) => forecast[5]!))
  assert.ok(Math.abs(told / truth - 1) < 0.15, `${told} instead of ${truth}`)
})

test('the bias differs between broken clouds and a clear sky', () => {
  const bias = (from: number, to: number) => {
    const within = hours.filter(({ ghi, clear }) => ghi / clear >= from && ghi / clear < to)
    assert.ok(within.length > 100)
    // Of the present hour, where nothing else is wrong.
    const error = sumOf(within.map(({ ghi, forecast }) => forecast[0]! - ghi))
    return error / sumOf(within.map(({ clear }) => clear))
  }
  assert.ok(bias(0.35, 0.75) > 0.025, `${bias(0.35, 0.75)}`)
  assert.ok(bias(0.95, 1.2) < -0.015, `${bias(0.95, 1.2)}`)
})

test('errors last for hours, and consecutive forecasts share a part', () => {
  const sky = createSkyForecast(seed, place)
  const issued_ms = Date.UTC(2026, 5, 1)
  const errors = (issued: number, from_h: number, to_h: number, shift_h = 0) =>
    Array.from({ length: 60 }, (_, week) => {
      const at = issued + week * 7 * 24 * hour_ms
      return Array.from({ length: to_h - from_h }, (_, hour) => {
        const time_ms = at + (from_h + hour + shift_h) * hour_ms
        const truth = weatherAt(seed, time_ms, { ...place, east_m: 0 }).ambient_temperature_c
        return sky.point(time_ms, at).temperature_c - truth
      })
    }).flat()
  const correlation = (a: number[], b: number[]) =>
    sumOf(a.map((value, index) => value * b[index]!)) /
    Math.sqrt(sumOf(a.map((value) => value ** 2)) * sumOf(b.map((value) => value ** 2)))
  const base = errors(issued_ms, 24, 48)
  assert.ok(correlation(base, errors(issued_ms, 24, 48, 1)) > 0.85)
  assert.ok(correlation(base, errors(issued_ms, 24, 48, 24)) < 0.3)
  const older = errors(issued_ms - 6 * hour_ms, 30, 54)
  const between = correlation(base, older)
  assert.ok(between > 0.35 && between < 0.85, `${between}`)
})

test('the members of an ensemble spread with lead time, less than they should', (t) => {
  const sky = createSkyForecast(seed, place)
  const told = [6, 48].map((lead_h) => {
    let [within, width, clear] = [0, 0, 0]
    for (let day = 0; day < 365; day += 2) {
      const end_ms = Date.UTC(2026, 0, 1 + day, 12)
      const members = sky.members(end_ms, end_ms - (lead_h + 0.5) * hour_ms, 20)
      const [low, high] = [members.sort((a, b) => a - b)[2]!, members[17]!]
      const truth = trueHour(end_ms)
      if (truth.ghi >= low && truth.ghi <= high) within += 1
      width += high - low
      clear += truth.clear
    }
    t.diagnostic(`${lead_h} h: ${((100 * within) / 183).toFixed(0)} % within ${width / clear}`)
    return { within: within / 183, width: width / clear }
  })
  assert.ok(told[1]!.width > 1.5 * told[0]!.width)
  // From the third to the third last of 20 should be 15 of 21.
  for (const { within } of told) assert.ok(within > 0.3 && within < 0.7, `${within}`)
})

test('it depends on seed, time and issue only', () => {
  const end_ms = Date.UTC(2026, 5, 3, 11)
  const issued_ms = end_ms - 20 * hour_ms
  const told = (of: number, issue_ms = issued_ms) =>
    createSkyForecast(of, place).radiation(end_ms, issue_ms)
  assert.deepEqual(told(seed), told(seed))
  assert.notDeepEqual(told(seed), told(seed + 1))
  assert.notDeepEqual(told(seed), told(seed, issued_ms - 6 * hour_ms))
  const { ghi_w_m2, dni_w_m2, dhi_w_m2 } = told(seed)
  assert.ok(ghi_w_m2 > 0 && dni_w_m2 >= 0 && dhi_w_m2 > 0 && dhi_w_m2 <= ghi_w_m2 + 1e-9)
  const night = createSkyForecast(seed, place).radiation(Date.UTC(2026, 5, 3, 23), issued_ms)
  assert.deepEqual(night, { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 })
})
