import assert from 'node:assert/strict'
import test from 'node:test'
import { dayStart, isNight, situationOf } from './situation.ts'

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

test('the sun tells night from day; without a position nobody knows', () => {
  const facts = {
    timezone: 'Europe/Berlin',
    latitude: 48.62,
    longitude: 12.17,
    elevation_m: 410,
    poll: { inverter_s: 20 },
  }
  const at = (instant: string) => situationOf(facts, new Date(instant))
  const noon = at('2026-06-21T11:13:00Z')
  assert.ok(Math.abs(noon.sun_elevation_deg! - 64.8) < 0.1)
  assert.equal(isNight(noon), false)
  assert.equal(isNight(at('2026-06-21T22:00:00Z')), true)
  assert.deepEqual(noon.poll, { inverter_s: 20, weather_s: 10, meter_s: 5, logger_s: 10 })
  const nowhere = situationOf({ ...facts, latitude: null }, new Date('2026-06-21T22:00:00Z'))
  assert.equal(nowhere.sun_elevation_deg, null)
  assert.equal(isNight(nowhere), false)
})
