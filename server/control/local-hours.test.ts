import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import fc from 'fast-check'
import { hoursOnTheClock } from './local-hours.ts'

const iso = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`

function span(timezone: string, date: string, start_hour: number, end_hour: number) {
  const found = hoursOnTheClock({ date, start_hour, end_hour }, timezone)
  return found && `${iso(found.start_ms)} ${iso(found.end_ms)}`
}

test('hours of the clock at the site, whole and half hours from UTC', () => {
  assert.equal(span('UTC', '2026-06-21', 11, 13), '2026-06-21T11:00Z 2026-06-21T13:00Z')
  assert.equal(span('Europe/Berlin', '2026-06-21', 0, 24), '2026-06-20T22:00Z 2026-06-21T22:00Z')
  assert.equal(
    span('Europe/Bucharest', '2026-06-21', 11, 12),
    '2026-06-21T08:00Z 2026-06-21T09:00Z',
  )
  assert.equal(span('Asia/Kolkata', '2026-06-21', 0, 1), '2026-06-20T18:30Z 2026-06-20T19:30Z')
  assert.equal(span('Asia/Kathmandu', '2026-06-21', 23, 24), '2026-06-21T17:15Z 2026-06-21T18:15Z')
})

test('an hour that the clock skips is not there', () => {
  // 02:00 to 03:00 in Berlin, 03:00 to 04:00 in Bucharest, one instant.
  assert.equal(span('Europe/Berlin', '2026-03-29', 2, 3), null)
  assert.equal(span('Europe/Bucharest', '2026-03-29', 3, 4), null)
  assert.equal(span('Europe/Berlin', '2026-03-29', 1, 4), '2026-03-29T00:00Z 2026-03-29T02:00Z')
  assert.equal(span('Europe/Berlin', '2026-03-29', 2, 4), '2026-03-29T01:00Z 2026-03-29T02:00Z')
  assert.equal(span('Europe/Bucharest', '2026-03-29', 0, 24), '2026-03-28T22:00Z 2026-03-29T21:00Z')
  // Midnight itself does not exist.
  assert.equal(span('Asia/Beirut', '2026-03-29', 0, 2), '2026-03-28T22:00Z 2026-03-28T23:00Z')
})

test('an hour that the clock shows twice is there twice', () => {
  assert.equal(span('Europe/Berlin', '2026-10-25', 2, 3), '2026-10-25T00:00Z 2026-10-25T02:00Z')
  assert.equal(span('Europe/Berlin', '2026-10-25', 1, 2), '2026-10-24T23:00Z 2026-10-25T00:00Z')
  assert.equal(span('Europe/Berlin', '2026-10-25', 3, 4), '2026-10-25T02:00Z 2026-10-25T03:00Z')
  assert.equal(span('Europe/Bucharest', '2026-10-25', 3, 4), '2026-10-25T00:00Z 2026-10-25T02:00Z')
  assert.equal(span('Europe/Bucharest', '2026-10-25', 0, 24), '2026-10-24T21:00Z 2026-10-25T22:00Z')
})

test('clocks that change by half an hour', () => {
  // On 5 April 2026 Lord Howe shows 01:30 to 02:00 twice; on 4 October it skips 02:00 to 02:30.
  assert.equal(
    span('Australia/Lord_Howe', '2026-04-05', 1, 2),
    '2026-04-04T14:00Z 2026-04-04T15:30Z',
  )
  assert.equal(
    span('Australia/Lord_Howe', '2026-10-04', 2, 3),
    '2026-10-03T15:30Z 2026-10-03T16:00Z',
  )
})

test('parts of a day follow one another and make up the day', () => {
  const zones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati']
  const day = fc.integer({
    min: Date.UTC(2024, 0) / day_ms,
    max: Date.UTC(2029, 0) / day_ms,
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      day,
      fc.integer({ min: 1, max: 23 }),
      (zone, nth, hour) => {
        const date = utcDate(nth * day_ms)
        const day = hoursOnTheClock({ date, start_hour: 0, end_hour: 24 }, zone)!
        const before = hoursOnTheClock({ date, start_hour: 0, end_hour: hour }, zone)!
        const after = hoursOnTheClock({ date, start_hour: hour, end_hour: 24 }, zone)!
        assert.deepEqual([before.start_ms, after.end_ms], [day.start_ms, day.end_ms])
        assert.equal(before.end_ms, after.start_ms)
      },
    ),
    { numRuns: 60 },
  )
})
