import assert from 'node:assert/strict'
import test from 'node:test'
import { dayName, shownDays } from './shown-days.ts'

const at = (clock: string) => Date.parse(`2026-06-21T${clock}:00+02:00`)
const daysAt = (clock: string, is_daylight: boolean | null) =>
  shownDays(at(clock), 'Europe/Berlin', is_daylight)

test('before dawn the page shows the day that ended, and the present day as the next', () => {
  assert.deepEqual(daysAt('03:00', false), {
    before: '2026-06-19',
    day: '2026-06-20',
    next: '2026-06-21',
    today: '2026-06-21',
  })
  assert.equal(dayName('2026-06-20', '2026-06-21'), 'Yesterday')
  assert.equal(dayName('2026-06-21', '2026-06-21'), 'Today')
})

test('by day and after sunset the page shows the present day', () => {
  assert.equal(daysAt('08:00', true).day, '2026-06-21')
  assert.equal(daysAt('23:00', false).day, '2026-06-21')
  assert.equal(daysAt('23:00', false).next, '2026-06-22')
  assert.equal(dayName('2026-06-22', '2026-06-21'), 'Tomorrow')
})

test('without a known position of the sun the page shows the present day', () => {
  assert.equal(daysAt('03:00', null).day, '2026-06-21')
})
