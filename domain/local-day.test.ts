import assert from 'node:assert/strict'
import test from 'node:test'
import { dayStart, hoursOfLocalDate, localDate } from './local-day.ts'

const start = (instant: string, timezone: string) =>
  dayStart(new Date(instant), timezone).toISOString()

test('the day begins at midnight of the site, not of UTC', () => {
  assert.equal(start('2026-06-21T10:00:00Z', 'UTC'), '2026-06-21T00:00:00.000Z')
  assert.equal(start('2026-06-21T10:00:00Z', 'Europe/Berlin'), '2026-06-20T22:00:00.000Z')
  assert.equal(start('2026-06-20T22:00:00Z', 'Europe/Berlin'), '2026-06-20T22:00:00.000Z')
  assert.equal(start('2026-06-20T21:59:59Z', 'Europe/Berlin'), '2026-06-19T22:00:00.000Z')
  assert.equal(start('2026-06-21T10:00:00Z', 'Asia/Kolkata'), '2026-06-20T18:30:00.000Z')
  assert.equal(start('2026-06-21T01:00:00Z', 'America/Los_Angeles'), '2026-06-20T07:00:00.000Z')
})

test('days of 23 and of 25 hours', () => {
  assert.equal(start('2026-03-29T21:59:00Z', 'Europe/Berlin'), '2026-03-28T23:00:00.000Z')
  assert.equal(start('2026-10-25T22:59:00Z', 'Europe/Berlin'), '2026-10-24T22:00:00.000Z')
})

test('a day whose midnight does not exist begins at the first instant that does', () => {
  // In 2026 the clocks of Beirut go from 00:00 to 01:00 on 29 March.
  assert.equal(start('2026-03-29T12:00:00Z', 'Asia/Beirut'), '2026-03-28T22:00:00.000Z')
})

test('a zone that does not exist is an error', () => {
  assert.throws(() => start('2026-03-29T12:00:00Z', 'Moon/Tranquility'), RangeError)
})

test('the hours of a local day begin on its date, and on no other', () => {
  const hours = (date: string, timezone: string) => {
    const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
    assert.equal(localDate(from_ms, timezone), date)
    assert.notEqual(localDate(from_ms - 3_600_000, timezone), date)
    assert.equal(localDate(to_ms - 3_600_000, timezone), date)
    assert.notEqual(localDate(to_ms, timezone), date)
    return (to_ms - from_ms) / 3_600_000
  }
  assert.equal(hours('2026-03-29', 'Europe/Berlin'), 23)
  assert.equal(hours('2026-10-25', 'Europe/Berlin'), 25)
  assert.equal(hours('2026-06-21', 'Asia/Kolkata'), 24)
  assert.equal(hours('2026-03-29', 'Asia/Beirut'), 23)
  assert.equal(hours('2026-06-21', 'Pacific/Kiritimati'), 24)
})
