import assert from 'node:assert/strict'
import test from 'node:test'
import {
  dayStart,
  hoursOfLocalDate,
  knownTimezone,
  localDate,
  localInstant,
  shownAt,
} from './local-day.ts'

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

test('days have 23 and 25 hours at clock changes', () => {
  assert.equal(start('2026-03-29T21:59:00Z', 'Europe/Berlin'), '2026-03-28T23:00:00.000Z')
  assert.equal(start('2026-10-25T22:59:00Z', 'Europe/Berlin'), '2026-10-24T22:00:00.000Z')
})

test('a day without a midnight begins at its first instant', () => {
  // In 2026 the clocks of Beirut go from 00:00 to 01:00 on 29 March.
  assert.equal(start('2026-03-29T12:00:00Z', 'Asia/Beirut'), '2026-03-28T22:00:00.000Z')
})

test('an unknown time zone is an error', () => {
  assert.throws(() => start('2026-03-29T12:00:00Z', 'Moon/Tranquility'), RangeError)
})

test('the hours of a local day begin on its date only', () => {
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

/** When in UTC, in 2026. */
const whenShown = (date: string, time: string, timezone: string) =>
  new Date(localInstant(date, time, timezone)).toISOString().slice(5, 16)

test('local time of a zone, also on days of clock changes', () => {
  const utc = (date: string, time: string) => whenShown(date, time, 'Europe/Berlin')
  assert.equal(utc('2026-06-21', '12:45'), '06-21T10:45')
  assert.equal(utc('2026-12-21', '12:45'), '12-21T11:45')
  assert.equal(utc('2026-03-29', '12:45'), '03-29T10:45')
  assert.equal(utc('2026-10-25', '12:45'), '10-25T11:45')
  assert.equal(utc('2026-10-25', '00:15'), '10-24T22:15')
  assert.equal(utc('2026-10-25', '03:15'), '10-25T02:15')
  // The days around it, whose offset is still or already the other one.
  assert.equal(utc('2026-10-24', '23:30'), '10-24T21:30')
  assert.equal(utc('2026-10-26', '00:30'), '10-25T23:30')
})

test('local time of a zone with a half-hour offset', () => {
  assert.equal(whenShown('2026-06-21', '00:00', 'Asia/Kolkata'), '06-20T18:30')
  assert.equal(whenShown('2026-06-21', '10:00', 'Asia/Kolkata'), '06-21T04:30')
  assert.equal(whenShown('2026-06-21', '08:00', 'Asia/Kathmandu'), '06-21T02:15')
  // In Adelaide it is 9:30 ahead from 02:30 summer time on 5 April on, 10:30 from 4 October on.
  assert.equal(whenShown('2026-04-05', '01:45', 'Australia/Adelaide'), '04-04T15:15')
  assert.equal(whenShown('2026-04-05', '12:00', 'Australia/Adelaide'), '04-05T02:30')
  assert.equal(whenShown('2026-10-04', '01:45', 'Australia/Adelaide'), '10-03T16:15')
  assert.equal(whenShown('2026-10-04', '12:00', 'Australia/Adelaide'), '10-04T01:30')
  // Lord Howe's clocks are set by half an hour.
  assert.equal(whenShown('2026-04-05', '12:00', 'Australia/Lord_Howe'), '04-05T01:30')
  assert.equal(whenShown('2026-10-04', '12:00', 'Australia/Lord_Howe'), '10-04T01:00')
})

test('a repeated time is the first one, a skipped time uses the offset before', () => {
  assert.equal(whenShown('2026-10-25', '02:30', 'Europe/Berlin'), '10-25T00:30')
  assert.equal(whenShown('2026-03-29', '02:30', 'Europe/Berlin'), '03-29T01:30')
  assert.equal(whenShown('2026-11-01', '01:30', 'America/New_York'), '11-01T05:30')
  assert.equal(whenShown('2026-03-08', '02:30', 'America/New_York'), '03-08T07:30')
  assert.equal(whenShown('2026-03-29', '00:00', 'Asia/Beirut'), '03-28T22:00')
})

test('local time converts back to its instant around both clock changes', () => {
  const shown = (instant: string, timezone = 'Europe/Berlin') =>
    new Date(shownAt(Date.parse(instant), timezone)).toISOString().slice(0, 16)
  assert.equal(shown('2026-06-21T22:00:00Z'), '2026-06-22T00:00')
  assert.equal(shown('2026-06-21T18:15:00Z', 'Asia/Kathmandu'), '2026-06-22T00:00')
  assert.deepEqual(
    ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00Z'].map((instant) => shown(instant)),
    ['2026-03-29T01:59', '2026-03-29T03:00'],
  )
  assert.deepEqual(
    ['2026-10-25T00:15:00Z', '2026-10-25T01:15:00Z'].map((instant) => shown(instant)),
    ['2026-10-25T02:15', '2026-10-25T02:15'],
  )
})

test('zones are those of the IANA database in its spelling; offsets are refused', () => {
  const found = ['europe/berlin', 'UTC', 'Etc/GMT+5', '+02:00', 'Foo/Bar', '', 'Z'].map(
    knownTimezone,
  )
  assert.deepEqual(found, ['Europe/Berlin', 'UTC', 'Etc/GMT+5', null, null, null, null])
})
