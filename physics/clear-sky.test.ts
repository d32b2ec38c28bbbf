import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { absoluteAirmass, relativeAirmass } from './airmass.ts'
import { haurwitz, ineichenPerez } from './clear-sky.ts'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'

testAgainstOracle('clearsky', 'the clear sky', (row) => {
  const sky = ineichenPerez({
    apparent_zenith_deg: row.number('apparent_zenith'),
    absolute_airmass: row.numberOrNull('airmass_abs'),
    linke_turbidity: row.number('linke_turbidity'),
    altitude_m: row.number('alt_m'),
    dni_extra_w_m2: row.number('dni_extra'),
  })
  assertWithin(sky.ghi_w_m2, row.number('ghi'), 1e-6, 'ghi')
  assertWithin(sky.dni_w_m2, row.number('dni'), 1e-6, 'dni')
  assertWithin(sky.dhi_w_m2, row.number('dhi'), 1e-6, 'dhi')
  const ghi = haurwitz(row.number('apparent_zenith'))
  assertWithin(ghi, row.number('ghi_haurwitz'), 1e-6, 'haurwitz')
})

const input = fc.record({
  apparent_zenith_deg: fc.double({ min: 0, max: 180, noNaN: true }),
  linke_turbidity: fc.double({ min: 1, max: 12, noNaN: true }),
  altitude_m: fc.double({ min: -400, max: 5000, noNaN: true }),
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

test('a sun below the horizon gives nothing, even with an air mass', () => {
  const sky = ineichenPerez({
    apparent_zenith_deg: 95,
    absolute_airmass: 30,
    linke_turbidity: 3,
    altitude_m: 100,
    dni_extra_w_m2: 1366.1,
  })
  assert.deepEqual(sky, { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 })
})
