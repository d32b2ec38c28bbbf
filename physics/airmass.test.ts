import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absoluteAirmass, relativeAirmass, relativeAirmass1966 } from './airmass.ts'
import { assertWithinRatio, testAgainstOracle } from './fixtures/oracle.ts'

testAgainstOracle('atmosphere', 'relative air mass', (row) => {
  const airmass = relativeAirmass(row.number('zenith'))
  assertWithinRatio(airmass!, row.number('am_ky89'), 1e-9, 'air mass')
})

testAgainstOracle('clearsky', 'air mass at real positions of the sun', (row) => {
  const airmass = relativeAirmass(row.number('apparent_zenith'))
  const expected = row.numberOrNull('airmass_rel_ky89')
  if (expected === null) return assert.equal(airmass, null)
  assertWithinRatio(airmass!, expected, 1e-9, 'relative')
  const absolute = absoluteAirmass(airmass!, row.number('pressure_pa'))
  assertWithinRatio(absolute, row.number('airmass_abs'), 1e-9, 'absolute')
})

testAgainstOracle('decomposition', 'the older air mass', (row) => {
  const relative = relativeAirmass1966(row.number('zenith'))
  const expected = row.numberOrNull('disc_airmass')
  if (expected === null) return assert.equal(relative, null)
  // The reference shows it as DISC uses it, held to 12.
  const absolute = Math.min(12, absoluteAirmass(relative!, row.number('pressure_pa')))
  assertWithinRatio(absolute, expected, 1e-9, 'absolute')
})

test('air mass grows to the horizon and ends there', () => {
  let before = 0
  for (let zenith_deg = 0; zenith_deg <= 90; zenith_deg += 0.5) {
    const airmass = relativeAirmass(zenith_deg)
    assert.ok(airmass !== null && airmass > before)
    before = airmass
  }
  assert.ok(before > 37 && before < 39)
  assert.equal(relativeAirmass(90.001), null)
  assert.equal(relativeAirmass1966(90.001), null)
  for (let zenith_deg = 0; zenith_deg <= 80; zenith_deg += 5) {
    assertWithinRatio(relativeAirmass1966(zenith_deg)!, relativeAirmass(zenith_deg)!, 0.01, 'both')
  }
})
