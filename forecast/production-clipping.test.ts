import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { addClipping, fitClipping } from './production-clipping.ts'
import { quantile_levels, threeQuantiles } from './production-forecast.ts'

const evenly = (from: number, to: number) =>
  quantile_levels.map((level) => Float64Array.of(from + (to - from) * level))
const light = { potential_ratio: Float64Array.of(1.05), ac_ratio: Float64Array.of(1) }

test('shares follow the counts and never fall with irradiance', () => {
  const potential = Float64Array.from({ length: 400 }, (_, i) => (i % 4) * 0.1 + 0.65)
  const clipped = Array.from(potential, (ratio, i) => ratio > 0.9 || (ratio > 0.7 && i % 8 < 4))
  const { shares } = fitClipping(potential, clipped)
  assert.deepEqual(shares.slice(5, 12), [0, 0, 0.5, 0.5, 1, 1, 1])
})

test('bins with falling shares are pooled', () => {
  const potential = Float64Array.of(0.55, 0.55, 0.65, 0.65)
  assert.equal(fitClipping(potential, [true, false, false, false]).shares[6], 0.25)
})

test('a share of 1 replaces the other steps, a share of 0 leaves them', () => {
  const full = evenly(0.6, 0.9)
  addClipping(full, fitClipping(light.potential_ratio, [true]), light)
  assert.ok(full.every((column) => column[0] === 1))
  const free = evenly(0.6, 0.9)
  addClipping(free, fitClipping(light.potential_ratio, [false]), light)
  assert.deepEqual(free, evenly(0.6, 0.9))
})

test('clipping half of the time gives the rating from the median on', () => {
  const mixed = evenly(0.6, 0.9)
  addClipping(mixed, { shares: Array.from({ length: 20 }, () => 0.5) }, light)
  const { p10, p50, p90 } = threeQuantiles(mixed)
  // A tenth of all is a fifth of those that are not full.
  assert.ok(Math.abs(p10[0]! - 0.66) < 0.02)
  assert.ok(p50[0]! > 0.88 && p90[0] === 1)
})

test('quantiles stay in order and within the rating at any share', () => {
  const ratio = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(ratio, ratio, ratio, ratio, (from, to, share, ac) => {
      const quantiles = evenly(Math.min(from, to), Math.max(from, to))
      const physics = { potential_ratio: Float64Array.of(ac), ac_ratio: Float64Array.of(ac) }
      addClipping(quantiles, { shares: Array.from({ length: 20 }, () => share) }, physics)
      return quantiles.every(
        (column, level) => column[0]! >= (quantiles[level - 1]?.[0] ?? 0) && column[0]! <= 1,
      )
    }),
  )
})
