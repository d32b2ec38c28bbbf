import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { coverAtTransmission, coverTransmission } from './cloud-cover.ts'

test('transmission at each eighth of cloud cover, by the formula of the paper', () => {
  const passing = [0, 2, 4, 6, 7, 8].map((eighths) => coverTransmission(eighths / 8).toFixed(3))
  assert.deepEqual(passing, ['1.000', '0.993', '0.929', '0.718', '0.524', '0.250'])
})

test('cloud cover follows from transmission', () => {
  const ratio = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(ratio, (cover_ratio) => {
      const back = coverAtTransmission(coverTransmission(cover_ratio))
      assert.ok(Math.abs(coverTransmission(back) - coverTransmission(cover_ratio)) < 1e-12)
    }),
  )
  assert.deepEqual([0, 0.25, 1, 1.3].map(coverAtTransmission), [1, 1, 0, 0])
  assert.deepEqual([-1, 2].map(coverTransmission), [1, 0.25])
})
