import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relativeAirmass } from './airmass.ts'
import { faiman } from './cell-temperature.ts'
import { ineichenPerez } from './clear-sky.ts'
import { disc } from './decomposition.ts'
import { series } from './series.ts'
import { trackSun } from './tracker.ts'
import { hayDavies } from './transposition.ts'

const zenith_deg = Float64Array.of(20, 55, 80, 91)
const azimuth_deg = Float64Array.of(180, 120, 80, 60)
const ghi_w_m2 = Float64Array.of(900, 400, 60, 0)
const surface = { tilt_deg: 30, azimuth_deg: 180 }

test('rows equal single calls of the model, at any nesting of arguments', () => {
  const horizontal = { dni_w_m2: 500, dhi_w_m2: 90, dni_extra_w_m2: 1360, albedo_ratio: 0.2 }
  const plane = series(hayDavies, [
    surface,
    { zenith_deg, azimuth_deg },
    { ghi_w_m2, ...horizontal },
  ])
  const parts = series(disc, [ghi_w_m2, zenith_deg, 1360, 95_000])
  const module_c = series(faiman, [
    { poa_w_m2: ghi_w_m2, air_temperature_c: 20, wind_speed_m_s: Float64Array.of(0, 1, 2, 3) },
  ])
  zenith_deg.forEach((zenith, i) => {
    const sun = { zenith_deg: zenith, azimuth_deg: azimuth_deg[i]! }
    const ghi = ghi_w_m2[i]!
    const one = hayDavies(surface, sun, { ghi_w_m2: ghi, ...horizontal })
    assert.deepEqual([plane.global_w_m2[i], plane.sky_w_m2[i]], [one.global_w_m2, one.sky_w_m2])
    assert.equal(parts.dni_w_m2[i], disc(ghi, zenith, 1360, 95_000).dni_w_m2)
    const weather = { poa_w_m2: ghi, air_temperature_c: 20, wind_speed_m_s: i }
    assert.equal(module_c[i], faiman(weather))
  })
  assert.deepEqual(Object.keys(plane), ['global_w_m2', 'direct_w_m2', 'sky_w_m2', 'ground_w_m2'])
})

test('null becomes NaN, also as input of the next model', () => {
  const absolute_airmass = series(relativeAirmass, [zenith_deg])
  assert.ok(absolute_airmass[0]! > 1 && Number.isNaN(absolute_airmass[3]))
  const sky = series(ineichenPerez, [
    {
      apparent_zenith_deg: zenith_deg,
      absolute_airmass,
      linke_turbidity: 3,
      altitude_m: 0,
      dni_extra_w_m2: 1366.1,
    },
  ])
  assert.ok(sky.ghi_w_m2[0]! > 900)
  assert.equal(sky.ghi_w_m2[3], 0)
})

test('a function of several models can be a series', () => {
  const axis = {
    azimuth_deg: 180,
    tilt_deg: 0,
    rotation_deg_max: 60,
    backtracks: false,
    ground_coverage_ratio: 0.4,
  }
  const rotation = (zenith: number, azimuth: number) =>
    trackSun(axis, { zenith_deg: zenith, azimuth_deg: azimuth })?.rotation_deg ?? null
  const rotation_deg = series(rotation, [zenith_deg, azimuth_deg])
  assert.ok(rotation_deg[1]! < 0 && Number.isNaN(rotation_deg[3]))
})

test('a given output is filled from its start; no rows give the shape of rows', () => {
  const out = new Float64Array(6).fill(7)
  assert.equal(series(relativeAirmass, [zenith_deg], out), out)
  assert.equal(out[0], relativeAirmass(20))
  assert.equal(out[5], 7)
  const none = new Float64Array(0)
  assert.deepEqual(Object.keys(series(disc, [none, 0, 1360, 95_000])), [
    'dni_w_m2',
    'dhi_w_m2',
    'clearness_ratio',
  ])
  assert.equal(series(relativeAirmass, [none]).length, 0)
})

test('invalid arguments are refused by name', () => {
  const short = { zenith_deg, azimuth_deg: new Float64Array(2) }
  const light = { ghi_w_m2: 1, dni_w_m2: 1, dhi_w_m2: 1, dni_extra_w_m2: 1, albedo_ratio: 0 }
  const refused = (message: RegExp) => ({ name: 'RangeError', message })
  assert.throws(
    () => series(hayDavies, [surface, short, light]),
    refused(/azimuth_deg has 2 elements, not 4/),
  )
  assert.throws(() => series(relativeAirmass, [12]), refused(/args: no Float64Array/))
  const out = new Float64Array(3)
  assert.throws(() => series(relativeAirmass, [zenith_deg], out), refused(/out holds 3 of 4/))
})
