import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { erbs } from './decomposition.ts'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'

/** The light outside the air by day of the year, as the reference took it (Spencer, 1971). */
function spencer(day_of_year: number): number {
  const b = (2 * Math.PI * (day_of_year - 1)) / 365
  const first = 1.00011 + 0.034221 * Math.cos(b) + 0.00128 * Math.sin(b)
  return 1366.1 * (first + 0.000719 * Math.cos(2 * b) + 7.7e-5 * Math.sin(2 * b))
}

testAgainstOracle('decomposition', 'the direct and diffuse parts of global irradiance', (row) => {
  const parts = erbs(row.number('ghi'), row.number('zenith'), spencer(row.number('doy')))
  assertWithin(parts.dni_w_m2, row.number('erbs_dni'), 1e-6, 'dni')
  assertWithin(parts.dhi_w_m2, row.number('erbs_dhi'), 1e-6, 'dhi')
  assertWithin(parts.clearness_ratio, row.number('erbs_kt'), 1e-9, 'clearness')
})

test('the parts are never negative and add up to the global irradiance', () => {
  const ghi = fc.oneof(fc.double({ min: -5, max: 2000, noNaN: true }), fc.constantFrom(0, 1e-17))
  fc.assert(
    fc.property(ghi, fc.double({ min: 0, max: 180, noNaN: true }), (ghi_w_m2, zenith_deg) => {
      const { dni_w_m2, dhi_w_m2, clearness_ratio } = erbs(ghi_w_m2, zenith_deg, 1366.1)
      assert.ok(dni_w_m2 >= 0 && dhi_w_m2 >= 0)
      assert.ok(clearness_ratio >= 0 && clearness_ratio <= 1)
      const cos_zenith = Math.max(0, Math.cos((zenith_deg * Math.PI) / 180))
      assertWithin(dni_w_m2 * cos_zenith + dhi_w_m2, Math.max(0, ghi_w_m2), 1e-9, 'sum')
    }),
  )
})

test('the clearer the sky, the smaller the diffuse share', () => {
  let before = 1
  for (let ghi_w_m2 = 50; ghi_w_m2 <= 1050; ghi_w_m2 += 50) {
    const share = erbs(ghi_w_m2, 30, 1366.1).dhi_w_m2 / ghi_w_m2
    assert.ok(share < before + 1e-3)
    before = share
  }
})
