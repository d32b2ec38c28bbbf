import assert from 'node:assert/strict'
import test from 'node:test'
import {
  featureTable,
  requireColumns,
  requireTarget,
  stackTables,
  takeRows,
} from './feature-table.ts'

const column = (...values: number[]) => Float64Array.from(values)

test('a table has its columns in the given order', () => {
  const table = featureTable({ b: column(1, 2), a: column(3, 4) })
  assert.deepEqual(table, { names: ['b', 'a'], columns: [column(1, 2), column(3, 4)], rows: 2 })
})

test('a table of uneven columns, or without columns, is refused', () => {
  assert.throws(() => featureTable({ a: column(1), b: column(1, 2) }), /b has 2 rows, not 1/)
  assert.throws(() => featureTable({}), /at least one/)
})

test('rows are taken as often, and in the order, of the positions', () => {
  const table = takeRows(featureTable({ a: column(10, 11, 12) }), [2, 0, 2])
  assert.deepEqual(table, featureTable({ a: column(12, 10, 12) }))
})

test('tables of the same columns are stacked, others refused', () => {
  const [one, two] = [featureTable({ a: column(1) }), featureTable({ a: column(2, 3) })]
  assert.deepEqual(stackTables([one, two]), featureTable({ a: column(1, 2, 3) }))
  assert.throws(() => stackTables([one, featureTable({ b: column(1) })]), /column 0 is b, not a/)
  assert.throws(() => stackTables([]), /nothing to stack/)
})

test('a missing or additional column is named', () => {
  const table = featureTable({ a: column(1), b: column(1) })
  assert.throws(() => requireColumns(table, ['a']), /column 1 is b, not known/)
  assert.throws(() => requireColumns(table, ['a', 'b', 'c']), /column 2 is undefined, not c/)
})

test('a target of another length, or not finite, is refused', () => {
  const table = featureTable({ a: column(1, 2) })
  assert.throws(() => requireTarget(table, column(1)), /target has 1 rows, not 2/)
  assert.throws(() => requireTarget(table, column(1, Number.NaN)), /row 1 is NaN/)
  assert.throws(() => requireTarget(featureTable({ a: column() }), column()), /no rows/)
})
