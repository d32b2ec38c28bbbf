import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, type OracleRow, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { solarPosition } from './solar-position.ts'
import { equationOfTime, sunEvents } from './sun-events.ts'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

/** UTC less local time at a UTC instant. */
function zoneOffset(time_ms: number, timezone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return time_ms - Date.parse(`${format.format(time_ms).replace(' ', 'T')}Z`)
}

/** The instants between which a zone writes this date. */
function localDay(date: string, timezone: string) {
  const midnight = (as_utc_ms: number) => {
    const first_ms = as_utc_ms + zoneOffset(as_utc_ms, timezone)
    return as_utc_ms + zoneOffset(first_ms, timezone)
  }
  const as_utc_ms = Date.parse(`${date}T00:00:00Z`)
  return { from_ms: midnight(as_utc_ms), to_ms: midnight(as_utc_ms + day_ms) }
}

/**
 * The reference answers took the UTC date of the local midnight for the local date: their events
 * are those of the day before wherever the zone is east of Greenwich.
 */
function referenceDate(row: OracleRow): number {
  const { from_ms } = localDay(row.text('local_date'), row.text('tz'))
  return Math.floor(from_ms / day_ms) * day_ms
}

function assertSeconds(actual_ms: number | null, expected_s: number | null, what: string) {
  if (actual_ms === null || expected_s === null) {
    return assert.equal(actual_ms, expected_s, what)
  }
  assertWithin(actual_ms / 1000, expected_s, 0.5, what)
}

testAgainstOracle('sun_rise_set', 'the events of a solar day', (row) => {
  const date_ms = referenceDate(row)
  const shift_ms = zoneOffset(date_ms, row.text('tz'))
  const onDay = (offset: number) => {
    const from_ms = date_ms + shift_ms + offset * day_ms
    const day = { from_ms, to_ms: from_ms + day_ms }
    return sunEvents(day, row.number('lat'), row.number('lon'), 67)
  }
  const events = onDay(0)
  assertSeconds(events.transit_ms, row.number('transit'), 'transit')
  const sunrise = row.numberOrNull('sunrise')
  const sunset = row.numberOrNull('sunset')
  assert.equal(events.sunrise_ms === null, sunrise === null)
  assert.equal(events.sunset_ms === null, sunset === null)
  // The one step of the reference has not converged at Tromso, where days are long or short.
  if (sunrise === null || sunset === null || row.number('lat') > 60) return
  // An event outside the UTC date is in the reference that of the neighbouring day, moved by 24 h.
  const early = sunrise * 1000 < date_ms ? 1 : 0
  assertSeconds(onDay(early).sunrise_ms! - early * day_ms, sunrise, 'sunrise')
  const late = sunset * 1000 >= date_ms + day_ms ? 1 : 0
  assertSeconds(onDay(-late).sunset_ms! + late * day_ms, sunset, 'sunset')
})

testAgainstOracle('solar_position', 'the equation of time', (row) => {
  const minutes = equationOfTime(row.number('unix') * 1000, 67)
  assertWithin(minutes, row.number('eot_min'), 4e-6, 'equation of time')
})

const place = {
  from_ms: fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2050, 0) }),
  hours: fc.constantFrom(23, 24, 25),
  latitude_deg: uniform(-90, 90),
  longitude_deg: uniform(-180, 180),
}

test('at sunrise and sunset the sun is on the horizon, rising before it sets', () => {
  fc.assert(
    fc.property(fc.record(place), ({ from_ms, hours, latitude_deg, longitude_deg }) => {
      const day = { from_ms, to_ms: from_ms + hours * hour_ms }
      const { transit_ms, sunrise_ms, sunset_ms, course } = sunEvents(
        day,
        latitude_deg,
        longitude_deg,
      )
      // Nearest to the middle, by the sun's own day, which is within half a minute of 24 hours.
      const from_middle_ms = Math.abs(transit_ms - (day.from_ms + day.to_ms) / 2)
      assert.ok(from_middle_ms <= day_ms / 2 + 30_000)
      const elevation = (time_ms: number) =>
        solarPosition(time_ms, latitude_deg, longitude_deg).elevation_deg
      for (const event_ms of [sunrise_ms, sunset_ms]) {
        if (event_ms === null) continue
        // The parallax, up to 0.0025 degrees, is the observer's and not in the definition.
        assertWithin(elevation(event_ms), -0.8333, 0.003, 'elevation')
        assert.ok(Math.abs(event_ms - transit_ms) <= day_ms / 2 + 30_000)
      }
      if (sunrise_ms !== null && sunset_ms !== null && Math.abs(latitude_deg) < 89) {
        assert.ok(sunrise_ms < transit_ms && transit_ms < sunset_ms)
      }
      assert.equal(course === 'rises_or_sets', sunrise_ms !== null || sunset_ms !== null)
      if (course === 'always_up') assert.ok(elevation(transit_ms) > -0.84)
      if (course === 'always_down') assert.ok(elevation(transit_ms) < -0.83)
    }),
  )
})

const utcDay = (year: number, month: number, day: number) => ({
  from_ms: Date.UTC(year, month, day),
  to_ms: Date.UTC(year, month, day + 1),
})

test('polar day and polar night have a transit and are marked', () => {
  const summer = sunEvents(utcDay(2024, 5, 21), 69.65, 18.96)
  assert.deepEqual([summer.sunrise_ms, summer.sunset_ms, summer.course], [null, null, 'always_up'])
  const winter = sunEvents(utcDay(2024, 11, 21), 69.65, 18.96)
  assert.deepEqual(
    [winter.sunrise_ms, winter.sunset_ms, winter.course],
    [null, null, 'always_down'],
  )
  assert.ok(Number.isInteger(winter.transit_ms))
  assert.equal(sunEvents(utcDay(2024, 11, 21), -69.65, 18.96).course, 'always_up')
})

test('a pole has one sunrise and one sunset a year', () => {
  for (const latitude_deg of [90, -90]) {
    // The longitude decides whether the event comes before or after what counts as noon.
    for (const longitude_deg of [0, 90, 180, 270]) {
      const year = Array.from({ length: 366 }, (_, day) =>
        sunEvents(utcDay(2024, 0, 1 + day), latitude_deg, longitude_deg),
      )
      assert.equal(year.filter((events) => events.sunrise_ms !== null).length, 1)
      assert.equal(year.filter((events) => events.sunset_ms !== null).length, 1)
      const up = year.filter((events) => events.course === 'always_up').length
      assert.ok(up > 180 && up < 195)
    }
  }
})

test('a local date has its own noon, also across the date line and clock changes', () => {
  const noonDate = (
    date: string,
    timezone: string,
    latitude_deg: number,
    longitude_deg: number,
  ) => {
    const { transit_ms } = sunEvents(localDay(date, timezone), latitude_deg, longitude_deg)
    return new Date(transit_ms - zoneOffset(transit_ms, timezone)).toISOString().slice(0, 13)
  }
  assert.equal(noonDate('2024-01-10', 'Pacific/Apia', -13.8, -171.8), '2024-01-10T12')
  assert.equal(noonDate('2024-01-10', 'Pacific/Kiritimati', 1.9, -157.4), '2024-01-10T12')
  assert.equal(noonDate('2024-01-10', 'Pacific/Auckland', -36.8, 174.8), '2024-01-10T13')
  assert.equal(noonDate('2024-01-10', 'Pacific/Pago_Pago', -14.3, -170.7), '2024-01-10T12')
  assert.equal(noonDate('2024-01-10', 'Asia/Urumqi', 43.8, 87.6), '2024-01-10T12')
  assert.equal(noonDate('2024-03-31', 'Europe/Sofia', 42.15, 24.75), '2024-03-31T13')
  assert.equal(noonDate('2024-10-27', 'Europe/Sofia', 42.15, 24.75), '2024-10-27T12')
})

test('an invalid place or time is named', () => {
  const day = utcDay(2024, 0, 1)
  assert.throws(() => sunEvents(day, 91, 0), /RangeError: latitude_deg must be -90 to 90, not 91/)
  assert.throws(() => sunEvents(day, Number.NaN, 0), /latitude_deg/)
  assert.throws(() => sunEvents(day, 0, Number.POSITIVE_INFINITY), /longitude_deg must be finite/)
  assert.throws(() => sunEvents({ ...day, to_ms: Number.NaN }, 0, 0), /to_ms must be finite/)
})

test('the equation of time has its known turning points', () => {
  assertWithin(equationOfTime(Date.UTC(2024, 1, 11, 12)), -14.2, 0.1, 'February')
  assertWithin(equationOfTime(Date.UTC(2024, 10, 3, 12)), 16.45, 0.1, 'November')
})

test('the whole range of dates is valid', () => {
  for (const from_ms of [-8.64e15, 8.64e15 - day_ms]) {
    const { transit_ms, course } = sunEvents({ from_ms, to_ms: from_ms + day_ms }, 42, 25)
    assert.ok(Number.isFinite(transit_ms) && course.length > 0)
  }
})
