import assert from 'node:assert/strict'
import test from 'node:test'
import type { StringHealth } from '@heliograph/sdk'
import { cellAt, gridOf, head_px, sizeOf } from './grid.ts'

const string = (inverter_id: number, string_index: number) =>
  ({ inverter_id, string_index, inverter_name: `INV ${inverter_id}` }) as StringHealth

test('a row is an inverter, a column a number of a string, and what is not there is empty', () => {
  const { rows, columns } = gridOf([string(7, 2), string(3, 0), string(7, 0)])
  assert.deepEqual(columns, [0, 1, 2])
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['INV 7', 'INV 3'],
  )
  assert.deepEqual(
    rows.map(({ strings }) => columns.map((nth) => strings[nth]?.string_index ?? null)),
    [
      [0, null, 2],
      [0, null, null],
    ],
  )
})

test('a site without strings has an empty map', () => {
  const grid = gridOf([])
  assert.deepEqual(grid, { rows: [], columns: [] })
  const { cell_width, height } = sizeOf(grid, 0)
  assert.ok(Number.isFinite(cell_width) && height >= head_px)
})

const grid = gridOf(Array.from({ length: 60 }, (_, nth) => string(1 + (nth % 3), nth % 20)))

test('what is pointed at is the cell that is drawn there, also when it is scrolled', () => {
  const size = sizeOf(grid, 1000)
  const { cell_width, cell_height, names_px } = size
  const middle = (row: number, column: number) => ({
    x: names_px + (column + 0.5) * cell_width,
    y: head_px + (row + 0.5) * cell_height,
  })
  assert.deepEqual(cellAt(grid, size, middle(0, 0), 0, 0), { row: 0, column: 0 })
  assert.deepEqual(cellAt(grid, size, middle(2, 19), 0, 0), { row: 2, column: 19 })
  const scrolled = cellAt(grid, size, middle(0, 0), 4 * cell_width, cell_height)
  assert.deepEqual(scrolled, { row: 1, column: 4 })
})

test('names, numbers and what is beside the cells are none', () => {
  const size = sizeOf(grid, 1000)
  const { cell_width, cell_height, names_px, width } = size
  assert.equal(width, names_px + 20 * cell_width)
  const none = [
    { x: names_px - 1, y: head_px + 1 },
    { x: names_px + 1, y: head_px - 1 },
    { x: width + 1, y: head_px + 1 },
    { x: names_px + 1, y: head_px + 3 * cell_height + 1 },
  ]
  assert.deepEqual(
    none.map((at) => cellAt(grid, size, at, 0, 0)),
    [null, null, null, null],
  )
})

test('cells can be hit however narrow the page is, and are flat where inverters are many', () => {
  assert.ok(sizeOf(grid, 100).cell_width >= 24)
  assert.ok(sizeOf(grid, 20_000).cell_width <= 64)
  const many = gridOf(Array.from({ length: 1000 }, (_, nth) => string(nth, 0)))
  assert.ok(sizeOf(many, 1000).cell_height < sizeOf(grid, 1000).cell_height)
})
