import assert from 'node:assert/strict'
import test from 'node:test'
import { wattsCovering, wattsOfPercent, wattsTowardsZero, wattsWithin } from './watts.ts'

test('each of the first million whole watts stays the same through kilowatts', () => {
  for (let power_w = 0; power_w <= 1_000_000; power_w += 1) {
    const power_kw = power_w / 1000
    assert.equal(wattsWithin(power_kw), power_w)
    assert.equal(wattsCovering(power_kw), power_w)
    assert.equal(wattsTowardsZero(power_kw), power_w)
    assert.equal(wattsTowardsZero(-power_kw), 0 - power_w)
  }
})

test('a part of a watt is rounded down for a bound, and up for what a device may deliver', () => {
  assert.deepEqual([wattsWithin(1.0009), wattsCovering(1.0009)], [1000, 1001])
  assert.deepEqual([wattsWithin(1.0001), wattsCovering(1.0001)], [1000, 1001])
})

test('a setpoint loses its part of a watt towards zero', () => {
  assert.deepEqual([1.0009, -1.0009, -0.0001].map(wattsTowardsZero), [1000, -1000, 0])
})

test('a percentage of a rating is exact to the watt, rounded down', () => {
  assert.equal(wattsOfPercent(100_100, 29), 29_029)
  assert.equal(wattsOfPercent(0, 50), 0)
  for (let rated_w = 1; rated_w <= 1_000_000; rated_w += 997) {
    for (let tenths = 1; tenths < 1000; tenths += 1) {
      const exact_w = Number((BigInt(rated_w) * BigInt(tenths)) / 1000n)
      if (wattsOfPercent(rated_w, tenths / 10) === exact_w) continue
      assert.fail(`${tenths / 10} % of ${rated_w} W: ${wattsOfPercent(rated_w, tenths / 10)} W`)
    }
  }
})
