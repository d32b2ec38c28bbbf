import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { copyText, makeRoom, writeByte, writeNumber, written } from './copy-text.ts'

const decimal = fc
  .tuple(fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }), fc.integer({ min: 0, max: 5 }))
  .map(([digits, decimals]) => digits / 10 ** decimals)
const finite = fc.double({ noNaN: true, noDefaultInfinity: true })

test('a number reads back as the same double, however large the text grows', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(decimal, finite, fc.integer()), { minLength: 1 }), (values) => {
      const text = copyText(0)
      for (const value of values) {
        makeRoom(text)
        writeNumber(text, value)
        writeByte(text, 0x0a)
      }
      const lines = written(text).toString('latin1').trimEnd().split('\n')
      assert.deepEqual(
        lines.map(Number),
        // There is no negative zero in the text.
        values.map((value) => value + 0),
      )
    }),
    { numRuns: 500 },
  )
})

test('a figure of few decimals is written shortly, and zero without a sign', () => {
  const shown = (value: number) => {
    const text = copyText(0)
    writeNumber(text, value)
    return written(text).toString('latin1')
  }
  for (const value of [0, 1, -1, 0.1, -0.05, 49.98, 999_999.999, 1e6, 123.4567, 1e21, 5e-324]) {
    assert.equal(shown(value), String(value))
  }
  assert.equal(shown(-0), '0')
})
