import assert from 'node:assert/strict'
import test from 'node:test'
import { rowsBetween, wrongCounts } from './row-counts.ts'

const count = (rows: number, inserted = 0, deleted = 0) => ({ rows, inserted, deleted })

test('a table that does not change has one count, and another has bounds', () => {
  const before = new Map([
    ['still', count(7, 9, 2)],
    ['grows', count(10, 10)],
    ['churns', count(5, 100, 95)],
    ['dropped', count(1)],
  ])
  const after = new Map([
    ['still', count(7, 9, 2)],
    ['grows', count(14, 14)],
    ['churns', count(5, 103, 98)],
    ['made', count(1)],
  ])
  const bounds = rowsBetween(before, after)
  assert.deepEqual(bounds, [
    { table: 'still', rows_min: 7, rows_max: 7 },
    { table: 'grows', rows_min: 10, rows_max: 18 },
    { table: 'churns', rows_min: 2, rows_max: 8 },
  ])
  assert.deepEqual(wrongCounts(bounds, after), [])
  const found = new Map([
    ['still', count(6)],
    ['grows', count(9)],
  ])
  assert.deepEqual(wrongCounts(bounds, found), [
    'still has 6 rows in place of 7',
    'grows has 9 rows in place of 10 to 18',
    'churns is missing',
  ])
})
