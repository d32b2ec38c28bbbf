import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  converted,
  divided,
  elapsedShare,
  exactRate,
  majorUnits,
  microOf,
  percentOf,
  productOver,
  worth,
} from './money.ts'

test('decimals are exact, and what is none is refused', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (amount) => {
      const digits = String(Math.abs(amount)).padStart(7, '0')
      const text = `${amount < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
      assert.equal(microOf(text), amount)
      assert.equal(majorUnits(amount), Number(text))
    }),
  )
  assert.equal(microOf('-0.015'), -15_000)
  assert.equal(microOf('2.150000000'), 2_150_000)
  for (const text of ['', '1e3', '0.1234567', '.5', '1,5', 'NaN', '--1', '9007199254.740992']) {
    assert.equal(microOf(text), null, text)
  }
})

test('what is rounded is rounded half away from zero', () => {
  assert.deepEqual(
    [5, 15, 14, -5, -15, -14, 0].map((value) => productOver(value, 1, 10)),
    [1, 2, 1, -1, -2, -1, 0],
  )
  // 1 Wh at 0.50 EUR/MWh is half a micro; 3 Wh is one and a half.
  assert.deepEqual([worth(1, 500_000), worth(3, -500_000)], [1, -2])
  assert.equal(percentOf(-150, 1_000_000), -2)
  assert.equal(converted(1_000_000, exactRate(1.95583)), 1_955_830)
})

test('products are exact at every size', () => {
  const divisors = fc.constantFrom(1_000_000, 100_000_000, 44_580, 1_000_000_000)
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.integer(), divisors, (a, b, divisor) => {
      const exact = divided(BigInt(a) * BigInt(b), BigInt(divisor))
      if (exact > -(2n ** 53n) && exact < 2n ** 53n) {
        assert.equal(BigInt(productOver(a, b, divisor)), exact)
      } else assert.throws(() => productOver(a, b, divisor), RangeError)
    }),
  )
  // The quotient of these as doubles is the whole number above.
  assert.equal(productOver(9_007_199_254_499_999, 1, 1_000_000), 9_007_199_254)
})

test('sums in JSON are the doubles nearest to them', () => {
  assert.equal(majorUnits(123_456_789_012_345_678n), Number('123456789012.345678'))
  assert.equal(majorUnits(-123_456_789_012_345_678n), Number('-123456789012.345678'))
})

test('the parts of a month add up to the whole fee, however it is cut', () => {
  const length = 31 * 24 * 60 - 60
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: length - 1 }), { maxLength: 50 })
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), cuts, (fee, inner) => {
      const bounds = [0, ...inner.sort((a, b) => a - b), length]
      const parts = bounds
        .slice(1)
        .map((to, nth) => elapsedShare(fee, to, length) - elapsedShare(fee, bounds[nth]!, length))
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0),
        fee,
      )
    }),
  )
})
