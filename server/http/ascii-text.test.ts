import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ascii, asciiText } from './ascii-text.ts'

const thousandths = fc
  .oneof(fc.integer(), fc.integer({ min: -3000, max: 3000 }), fc.maxSafeInteger())
  .map((value) => value / 1000)
const number = fc.oneof(
  thousandths,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 0.1, 2147483.647, 2147483.648, -2147483.648, 1e21, 5e-324, null),
)

test('numbers and words are written as JSON.stringify writes them', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(number, fc.stringMatching(/^[a-z_]{1,40}$/))), (values) => {
      const text = asciiText()
      for (const [nth, value] of values.entries()) {
        text.add(ascii(nth === 0 ? '[' : ','))
        if (typeof value === 'string' && value.length > 9) text.addText(`"${value}"`)
        else if (typeof value === 'string') text.add(ascii(`"${value}"`))
        else text.addNumber(value)
      }
      text.add(ascii(values.length === 0 ? '[]' : ']'))
      assert.equal(String(text.take()), JSON.stringify(values))
    }),
    { numRuns: 500 },
  )
})

test('a text stays as it is while others are written', () => {
  const first = asciiText()
  const second = asciiText()
  first.add(ascii('first'))
  second.add(ascii('second'))
  const taken = first.take()
  const third = asciiText()
  third.add(ascii('third'))
  assert.deepEqual([taken, second.take(), third.take()].map(String), ['first', 'second', 'third'])
})
