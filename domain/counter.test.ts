import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { counterIncrease, counterStep } from './counter.ts'

const hour = { elapsed_s: 3600, rated_kw: 100 }
const near = (value: number | null, expected: number) =>
  assert.ok(value !== null && Math.abs(value - expected) < 1e-6, `${value} is not ${expected}`)

test('a counter that rose gives the difference', () => {
  near(counterIncrease(1000, 1080, hour), 80)
  assert.equal(counterIncrease(1000, 1000, hour), 0)
  near(counterIncrease(0, 0.25, hour), 0.25)
})

test('a rise beyond the rated power is unknown', () => {
  assert.equal(counterIncrease(1000, 1200, hour), null)
  assert.equal(counterIncrease(0, 3_000_000, hour), null)
  near(counterIncrease(1000, 1110, hour), 110)
})

test('a counter may move in steps of a kilowatt-hour', () => {
  assert.equal(counterIncrease(41, 42, { elapsed_s: 5, rated_kw: 5 }), 1)
})

test('a coarse counter moves by one of its steps at once', () => {
  const poll = { elapsed_s: 5, rated_kw: 100 }
  assert.equal(counterIncrease(51_240, 51_250, poll), 10)
  assert.equal(counterIncrease(51_200, 51_300, poll), 100)
  assert.equal(counterIncrease(51_240, 51_260, poll), null)
  assert.equal(counterIncrease(51_241, 51_251, poll), null)
  // A value of 0 shows no step.
  assert.equal(counterIncrease(0, 100, poll), null)
})

test('a value shows the largest step that a counter can have', () => {
  const steps = [51_234.567, 51_234.5, 51_234, 51_230, 51_200, 51_000, 50_000].map(counterStep)
  for (const [nth, step] of [0.0061, 0.1, 1, 10, 100, 1000, 1000].entries()) {
    assert.ok(Math.abs(steps[nth]! - step) < 1e-4, `${steps[nth]} is not ${step}`)
  }
  assert.equal(counterStep(0), 1)
})

test('registers of 32 and of 31 bits overflow at every usual scale', () => {
  for (const exponent of [-3, -2, -1, 0, 1, 2, 3]) {
    for (const bits of [31, 32]) {
      const overflow_kwh = (2 ** bits * 10 ** exponent) / 1000
      near(counterIncrease(overflow_kwh - 30, 20, hour), 50)
    }
  }
})

test('a reset gives no energy, never a negative one', () => {
  assert.equal(counterIncrease(123_456, 0, hour), null)
  assert.equal(counterIncrease(123_456, 123_455.9, hour), null)
  assert.equal(counterIncrease(50, 20, hour), null)
})

test('a fall explained by two overflows is unknown', () => {
  const park = { elapsed_s: 86_400, rated_kw: 5000 }
  assert.equal(counterIncrease(2000, 10, park), null)
})

test('values that are not numbers are unknown', () => {
  assert.equal(counterIncrease(Number.NaN, 1, hour), null)
  assert.equal(counterIncrease(1, Number.NaN, hour), null)
  assert.equal(counterIncrease(1, Number.POSITIVE_INFINITY, hour), null)
  assert.equal(counterIncrease(-1, 1, hour), null)
  assert.equal(counterIncrease(1, 2, { elapsed_s: -1, rated_kw: 1000 }), null)
})

test('the increase is null or within 0 and the rated energy', () => {
  const kwh = fc.double({ min: 0, max: 5e9, noNaN: true })
  fc.assert(
    fc.property(kwh, kwh, fc.nat(200_000), fc.nat(5000), (before, after, elapsed_s, rated_kw) => {
      const rise_kwh = counterIncrease(before, after, { elapsed_s, rated_kw })
      return (
        rise_kwh === null ||
        rise_kwh === 0 ||
        (rise_kwh > 0 &&
          (rise_kwh <= (rated_kw * 1.1 * elapsed_s) / 3600 + 1.001 ||
            rise_kwh <= counterStep(before)))
      )
    }),
  )
})
