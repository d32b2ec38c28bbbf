import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  blendQuantiles,
  clampQuantiles,
  countBelow,
  interpolateQuantiles,
  percentile_levels,
  quantileInPlace,
  rearrangeQuantiles,
} from './quantiles.ts'

const column = (...values: number[]) => Float64Array.from(values)

test('the percentiles are the 99 of two decimals', () => {
  assert.equal(percentile_levels.length, 99)
  assert.deepEqual(percentile_levels.slice(27, 30), [0.28, 0.29, 0.3])
})

test('a quantile is interpolated between its neighbours', () => {
  assert.equal(quantileInPlace(column(40, 10, 30, 20), 0.5), 25)
  assert.equal(quantileInPlace(column(40, 10, 30, 20), 0.1), 13)
  assert.equal(quantileInPlace(column(40, 10, 30, 20), 1), 40)
  assert.equal(quantileInPlace(column(9, 2, 1, 9), 0, 1, 3), 1)
  assert.ok(Number.isNaN(quantileInPlace(column(), 0.5)))
})

test('a quantile equals that of sorting, for any values and level', () => {
  const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, level) => {
      const sorted = list.toSorted((a, b) => a - b)
      const position = (list.length - 1) * level
      const low = sorted[Math.floor(position)]!
      const high = sorted[Math.ceil(position)]!
      const expected = low + (high - low) * (position - Math.floor(position))
      assert.equal(quantileInPlace(Float64Array.from(list), level), expected)
    }),
  )
})

test('countBelow counts the numbers below a bound', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -9, max: 9 })),
      fc.integer({ min: -10, max: 10 }),
      (list, bound) => {
        const expected = list.filter((value) => value < bound).length
        assert.equal(countBelow(Float64Array.from(list).sort(), bound), expected)
      },
    ),
  )
  assert.equal(countBelow(column(1, 2, 3), Infinity), 3)
})

test('crossing quantiles are sorted, row by row', () => {
  const quantiles = [column(1, 9), column(3, 8), column(2, 7)]
  rearrangeQuantiles(quantiles)
  assert.deepEqual(quantiles, [column(1, 7), column(2, 8), column(3, 9)])
})

test('quantiles are clamped to a range', () => {
  const quantiles = [column(-0.2, 0.3), column(0.5, 1.2)]
  clampQuantiles(quantiles, 0, 1)
  assert.deepEqual(quantiles, [column(0, 0.3), column(0.5, 1)])
})

test('levels between and beyond the given ones are interpolated', () => {
  const known = [column(10, 0), column(20, 8)]
  assert.deepEqual(interpolateQuantiles(known, [0.25, 0.75], [0.1, 0.25, 0.375, 0.75, 0.9]), [
    column(10, 0),
    column(10, 0),
    column(12.5, 2),
    column(20, 8),
    column(20, 8),
  ])
  assert.throws(() => interpolateQuantiles(known, [0.5], [0.5]), /2 columns for 1 levels/)
})

test('quantile functions are averaged level by level, with weights', () => {
  const [one, two] = [
    [column(1), column(5)],
    [column(3), column(9)],
  ]
  assert.deepEqual(blendQuantiles([one, two]), [column(2), column(7)])
  assert.deepEqual(blendQuantiles([one, two], [0.75, 0.25]), [column(1.5), column(6)])
  assert.throws(() => blendQuantiles([one, [column(1)]]), /1 levels, not 2/)
})
