import assert from 'node:assert/strict'
import test from 'node:test'
import { endsOf } from './columns.ts'

const shareBelow = ({ min, max }: { min: number; max: number }) => -min / (max - min)

test('two axes have their 0 at the same height, and hold all values', () => {
  const [first, second] = endsOf([
    { name: 'Net', values: [-20, 80, null] },
    { name: 'Price', is_second: true, values: [60, 120] },
  ])
  assert.ok(Math.abs(shareBelow(first!) - shareBelow(second!)) < 0.01)
  assert.ok(first!.min <= -20 && first!.max >= 80)
  assert.ok(second!.min <= 0 && second!.max >= 120)
})

test('values that are all negative, or all 0, have axes, too', () => {
  for (const values of [[-3, -1], [0], []]) {
    for (const { min, max } of endsOf([{ name: 'Net', values }])) assert.ok(min < max || max > 0)
  }
})
