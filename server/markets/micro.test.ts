import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { decimalOf, microOf, microOfNumber } from './micro.ts'

test('decimal prices are read exactly, and only those', () => {
  assert.equal(microOf('-0.01'), -10_000)
  assert.equal(microOf('55.35'), 55_350_000)
  assert.equal(microOf('+4000'), 4_000_000_000)
  assert.equal(microOf('0.0000005'), 1)
  assert.equal(microOf('-0.00000049'), 0)
  assert.ok(Object.is(microOf('-0'), 0))
  for (const text of ['', '-', '1e3', 'NaN', '1,5', '0x10', '.5', '12 3', '1000000000', '1.2.3']) {
    assert.equal(microOf(text), null, text)
  }
})

test('numbers of JSON become the same millionths as their text', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50_000, max: 400_000 }), (cents) => {
      assert.equal(microOfNumber(cents / 100), microOf((cents / 100).toFixed(2)))
    }),
  )
  assert.equal(microOfNumber(Number.POSITIVE_INFINITY), null)
})

test('what is written is what was read', () => {
  assert.equal(decimalOf(-10_000), '-0.010000')
  fc.assert(
    fc.property(fc.integer({ min: -1e14, max: 1e14 }), (micro) => {
      assert.equal(microOf(decimalOf(micro)), micro || 0)
    }),
  )
})
