import assert from 'node:assert/strict'
import test from 'node:test'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { isNight, situationOf } from './situation.ts'

test('the sun tells night from day; without a position nobody knows', () => {
  const facts = {
    timezone: 'Europe/Berlin',
    latitude: 48.62,
    longitude: 12.17,
    elevation_m: 410,
    poll: { inverter_s: 20 },
    edge_seen_at: null,
  }
  const at = (instant: string) => situationOf(facts, new Date(instant))
  const noon = at('2026-06-21T11:13:00Z')
  assert.ok(Math.abs(noon.sun_elevation_deg! - 64.8) < 0.1)
  assert.equal(isNight(noon), false)
  assert.equal(isNight(at('2026-06-21T22:00:00Z')), true)
  assert.deepEqual(noon.poll, { ...defaultPollIntervals, inverter_s: 20 })
  const nowhere = situationOf({ ...facts, latitude: null }, new Date('2026-06-21T22:00:00Z'))
  assert.equal(nowhere.sun_elevation_deg, null)
  assert.equal(isNight(nowhere), false)
})

test('a logger is offline after a quarter of an hour without a reading, the night not counted', () => {
  const facts = {
    timezone: 'Europe/Berlin',
    latitude: 48.62,
    longitude: 12.17,
    elevation_m: 410,
    poll: null,
  }
  /** Hours and minutes of UTC since when silence means offline, with the edge heard so long ago. */
  const offlineBefore = (instant: string, heard_s: number | null, place: object = {}) => {
    const now = new Date(instant)
    const edge_seen_at = heard_s === null ? null : new Date(now.getTime() - heard_s * 1000)
    const { offline_before_at } = situationOf({ ...facts, ...place, edge_seen_at }, now)
    return offline_before_at.toISOString().slice(8, 16)
  }
  assert.equal(offlineBefore('2026-06-21T11:00:00Z', 5), '21T10:45')
  // The sun sinks below 3° at 18:50: from a quarter of an hour before that inverters may sleep.
  const evening = '21T18:20'
  assert.equal(offlineBefore('2026-06-21T18:50:00Z', 5), evening)
  assert.equal(offlineBefore('2026-06-21T23:00:00Z', 5), evening)
  // Above 3° from 03:35 on: they need not be awake before 03:50.
  assert.equal(offlineBefore('2026-06-22T03:45:00Z', 5), evening)
  assert.equal(offlineBefore('2026-06-22T04:05:00Z', 5), '22T03:50')
  // Without an edge that is heard of, or a place, the night explains nothing.
  assert.equal(offlineBefore('2026-06-21T23:00:00Z', 901), '21T22:45')
  assert.equal(offlineBefore('2026-06-21T23:00:00Z', null), '21T22:45')
  assert.equal(offlineBefore('2026-06-21T23:00:00Z', 5, { latitude: null }), '21T22:45')
  // The polar night is no excuse for more than a day.
  assert.equal(offlineBefore('2026-12-21T11:00:00Z', 5, { latitude: 78 }), '20T11:00')
})
