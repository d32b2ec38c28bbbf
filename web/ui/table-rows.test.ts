import assert from 'node:assert/strict'
import test from 'node:test'
import { createElement } from 'react'
import { type Column, cellsOf, filteredRows, isSortable, sortedRows, textOf } from './table-rows.ts'

interface Row {
  name: string
  power_kw: number | null
}

const name: Column<Row> = { name: 'Name', cell: (row) => createElement('a', null, row.name) }
const power: Column<Row> = {
  name: 'Power',
  cell: ({ power_kw }) => `${power_kw} kW`,
  value: ({ power_kw }) => power_kw,
  unit: 'kW',
  is_number: true,
}
const buttons: Column<Row> = { name: '', cell: () => 'Delete' }
const columns = [name, power, buttons]
const rows: Row[] = [
  { name: 'E-10', power_kw: 9 },
  { name: 'E-2', power_kw: null },
  { name: 'W-1', power_kw: 100 },
]
const names = (of: readonly Row[]) => of.map((row) => row.name)

test('numbers are ordered by value, texts as people count, and unknown values come last', () => {
  const sort = (column: string, is_down: boolean) =>
    names(sortedRows(rows, columns, { name: column, is_down }))
  assert.deepEqual(sort('Power', false), ['E-10', 'W-1', 'E-2'])
  assert.deepEqual(sort('Power', true), ['W-1', 'E-10', 'E-2'])
  assert.deepEqual(sort('Name', false), ['E-2', 'E-10', 'W-1'])
  assert.equal(sortedRows(rows, columns, null), rows)
})

test('formatted numbers without a value, and buttons, have no order', () => {
  assert.equal(isSortable(power, rows), true)
  assert.equal(isSortable({ ...power, value: undefined }, rows), false)
  assert.equal(isSortable(buttons, rows), false)
  assert.equal(isSortable({ name: 'State', cell: () => null }, rows), false)
})

test('every word of the filter is found in the texts of a row, in any case', () => {
  assert.deepEqual(names(filteredRows(rows, columns, 'e-')), ['E-10', 'E-2'])
  assert.deepEqual(names(filteredRows(rows, columns, ' 1 w ')), ['W-1'])
  assert.equal(filteredRows(rows, columns, ' '), rows)
})

test('a file has units in its head, numbers without format, and no buttons', () => {
  assert.deepEqual(cellsOf(columns, rows.slice(0, 2)), [
    ['Name', 'Power (kW)'],
    ['E-10', 9],
    ['E-2', null],
  ])
})

test('the text of an element is that of its children, and of a time its instant', () => {
  assert.equal(
    textOf(createElement('p', null, 'limit ', 5, null, createElement('b', null, '!'))),
    'limit 5!',
  )
  assert.equal(
    textOf(createElement('time', { at: '2026-06-21T10:00:00Z' } as object)),
    '2026-06-21T10:00:00Z',
  )
  assert.equal(textOf(false), '')
})
