import assert from 'node:assert/strict'
import test from 'node:test'
import { wattsCovering, wattsWithin } from './watts.ts'

test('each of the first million whole watts stays the same through kilowatts', () => {
  for (let power_w = 0; power_w <= 1_000_000; power_w += 1) {
    const power_kw = power_w / 1000
    if (wattsWithin(power_kw) === power_w && wattsCovering(power_kw) === power_w) continue
    assert.fail(`${power_w} W become ${wattsWithin(power_kw)} and ${wattsCovering(power_kw)} W`)
  }
})

test('a part of a watt is rounded down for a bound, and up for what a device may deliver', () => {
  assert.deepEqual([wattsWithin(1.0009), wattsCovering(1.0009)], [1000, 1001])
  assert.deepEqual([wattsWithin(1.0001), wattsCovering(1.0001)], [1000, 1001])
})
