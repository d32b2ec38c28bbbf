import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { waterFill } from './core/share.ts'

const watts = fc.integer({ min: 0, max: 500_000_000 })
const parts = fc.array(fc.record({ weight: watts, max_w: watts }), { maxLength: 40 })
const sumOf = (shares: readonly number[]) => shares.reduce((sum, share_w) => sum + share_w, 0)

test('shares are whole, none is above its own most, and all are never above the total', () => {
  fc.assert(
    fc.property(fc.oneof(watts, fc.double({ noNaN: true, max: 1e9 })), parts, (total_w, of) => {
      const shares = waterFill(total_w, of)
      assert.ok(sumOf(shares) <= Math.max(0, total_w))
      shares.forEach((share_w, nth) => {
        assert.ok(Number.isInteger(share_w) && share_w >= 0 && share_w <= of[nth]!.max_w)
      })
    }),
  )
})

test('nothing is left over that a part could take, but for what rounding costs', () => {
  fc.assert(
    fc.property(watts, parts, (total_w, of) => {
      const takers = of.filter(({ weight }) => weight > 0)
      const most_w = sumOf(takers.map(({ max_w }) => max_w))
      assert.ok(sumOf(waterFill(total_w, of)) >= Math.min(total_w, most_w) - of.length)
    }),
  )
})

test('parts that are not full get theirs in proportion to their weights', () => {
  assert.deepEqual(
    waterFill(100, [
      { weight: 1, max_w: 5 },
      { weight: 1, max_w: 1000 },
      { weight: 3, max_w: 1000 },
    ]),
    [5, 23, 71],
  )
})
