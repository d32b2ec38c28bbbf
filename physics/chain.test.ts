import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { absoluteAirmass, relativeAirmass } from './airmass.ts'
import { faiman } from './cell-temperature.ts'
import { type ClearSkyModule, clearSkyPower } from './chain.ts'
import { ineichenPerez } from './clear-sky.ts'
import { assertWithinRatio } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { cecSingleDiode, maximumPowerPoint } from './single-diode.ts'
import { extraterrestrialDni, solarPosition } from './solar-position.ts'
import { hayDavies } from './transposition.ts'

const place: ClearSkyModule = {
  latitude_deg: 42.15,
  longitude_deg: 24.75,
  altitude_m: 160,
  pressure_pa: 99_000,
  surface: { tilt_deg: 30, azimuth_deg: 180 },
  linke_turbidity: 3,
  albedo_ratio: 0.2,
  delta_t_s: 67,
  module: {
    a_ref_v: 1.65724,
    i_l_ref_a: 18.4877,
    i_o_ref_a: 2.7e-10,
    r_s_ohm: 0.0755302,
    r_sh_ref_ohm: 78.6082,
    alpha_sc_a_per_c: 0.0097891,
    adjust_pct: 14.9697,
  },
}
const of = (times_ms: number[], air_c = 20, wind = 1) => ({
  times_ms: Float64Array.from(times_ms),
  air_temperature_c: new Float64Array(times_ms.length).fill(air_c),
  wind_speed_m_s: new Float64Array(times_ms.length).fill(wind),
})
const midsummer_noon_ms = Date.UTC(2024, 5, 21, 10, 20)
const midsummer_midnight_ms = Date.UTC(2024, 5, 21, 22, 20)

/** By pvlib 0.15.2: SPA, ineichen, haydavies, faiman, calcparams_cec, bishop88_mpp; 20 C, 1 m/s. */
const peer_columns = [
  'ghi_w_m2',
  'poa_w_m2',
  'cell_temperature_c',
  'v_mp_v',
  'i_mp_a',
  'p_mp_w',
] as const
const peer_rows = [
  [
    1718965200000, 966.7016691585432, 1010.5439643632487, 51.73818983552917, 31.06658120680283,
    17.454839086034564, 542.2621759179689,
  ],
  [
    1709618400000, 143.4803622362041, 220.51754806463657, 26.925802388964716, 33.139564015553056,
    3.7984564616234273, 125.87919107026072,
  ],
  [
    1734790200000, 40.43140627317143, 117.6047974607686, 23.69361801070253, 32.76388086359371,
    2.023790402803286, 66.30722765033119,
  ],
  [
    1725985800000, 1.2010108281903795, 0.8609593250743329, 20.02704017980761, 25.872649954281066,
    0.014690649111251928, 0.38008602205659137,
  ],
]

test('the chain agrees with a reference implementation', () => {
  const series = clearSkyPower(place, of(peer_rows.map(([time_ms]) => time_ms!)))
  for (const [i, [, ...expected]] of peer_rows.entries()) {
    for (const [at, column] of peer_columns.entries()) {
      // A sun low in the sky turns 1e-7 degrees into as much of the irradiance.
      assertWithinRatio(series[column][i]!, expected[at]!, 1e-7, `${column} ${i}`)
    }
  }
})

test('the chain equals its models one after the other', () => {
  const times_ms = Array.from({ length: 500 }, (_, i) => Date.UTC(2024, 0, 1) + i * 63_360_000.5)
  const series = clearSkyPower(place, of(times_ms, 12, 3))
  let by_day = 0
  for (const [i, time_ms] of times_ms.entries()) {
    const sun = solarPosition(time_ms, place.latitude_deg, place.longitude_deg, {
      elevation_m: 160,
      pressure_pa: 99_000,
      delta_t_s: 67,
    })
    const airmass = relativeAirmass(sun.apparent_zenith_deg)
    const dni_extra_w_m2 = extraterrestrialDni(sun.distance_au)
    const sky = ineichenPerez({
      apparent_zenith_deg: sun.apparent_zenith_deg,
      absolute_airmass: airmass === null ? null : absoluteAirmass(airmass, 99_000),
      linke_turbidity: 3,
      altitude_m: 160,
      dni_extra_w_m2,
    })
    const direction = { zenith_deg: sun.apparent_zenith_deg, azimuth_deg: sun.azimuth_deg }
    const horizontal = { ...sky, dni_extra_w_m2, albedo_ratio: 0.2 }
    const poa_w_m2 = hayDavies(place.surface, direction, horizontal).global_w_m2
    const cell_c = faiman({ poa_w_m2, air_temperature_c: 12, wind_speed_m_s: 3 })
    const point = maximumPowerPoint(cecSingleDiode(place.module, poa_w_m2, cell_c))
    assert.equal(series.ghi_w_m2[i], sky.ghi_w_m2)
    assert.equal(series.poa_w_m2[i], poa_w_m2)
    assert.equal(series.cell_temperature_c[i], cell_c)
    assert.equal(series.v_mp_v[i], point.voltage_v)
    assert.equal(series.i_mp_a[i], point.current_a)
    assert.equal(series.p_mp_w[i], point.power_w)
    if (poa_w_m2 > 0) by_day += 1
  }
  assert.ok(by_day > 200 && by_day < 300, `${by_day} of 500 by day`)
})

test('night gives no power at air temperature', () => {
  const night = clearSkyPower(place, of([midsummer_midnight_ms], -3))
  assert.deepEqual(Object.fromEntries(Object.entries(night).map(([name, [v]]) => [name, v])), {
    ghi_w_m2: 0,
    poa_w_m2: 0,
    cell_temperature_c: -3,
    v_mp_v: 0,
    i_mp_a: 0,
    p_mp_w: 0,
  })
})

test('power is never negative, nor much above the rating, at any place', () => {
  fc.assert(
    fc.property(
      fc.record({
        latitude_deg: uniform(-90, 90),
        longitude_deg: uniform(-180, 180),
        altitude_m: uniform(-400, 5000),
        surface: fc.record({ tilt_deg: uniform(0, 90), azimuth_deg: uniform(0, 360) }),
        linke_turbidity: uniform(1, 10),
        albedo_ratio: uniform(0, 1),
      }),
      uniform(-1e12, 4e12),
      uniform(-60, 60),
      (where, time_ms, air_c) => {
        const series = clearSkyPower({ ...where, module: place.module }, of([time_ms], air_c))
        for (const [value] of Object.values(series)) assert.ok(Number.isFinite(value))
        assert.ok(series.poa_w_m2[0]! >= 0 && series.cell_temperature_c[0]! >= air_c)
        assert.ok(series.p_mp_w[0]! >= 0 && series.p_mp_w[0]! < 3 * 600)
      },
    ),
  )
})

test('an invalid element affects its own instant only, unequal lengths are refused', () => {
  const weather = of([midsummer_noon_ms, midsummer_noon_ms, Number.NaN])
  weather.air_temperature_c[0] = Number.NaN
  const { p_mp_w } = clearSkyPower(place, weather)
  assert.ok(Number.isNaN(p_mp_w[0]) && p_mp_w[1]! > 400 && Number.isNaN(p_mp_w[2]))
  const short = { ...weather, wind_speed_m_s: new Float64Array(2) }
  const out = clearSkyPower(place, of([midsummer_noon_ms, midsummer_noon_ms]))
  assert.equal(clearSkyPower(place, of([midsummer_midnight_ms]), out), out)
  assert.ok(out.p_mp_w[0] === 0 && out.v_mp_v[0] === 0 && out.p_mp_w[1]! > 400)
  assert.throws(() => clearSkyPower(place, weather, out), /out holds 2 of 3/)
  assert.throws(() => clearSkyPower(place, short), /wind_speed_m_s has 2 elements, not 3/)
})
