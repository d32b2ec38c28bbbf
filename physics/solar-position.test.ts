import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import {
  extraterrestrialDni,
  type SolarPosition,
  solarPosition,
  solarPositions,
  sunEarthDistance,
} from './solar-position.ts'

const limit_deg = 1e-6
/** Azimuths of one direction may lie on either side of north. */
const around = (a: number, b: number) => b + ((((a - b + 180) % 360) + 360) % 360) - 180

testAgainstOracle('solar_position', 'the position of the sun', (row) => {
  const time_ms = row.number('unix') * 1000
  const options = {
    elevation_m: row.number('alt_m'),
    pressure_pa: row.number('pressure_pa'),
    temperature_c: row.number('temp_c'),
  }
  const at = (delta_t_s: number) =>
    solarPosition(time_ms, row.number('lat'), row.number('lon'), { ...options, delta_t_s })
  const sun = at(67)
  assertWithin(sun.zenith_deg, row.number('zenith'), limit_deg, 'zenith')
  assertWithin(sun.apparent_zenith_deg, row.number('apparent_zenith'), limit_deg, 'apparent zenith')
  assertWithin(sun.elevation_deg, row.number('elevation'), limit_deg, 'elevation')
  const apparent_elevation = row.number('apparent_elevation')
  assertWithin(sun.apparent_elevation_deg, apparent_elevation, limit_deg, 'apparent elevation')
  const azimuth = row.number('azimuth')
  assertWithin(around(sun.azimuth_deg, azimuth), azimuth, limit_deg, 'azimuth')
  assertWithin(sun.distance_au, row.number('earth_sun_au'), 1e-9, 'distance')
  const dni_extra = extraterrestrialDni(sun.distance_au)
  assertWithin(dni_extra, row.number('dni_extra_nrel'), 1e-6, 'dni extra')

  const other = at(row.number('delta_t_s'))
  const zenith_dt = row.number('apparent_zenith_dt')
  assertWithin(other.apparent_zenith_deg, zenith_dt, limit_deg, 'zenith, other delta T')
  const azimuth_dt = row.number('azimuth_dt')
  assertWithin(around(other.azimuth_deg, azimuth_dt), azimuth_dt, limit_deg, 'azimuth, other')
})

test('the worked example of the report: Golden, 2003-10-17 12:30:30 local', () => {
  const sun = solarPosition(Date.UTC(2003, 9, 17, 19, 30, 30), 39.742476, -105.1786, {
    elevation_m: 1830.14,
    pressure_pa: 82_000,
    temperature_c: 11,
    delta_t_s: 67,
  })
  assertWithin(sun.apparent_zenith_deg, 50.11162, 5e-6, 'zenith')
  assertWithin(sun.azimuth_deg, 194.34024, 5e-6, 'azimuth')
})

const anywhere = {
  time_ms: fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) }),
  latitude_deg: uniform(-90, 90),
  longitude_deg: uniform(-180, 180),
}

test('angles are numbers in their ranges at all places and times', () => {
  fc.assert(
    fc.property(
      anywhere.time_ms,
      anywhere.latitude_deg,
      anywhere.longitude_deg,
      (time_ms, latitude_deg, longitude_deg) => {
        const sun = solarPosition(time_ms, latitude_deg, longitude_deg)
        assert.ok(sun.zenith_deg >= 0 && sun.zenith_deg <= 180)
        assert.ok(sun.azimuth_deg >= 0 && sun.azimuth_deg < 360)
        assert.ok(sun.apparent_zenith_deg <= sun.zenith_deg + 1e-3)
        assert.ok(sun.distance_au > 0.983 && sun.distance_au < 1.017)
        assertWithin(sun.zenith_deg + sun.elevation_deg, 90, 1e-12, 'zenith and elevation')
      },
    ),
  )
})

test('the poles, the date line and far years are valid', () => {
  const noon_ms = Date.UTC(2024, 5, 21, 12)
  for (const latitude_deg of [-90, 0, 90]) {
    for (const longitude_deg of [-180, 0, 180]) {
      for (const time_ms of [noon_ms, -60e12, 120e12, 8.64e15, -8.64e15]) {
        const sun = solarPosition(time_ms, latitude_deg, longitude_deg)
        for (const value of Object.values(sun)) assert.ok(Number.isFinite(value), String(time_ms))
      }
    }
  }
  assertWithin(solarPosition(noon_ms, 90, 0).elevation_deg, 23.436, 0.003, 'midsummer, north pole')
  assert.ok(Number.isNaN(solarPosition(Number.NaN, 42, 24).zenith_deg))
})

test('the sun is nearest early in January and farthest early in July', () => {
  const near = sunEarthDistance(Date.UTC(2024, 0, 3))
  const far = sunEarthDistance(Date.UTC(2024, 6, 5))
  assertWithin(near, 0.98331, 1e-5, 'perihelion')
  assertWithin(far, 1.01673, 1e-5, 'aphelion')
  assert.ok(extraterrestrialDni(near) > extraterrestrialDni(far))
})

test('a series of positions equals single ones, in any order', () => {
  const times_ms = Float64Array.from(
    { length: 300 },
    (_, i) => Date.UTC(2031, 2, 1) + ((i * 7919) % 300) * 101_234_567.5,
  )
  times_ms[7] = Number.NaN
  const options = { elevation_m: 900, temperature_c: 4, delta_t_s: 71 }
  const series = solarPositions(times_ms, -33.4, -70.6, options)
  for (const [i, time_ms] of times_ms.entries()) {
    const one = solarPosition(time_ms, -33.4, -70.6, options)
    for (const part of Object.keys(one) as (keyof SolarPosition)[]) {
      assert.equal(series[part][i], one[part], `${part} ${i}`)
    }
  }
  assert.equal(solarPositions(new Float64Array(0), 0, 0).zenith_deg.length, 0)
  assert.equal(solarPositions(times_ms, -33.4, -70.6, options, series), series)
  const more = new Float64Array(301)
  assert.throws(() => solarPositions(more, 0, 0, {}, series), /RangeError: out holds 300 of 301/)
})
