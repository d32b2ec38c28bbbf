import assert from 'node:assert/strict'
import test from 'node:test'
import { daysOf, monthName, periodOf } from './periods.ts'

const ends = ({ start_date, end_date }: { start_date: string; end_date: string }) =>
  `${start_date} ${end_date}`

test('a period begins and ends with the calendar', () => {
  assert.equal(ends(periodOf('day', '2026-02-28')), '2026-02-28 2026-02-28')
  assert.equal(ends(periodOf('month', '2028-02-10')), '2028-02-01 2028-02-29')
  assert.equal(ends(periodOf('month', '2026-12-31')), '2026-12-01 2026-12-31')
  assert.equal(ends(periodOf('year', '2026-06-21')), '2026-01-01 2026-12-31')
})

test('days that have not begun are not among its days', () => {
  const month = periodOf('month', '2026-03-01')
  assert.equal(daysOf(month, '2026-12-01').length, 31)
  assert.deepEqual(daysOf(month, '2026-03-02'), ['2026-03-01', '2026-03-02'])
  assert.deepEqual(daysOf(month, '2026-02-28'), [])
})

test('a month has its name', () => {
  assert.equal(monthName('2026-03-29', 'long'), 'March 2026')
  assert.equal(monthName('2026-03', 'short'), 'Mar')
})
