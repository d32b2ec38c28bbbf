import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Decomposition, disc, erbs, erbsDriesse } from './decomposition.ts'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'

const models: ((ghi: number, zenith: number, outside: number) => Decomposition)[] = [
  erbs,
  erbsDriesse,
  (ghi, zenith, outside) => disc(ghi, zenith, outside, 95_000),
]

/** The light outside the air by day of the year, as the reference took it (Spencer, 1971). */
function spencer(day_of_year: number): number {
  const b = (2 * Math.PI * (day_of_year - 1)) / 365
  const first = 1.00011 + 0.034221 * Math.cos(b) + 0.00128 * Math.sin(b)
  return 1366.1 * (first + 0.000719 * Math.cos(2 * b) + 7.7e-5 * Math.sin(2 * b))
}

testAgainstOracle('decomposition', 'the direct and diffuse parts of global irradiance', (row) => {
  const given = [row.number('ghi'), row.number('zenith'), spencer(row.number('doy'))] as const
  const parts = erbs(...given)
  assertWithin(parts.dni_w_m2, row.number('erbs_dni'), 1e-6, 'dni')
  assertWithin(parts.dhi_w_m2, row.number('erbs_dhi'), 1e-6, 'dhi')
  assertWithin(parts.clearness_ratio, row.number('erbs_kt'), 1e-9, 'clearness')
  const smooth = erbsDriesse(...given)
  assertWithin(smooth.dni_w_m2, row.number('erbsdriesse_dni'), 1e-6, 'dni, Erbs-Driesse')
  assertWithin(smooth.dhi_w_m2, row.number('erbsdriesse_dhi'), 1e-6, 'dhi, Erbs-Driesse')
  const by_airmass = disc(...given, row.number('pressure_pa'))
  assertWithin(by_airmass.dni_w_m2, row.number('disc_dni'), 1e-6, 'dni, DISC')
  assertWithin(by_airmass.clearness_ratio, row.number('disc_kt'), 1e-9, 'clearness, DISC')
})

test('the parts are never negative and add up to the global irradiance', () => {
  const ghi = fc.oneof(uniform(-5, 2000), fc.constantFrom(0, 1e-17))
  const zenith = fc.oneof(uniform(0, 180), fc.constantFrom(0, 87, 90))
  const outside = fc.constantFrom(0, 1320, 1366.1, 1415)
  fc.assert(
    fc.property(ghi, zenith, outside, (ghi_w_m2, zenith_deg, dni_extra_w_m2) => {
      for (const model of models) {
        const parts = model(ghi_w_m2, zenith_deg, dni_extra_w_m2)
        const { dni_w_m2, dhi_w_m2, clearness_ratio } = parts
        assert.ok(dni_w_m2 >= 0 && dhi_w_m2 >= 0)
        assert.ok(clearness_ratio >= 0 && clearness_ratio <= 1)
        const cos_zenith = Math.max(0, Math.cos((zenith_deg * Math.PI) / 180))
        assertWithin(dni_w_m2 * cos_zenith + dhi_w_m2, Math.max(0, ghi_w_m2), 1e-9, 'sum')
      }
    }),
  )
})

test('no irradiance, however large, gives NaN', () => {
  const ghi = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(ghi, uniform(0, 180), (ghi_w_m2, zenith_deg) => {
      for (const model of models) {
        for (const part of Object.values(model(ghi_w_m2, zenith_deg, 1366.1))) {
          assert.ok(part >= 0)
        }
      }
    }),
  )
})

test('near the horizon all irradiance is diffuse, and DISC uses air masses up to 12', () => {
  for (const model of models) {
    const { dni_w_m2, dhi_w_m2 } = model(60, 87.1, 1366.1)
    assert.deepEqual([dni_w_m2, dhi_w_m2], [0, 60])
  }
  const { dni_w_m2 } = disc(60, 86.5, 1366.1, 101_325)
  assert.ok(dni_w_m2 > 0)
  assert.equal(disc(60, 86.5, 1366.1, 108_000).dni_w_m2, dni_w_m2)
})

test('the smooth form stays within 0.0005 of the diffuse share and has no steps', () => {
  let before = 1
  for (let ghi_w_m2 = 1; ghi_w_m2 <= 1350; ghi_w_m2 += 1) {
    const share = erbsDriesse(ghi_w_m2, 0, 1366.1).dhi_w_m2 / ghi_w_m2
    assertWithin(share, erbs(ghi_w_m2, 0, 1366.1).dhi_w_m2 / ghi_w_m2, 5e-4, 'share')
    assertWithin(share, before, 2e-3, 'step')
    before = share
  }
})

test('the clearer the sky, the smaller the diffuse share', () => {
  let before = 1
  for (let ghi_w_m2 = 50; ghi_w_m2 <= 1050; ghi_w_m2 += 50) {
    const share = erbs(ghi_w_m2, 30, 1366.1).dhi_w_m2 / ghi_w_m2
    assert.ok(share < before + 1e-3)
    before = share
  }
})

test('a zenith angle below 0 counts as its absolute value, a pressure or light below 0 as 0', () => {
  for (const model of models) {
    for (const zenith_deg of [30, 86, 88, 120]) {
      assert.deepEqual(model(400, -zenith_deg, 1366.1), model(400, zenith_deg, 1366.1))
    }
    assert.deepEqual(model(400, 30, -3), model(400, 30, 0))
  }
  assert.deepEqual(disc(400, 30, 1366.1, -5), disc(400, 30, 1366.1, 0))
})
