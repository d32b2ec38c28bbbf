import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { absoluteAirmass, relativeAirmass } from './airmass.ts'
import { haurwitz, ineichenPerez, simplifiedSolis } from './clear-sky.ts'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'

testAgainstOracle('clearsky', 'the clear sky', (row) => {
  const apparent_zenith_deg = row.number('apparent_zenith')
  const dni_extra_w_m2 = row.number('dni_extra')
  const input = {
    apparent_zenith_deg,
    absolute_airmass: row.numberOrNull('airmass_abs'),
    linke_turbidity: row.number('linke_turbidity'),
    altitude_m: row.number('alt_m'),
    dni_extra_w_m2,
  }
  const sky = ineichenPerez(input)
  assertWithin(sky.ghi_w_m2, row.number('ghi'), 1e-6, 'ghi')
  assertWithin(sky.dni_w_m2, row.number('dni'), 1e-6, 'dni')
  assertWithin(sky.dhi_w_m2, row.number('dhi'), 1e-6, 'dhi')
  const ghi = haurwitz(apparent_zenith_deg)
  assertWithin(ghi, row.number('ghi_haurwitz'), 1e-6, 'haurwitz')
  const solis = simplifiedSolis({
    apparent_zenith_deg,
    aerosol_depth_700nm: 0.1,
    precipitable_water_cm: 1.5,
    pressure_pa: row.number('pressure_pa'),
    dni_extra_w_m2,
  })
  assertWithin(solis.ghi_w_m2, row.number('ghi_solis'), 1e-6, 'ghi, solis')
  assertWithin(solis.dni_w_m2, row.number('dni_solis'), 1e-6, 'dni, solis')
  assertWithin(solis.dhi_w_m2, row.number('dhi_solis'), 1e-6, 'dhi, solis')
})

const input = fc.record({
  apparent_zenith_deg: uniform(0, 180),
  linke_turbidity: uniform(1, 12),
  altitude_m: uniform(-400, 5000),
})
const skyOf = (given: {
  apparent_zenith_deg: number
  linke_turbidity: number
  altitude_m: number
}) => {
  const airmass = relativeAirmass(given.apparent_zenith_deg)
  const absolute_airmass = airmass === null ? null : absoluteAirmass(airmass, 95_000)
  return ineichenPerez({ ...given, absolute_airmass, dni_extra_w_m2: 1366.1 })
}

test('a clear sky is never negative, adds up, and is below the light outside the air', () => {
  fc.assert(
    fc.property(input, (given) => {
      const { ghi_w_m2, dni_w_m2, dhi_w_m2 } = skyOf(given)
      const cos_zenith = Math.max(0, Math.cos((given.apparent_zenith_deg * Math.PI) / 180))
      assert.ok(ghi_w_m2 >= 0 && dni_w_m2 >= 0 && dhi_w_m2 >= 0)
      assert.ok(ghi_w_m2 <= 1366.1 * cos_zenith * 1.13 && dni_w_m2 <= 1366.1)
      assertWithin(dni_w_m2 * cos_zenith + dhi_w_m2, ghi_w_m2, 1e-9, 'sum of the parts')
      assert.ok(haurwitz(given.apparent_zenith_deg) >= 0)
    }),
  )
})

test('a hazier sky has less direct light', () => {
  fc.assert(
    fc.property(input, (given) => {
      const hazier = { ...given, linke_turbidity: given.linke_turbidity + 1 }
      assert.ok(skyOf(hazier).dni_w_m2 <= skyOf(given).dni_w_m2 + 1e-9)
    }),
  )
})

test('whatever the inputs, a clear sky is finite and never negative', () => {
  const anything = fc.double({ noNaN: true, noDefaultInfinity: true })
  const zenith = uniform(-180, 180)
  const outside = uniform(0, 1500)
  fc.assert(
    fc.property(zenith, anything, anything, anything, outside, (a, b, c, d, dni_extra_w_m2) => {
      const skies = [
        ineichenPerez({
          apparent_zenith_deg: a,
          absolute_airmass: b,
          linke_turbidity: c,
          altitude_m: d,
          dni_extra_w_m2,
        }),
        simplifiedSolis({
          apparent_zenith_deg: a,
          aerosol_depth_700nm: b,
          precipitable_water_cm: c,
          pressure_pa: d,
          dni_extra_w_m2,
        }),
      ]
      for (const sky of skies) {
        for (const part of Object.values(sky)) assert.ok(Number.isFinite(part) && part >= 0)
      }
    }),
  )
})

test('solis: cleaner, drier air lets more direct light through, and both models agree', () => {
  const usual = {
    apparent_zenith_deg: 40,
    aerosol_depth_700nm: 0.1,
    precipitable_water_cm: 1.5,
    pressure_pa: 101_325,
    dni_extra_w_m2: 1366.1,
  }
  const sky = simplifiedSolis(usual)
  assert.ok(simplifiedSolis({ ...usual, aerosol_depth_700nm: 0.03 }).dni_w_m2 > sky.dni_w_m2)
  assert.ok(simplifiedSolis({ ...usual, precipitable_water_cm: 0.5 }).dni_w_m2 > sky.dni_w_m2)
  const parts = sky.dni_w_m2 * Math.cos((40 * Math.PI) / 180) + sky.dhi_w_m2
  assertWithin(parts, sky.ghi_w_m2, 15, 'sum of the parts')
  const other = skyOf({ apparent_zenith_deg: 40, linke_turbidity: 3, altitude_m: 0 })
  assertWithin(sky.ghi_w_m2, other.ghi_w_m2, 40, 'ghi')
})

test('a sun below the horizon gives nothing, even with an air mass', () => {
  const sky = ineichenPerez({
    apparent_zenith_deg: 95,
    absolute_airmass: 30,
    linke_turbidity: 3,
    altitude_m: 100,
    dni_extra_w_m2: 1366.1,
  })
  assert.deepEqual(sky, { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 })
  const solis = simplifiedSolis({
    apparent_zenith_deg: 90.5,
    aerosol_depth_700nm: 0.1,
    precipitable_water_cm: 1.5,
    pressure_pa: 101_325,
    dni_extra_w_m2: 1366.1,
  })
  assert.deepEqual(solis, { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 })
})
