import assert from 'node:assert/strict'
import test from 'node:test'
import { buttonsOf, within, zoomOf } from './zoom.ts'

const hour_ms = 3_600_000
const days = { start_ms: 0, end_ms: 24 * hour_ms }
const span = (from_h: number, to_h: number) => ({
  start_ms: from_h * hour_ms,
  end_ms: to_h * hour_ms,
})

test('a zoom of the address is used only when it is a part of the period', () => {
  assert.deepEqual(zoomOf(`${6 * hour_ms}-${12 * hour_ms}`, days), span(6, 12))
  for (const text of [null, '', 'x', '5-1', '0-60000', `${hour_ms}-${25 * hour_ms}`]) {
    assert.equal(zoomOf(text, days), days, String(text))
  }
})

test('a part is moved into the period', () => {
  assert.deepEqual(within(span(-2, 4), days), span(0, 6))
  assert.deepEqual(within(span(20, 30), days), span(14, 24))
  assert.equal(within(span(-5, 30), days), days)
  const { start_ms, end_ms } = within({ start_ms: hour_ms, end_ms: hour_ms + 1 }, days)
  assert.equal(end_ms - start_ms, 600_000)
})

test('the buttons zoom and move, and are off where they would change nothing', () => {
  const next = Object.fromEntries(buttonsOf(span(6, 18), days).map((one) => [one.name, one.next]))
  assert.deepEqual(next['Zoom in'], span(9, 15))
  assert.deepEqual(next['Zoom out'], days)
  assert.deepEqual(next['Left'], span(0, 12))
  assert.deepEqual(next['Right'], span(12, 24))
  assert.deepEqual(next['All'], days)
  const off = buttonsOf(days, days).filter((one) => one.next === null)
  assert.deepEqual(
    off.map(({ name }) => name),
    ['Zoom out', 'Left', 'Right', 'All'],
  )
})
