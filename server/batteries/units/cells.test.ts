import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { outlier_mv_min, outlierCells } from './cells.ts'

const even = (count: number, spread_mv: number) =>
  Array.from({ length: count }, (_, nth) => 3300 + (nth % 3) * spread_mv)

test('a cell that stands out is named, and no other', () => {
  const cells: (number | null)[] = even(416, 2)
  cells[17] = 3250
  cells[200] = null
  cells[415] = 3345
  assert.deepEqual(outlierCells(cells), [17, 415])
})

test('cells that differ by what is measured to are alike, however alike the others', () => {
  const cells = even(20, 0)
  cells[3] = 3300 + outlier_mv_min - 1
  assert.deepEqual(outlierCells(cells), [])
  cells[3] = 3300 + outlier_mv_min
  assert.deepEqual(outlierCells(cells), [3])
})

test('in a cluster that spreads, as near full or empty, more has to be between', () => {
  const cells = even(60, 30)
  cells[5] = 3300 + 120
  assert.deepEqual(outlierCells(cells), [])
  cells[5] = 3300 + 260
  assert.deepEqual(outlierCells(cells), [5])
})

test('of few cells none stands out', () => {
  assert.deepEqual(outlierCells([3300, 3300, 2500]), [])
  assert.deepEqual(outlierCells([null, null, null, null, 3300]), [])
  assert.deepEqual(outlierCells([]), [])
})

test('what is named is far from the middle, whatever the voltages and their order', () => {
  const voltages = fc.array(fc.option(fc.integer({ min: 2000, max: 4300 })), { maxLength: 60 })
  fc.assert(
    fc.property(voltages, (cells) => {
      const named = outlierCells(cells)
      const known = cells.filter((value) => value !== null).toSorted((a, b) => a - b)
      const middle = (known[(known.length - 1) >> 1]! + known[known.length >> 1]!) / 2
      for (const index of named) {
        assert.ok(Math.abs(cells[index]! - middle) >= outlier_mv_min)
      }
      // A minority: half of the cells are never further away than their median is.
      assert.ok(named.length * 2 <= known.length)
      const shifted = outlierCells(cells.map((value) => (value === null ? null : value + 100)))
      assert.deepEqual(shifted, named)
    }),
  )
})
