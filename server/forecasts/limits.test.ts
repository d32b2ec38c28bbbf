import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type KnownLimit, limitedPower } from './limits.ts'

const step = { start_ms: 0, end_ms: 3_600_000 }
const limit = (given: Partial<KnownLimit>): KnownLimit => ({
  logger_id: 1,
  start_ms: 0,
  end_ms: 3_600_000,
  max_power_kw: null,
  available_ratio: 1,
  reported_ms: null,
  ...given,
})

test('a limit lowers what is above it for as long as it holds', () => {
  assert.equal(limitedPower(100, step, []), 100)
  assert.equal(limitedPower(100, step, [limit({ max_power_kw: 40 })]), 40)
  assert.equal(limitedPower(100, step, [limit({ max_power_kw: 140 })]), 100)
  assert.equal(limitedPower(100, step, [limit({ max_power_kw: 40, end_ms: 900_000 })]), 85)
  assert.equal(limitedPower(100, step, [limit({ max_power_kw: 40, start_ms: 3_600_000 })]), 100)
})

test('an outage takes its share, and of limits at once the lowest holds', () => {
  assert.equal(limitedPower(100, step, [limit({ available_ratio: 0.75 })]), 75)
  const both = [limit({ available_ratio: 0.5 }), limit({ max_power_kw: 60, start_ms: 1_800_000 })]
  assert.equal(limitedPower(100, step, both), 50)
  const lower = [limit({ available_ratio: 0.5 }), limit({ max_power_kw: 20, start_ms: 1_800_000 })]
  assert.equal(limitedPower(100, step, lower), 35)
})

test('no limit raises anything, whatever there is', () => {
  const limits = fc.array(
    fc
      .tuple(fc.nat(7_200_000), fc.integer({ min: 1, max: 3_600_000 }), fc.nat(200), fc.nat(100))
      .map(([start_ms, length_ms, max_power_kw, left]) =>
        limit({
          start_ms: start_ms - 1_800_000,
          end_ms: start_ms - 1_800_000 + length_ms,
          max_power_kw,
          available_ratio: left / 100,
        }),
      ),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(fc.nat(150), limits, (power_kw, all) => {
      const left_kw = limitedPower(power_kw, step, all)
      return left_kw >= 0 && left_kw <= power_kw + 1e-9
    }),
  )
})
