import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pressureAtAltitude } from './atmosphere.ts'
import { assertWithin, assertWithinRatio, testAgainstOracle } from './fixtures/oracle.ts'

testAgainstOracle('atmosphere', 'the standard atmosphere', (row) => {
  const pressure_pa = row.number('pressure_pa')
  assertWithinRatio(pressureAtAltitude(row.number('alt_m')), pressure_pa, 1e-9, 'pressure')
})

test('pressure falls with altitude and stays a number beyond the atmosphere', () => {
  assertWithin(pressureAtAltitude(0), 101_325, 1, 'sea level')
  let before = Number.POSITIVE_INFINITY
  for (let altitude_m = -4000; altitude_m <= 40_000; altitude_m += 500) {
    const pressure_pa = pressureAtAltitude(altitude_m)
    assert.ok(pressure_pa < before && pressure_pa > 0)
    before = pressure_pa
  }
  assert.ok(pressureAtAltitude(1e9) >= 0)
  assert.ok(Number.isFinite(pressureAtAltitude(-1e9)))
})
