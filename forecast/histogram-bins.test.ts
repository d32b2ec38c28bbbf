import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { featureTable } from './feature-table.ts'
import { binTable, fitBins } from './histogram-bins.ts'

function binsOf(values: readonly number[], asked = values, bins_max?: number): number[] {
  const bins = fitBins(featureTable({ x: Float64Array.from(values) }), bins_max)
  return [...binTable(bins, featureTable({ x: Float64Array.from(asked) })).columns[0]!]
}

test('few values have a bin each, and a missing one bin 0', () => {
  assert.deepEqual(binsOf([5, Number.NaN, -1, 5, 7]), [2, 0, 1, 2, 3])
})

test('values between and beyond those of the fit go to the nearest bin', () => {
  assert.deepEqual(binsOf([0, 10, 20], [-Infinity, 4, 6, 14, 99, Infinity]), [1, 1, 2, 2, 3, 3])
})

test('many values share bins of about equal counts', () => {
  const values = Array.from({ length: 10_000 }, (_, i) => Math.exp(((i * 7919) % 10_000) / 1000))
  const counts = new Map<number, number>()
  for (const bin of binsOf(values)) counts.set(bin, (counts.get(bin) ?? 0) + 1)
  assert.equal(counts.size, 255)
  for (const count of counts.values()) assert.ok(count >= 39 && count <= 40, `${count} rows`)
})

test('a frequent value does not hide the others', () => {
  const values = [...Array(1000).fill(0), ...Array.from({ length: 1000 }, (_, i) => i + 1)]
  assert.deepEqual(binsOf(values, [-5, 0, 1000], 4), [1, 1, 3])
  assert.equal(new Set(binsOf(values, undefined, 4)).size, 3)
})

test('bins keep the order of values, and equal values together', () => {
  const number = fc.double({ noNaN: true })
  fc.assert(
    fc.property(fc.array(number, { minLength: 1 }), fc.integer({ min: 1, max: 9 }), (xs, max) => {
      const sorted = xs.toSorted((a, b) => a - b)
      const bins = binsOf(sorted, sorted, max)
      for (let i = 1; i < bins.length; i++) {
        assert.ok(bins[i]! >= bins[i - 1]!)
        if (sorted[i] === sorted[i - 1]) assert.equal(bins[i], bins[i - 1])
      }
      assert.ok(bins.every((bin) => bin >= 1 && bin <= max))
      const distinct = new Set(sorted.map((x) => x + 0))
      if (distinct.size <= max) assert.equal(new Set(bins).size, distinct.size)
    }),
  )
})

test('bins of other columns, and more bins than a byte holds, are refused', () => {
  const bins = fitBins(featureTable({ x: Float64Array.of(1) }))
  assert.throws(() => binTable(bins, featureTable({ y: Float64Array.of(1) })), /is y, not x/)
  assert.throws(() => binsOf([1], [1], 256), /bins_max is 256/)
})
