import assert from 'node:assert/strict'
import test from 'node:test'
import { isNight, situationOf } from './situation.ts'

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
