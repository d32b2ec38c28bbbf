import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  addDays,
  asLocal,
  clockAt,
  dayAt,
  dayStart,
  daysFrom,
  instantOf,
  isDate,
  isWithin,
  utcDays,
} from './site-clock.ts'

const berlin = 'Europe/Berlin'
const hour_ms = 3_600_000
const zones = [
  'UTC',
  berlin,
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Cairo',
  'Pacific/Apia',
]
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

test('the clocks of the site are read and set', () => {
  assert.equal(clockAt(Date.parse('2026-06-21T11:30:59Z'), berlin), '2026-06-21T13:30')
  assert.equal(iso(instantOf('2026-06-21T13:30', berlin)), '2026-06-21T11:30:00.000Z')
  assert.equal(iso(instantOf('2026-12-31T23:59', 'Asia/Kathmandu')), '2026-12-31T18:14:00.000Z')
})

test('a time that the clocks skip is none, of two that read alike it is the first', () => {
  assert.equal(instantOf('2026-03-29T02:30', berlin), null)
  assert.equal(iso(instantOf('2026-03-29T03:00', berlin)), '2026-03-29T01:00:00.000Z')
  assert.equal(iso(instantOf('2026-10-25T02:30', berlin)), '2026-10-25T00:30:00.000Z')
  for (const no_time of ['', 'soon', '2026-02-30T10:00', '2026-06-21T24:30']) {
    assert.equal(instantOf(no_time, berlin), null, no_time)
  }
})

test('a date that reads as the clocks of the site is what the browser makes of them', () => {
  const instant = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2030) })
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, at_ms) => {
      const expected = new Date(new Date(at_ms).toLocaleString('en-US', { timeZone: zone }))
      expected.setMilliseconds(at_ms % 1000)
      assert.equal(iso(asLocal(at_ms, zone).getTime()), iso(expected.getTime()))
    }),
  )
})

test('what the clocks show is found again, in every zone', () => {
  const instant = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2030) })
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, at_ms) => {
      const clock = clockAt(at_ms, zone)
      const found_ms = instantOf(clock, zone)
      assert.ok(found_ms !== null && found_ms <= at_ms, `${clock} in ${zone}`)
      assert.equal(clockAt(found_ms, zone), clock)
      // One that reads alike is an hour before at most.
      assert.ok(at_ms - found_ms < hour_ms + 60_000)
    }),
  )
})

test('days have 23, 24 and 25 hours', () => {
  const hours = (date: string, zone: string) => {
    const { start_ms, end_ms } = daysFrom(date, 1, zone)
    return (end_ms - start_ms) / hour_ms
  }
  assert.equal(hours('2026-03-29', berlin), 23)
  assert.equal(hours('2026-06-21', berlin), 24)
  assert.equal(hours('2026-10-25', berlin), 25)
  assert.equal(hours('2026-04-05', 'Australia/Lord_Howe'), 24.5)
})

test('a day begins at one where midnight is skipped, at the first midnight of two', () => {
  assert.equal(iso(dayStart('2026-04-24', 'Africa/Cairo')), '2026-04-23T22:00:00.000Z')
  assert.equal(iso(dayStart('2026-11-01', 'America/Havana')), '2026-11-01T04:00:00.000Z')
})

test('every instant lies in the day that its clock shows', () => {
  const instant = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2030) })
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, at_ms) => {
      const span = daysFrom(dayAt(at_ms, zone), 1, zone)
      assert.ok(isWithin(span, new Date(at_ms).toISOString()))
    }),
  )
})

test('days are counted by the calendar', () => {
  assert.equal(addDays('2028-02-28', 1), '2028-02-29')
  assert.equal(addDays('2026-01-01', -1), '2025-12-31')
  for (const no_date of [null, undefined, '', '2026-6-1', '2026-13-01', '2026-02-30']) {
    assert.equal(isDate(no_date), false, `${no_date}`)
  }
  assert.ok(isDate('2028-02-29'))
})

test('a day of the site lies in two days of UTC, except where it is one of them', () => {
  assert.deepEqual(utcDays(daysFrom('2026-06-21', 1, berlin)), ['2026-06-20', '2026-06-21'])
  assert.deepEqual(utcDays(daysFrom('2026-06-21', 1, 'UTC')), ['2026-06-21'])
  assert.deepEqual(utcDays(daysFrom('2026-06-21', 0, 'UTC')), [])
})
