import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { clearSkyEnergy } from './clear-sky-energy.ts'
import {
  doubtsOf,
  type ExpectedHour,
  expectedHour,
  hoursOf,
  recent_days,
  type Span,
  suggestedLimit,
} from './suggest.ts'

const place = { latitude: 48.62, longitude: 12.17, elevation_m: 380 }
const panels = [{ azimuth_deg: 180, tilt_deg: 25, dc_capacity_kwp: 120 }]
const rated_power_kw = 100
const plant = { logger_id: 1, rated_power_kw }
const clear = clearSkyEnergy(place, { panels, rated_power_kw })
const midnight = Date.parse('2026-06-21T00:00:00Z')
const span = (from_h: number, to_h: number): Span => ({
  start_ms: midnight + from_h * hour_ms,
  end_ms: midnight + to_h * hour_ms,
})

/** Hours of the days before, of each a part of the clear sky. */
function recentOf(parts: readonly number[]): Map<number, number> {
  return new Map(
    parts.flatMap((part, nth) =>
      Array.from({ length: 24 }, (_, hour): [number, number] => {
        const at = midnight - (nth + 1) * day_ms + hour * hour_ms
        return [at, part * clear(at, at + hour_ms)]
      }),
    ),
  )
}

const known = (parts: readonly number[]) => ({
  clear,
  recent: recentOf(parts),
  rated_power_kw,
  until_ms: midnight,
})

test('the clear sky is that of a summer day, at most the rated power', () => {
  const hours = Array.from({ length: 24 }, (_, h) =>
    clear(span(h, h + 1).start_ms, span(h, h + 1).end_ms),
  )
  assert.equal(Math.max(...hours), rated_power_kw)
  assert.equal(hours[23], 0)
  assert.ok(hours.indexOf(Math.max(...hours)) >= 9)
  const [morning, noon] = [hours[5]!, hours[11]!]
  assert.ok(morning > 0 && morning < noon / 2)
})

test('an hour is expected to be what its time of day was of its clear sky', () => {
  const hour = span(7, 8)
  const whole_kw = clear(hour.start_ms, hour.end_ms)
  const same = expectedHour(hour, known(Array.from({ length: recent_days }, () => 0.8)))
  assert.equal(same.days, recent_days)
  for (const power_kw of [same.p10_kw, same.p50_kw, same.p90_kw]) {
    assert.ok(Math.abs(power_kw! - 0.8 * whole_kw) < 1e-9)
  }
  const [low, half, high] = [0.1, 0.5, 0.9]
  const ramp = Array.from({ length: 11 }, (_, nth) => nth / 10)
  const spread = expectedHour(hour, known(ramp))
  for (const [found, part] of [
    [spread.p10_kw, low],
    [spread.p50_kw, half],
    [spread.p90_kw, high],
  ] as const) {
    assert.ok(Math.abs(found! - part * whole_kw) < 1e-9)
  }
})

test('a window of half hours from UTC shares the sums by the light in them', () => {
  const half = {
    start_ms: span(7, 8).start_ms + hour_ms / 2,
    end_ms: span(8, 9).start_ms + hour_ms / 2,
  }
  const whole_kw = clear(half.start_ms, half.end_ms)
  const { p50_kw, days } = expectedHour(half, known([0.8, 0.8, 0.8]))
  assert.equal(days, 3)
  assert.ok(Math.abs(p50_kw! - 0.8 * whole_kw) < 1e-9)
})

test('nothing is said of light on fewer than three days, and 0 of the night', () => {
  const few = expectedHour(span(9, 10), known([0.8, 0.8]))
  assert.deepEqual([few.p10_kw, few.p50_kw, few.p90_kw, few.days], [null, null, null, 2])
  const night = expectedHour(span(23, 24), known([]))
  assert.deepEqual([night.p10_kw, night.p50_kw, night.p90_kw, night.days], [0, 0, 0, null])
})

test('days ahead are judged by the last days before now, all of them', () => {
  const ahead_ms = 10 * day_ms
  const { start_ms, end_ms } = span(9, 10)
  const later = { start_ms: start_ms + ahead_ms, end_ms: end_ms + ahead_ms }
  const parts = Array.from({ length: recent_days }, () => 0.7)
  assert.equal(expectedHour(later, known(parts)).days, recent_days)
})

test('a half hour at dawn needs no sum of the night before it', () => {
  const rising = { start_ms: midnight + 3.5 * hour_ms, end_ms: midnight + 4.5 * hour_ms }
  const by_day = (time_ms: number) => time_ms % day_ms >= 4 * hour_ms
  const dawn = (start_ms: number, end_ms: number) =>
    by_day(start_ms) || by_day(end_ms - 1) ? 20 * (by_day(start_ms) ? 1 : 0.5) : 0
  const recent = new Map([1, 2, 3].map((nth) => [midnight - nth * day_ms + 4 * hour_ms, 10]))
  const { days } = expectedHour(rising, {
    clear: dawn,
    recent,
    rated_power_kw,
    until_ms: midnight,
  })
  assert.equal(days, 3)
})

test('a night and a dim hour have no limit', () => {
  const hour = (p50_kw: number | null): ExpectedHour => ({
    ...span(9, 10),
    p10_kw: null,
    p50_kw,
    p90_kw: null,
    days: 9,
  })
  assert.equal(suggestedLimit([hour(0)], plant), null)
  assert.equal(suggestedLimit([hour(null)], plant), null)
  assert.equal(suggestedLimit([hour(1.1)], plant), null)
  assert.equal(suggestedLimit([hour(1.2)], plant)!.limit_pct, 1)
})

test('a limit is a whole percent below the best hour, and always keeps something back', () => {
  const power = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(
      fc.array(power, { minLength: 1, maxLength: 25 }),
      fc.double({ min: 1, max: 1e5, noNaN: true }),
      (parts, rated_power_kw) => {
        const hours = hoursOf(span(0, parts.length)).map((each, nth): ExpectedHour => {
          const power_kw = parts[nth]! * rated_power_kw
          return { ...each, p10_kw: power_kw, p50_kw: power_kw, p90_kw: power_kw, days: 9 }
        })
        const limit = suggestedLimit(hours, { logger_id: 1, rated_power_kw })
        const best_kw = Math.max(...parts) * rated_power_kw
        if (limit === null) {
          assert.ok(best_kw < 0.012 * rated_power_kw)
          return
        }
        assert.ok(Number.isInteger(limit.limit_pct))
        assert.ok(limit.limit_kw <= rated_power_kw)
        assert.ok(limit.limit_kw <= 0.9 * best_kw + 1e-9 * rated_power_kw)
        assert.ok(limit.limit_kw > 0.9 * best_kw - 0.01 * rated_power_kw - 0.002)
        assert.ok(limit.curtailed_energy_kwh > 0)
      },
    ),
  )
})

test('what makes it doubtful is named', () => {
  const hour = (from_h: number, days: number | null): ExpectedHour => ({
    ...span(from_h, from_h + 1),
    p10_kw: 1,
    p50_kw: 1,
    p90_kw: 1,
    days,
  })
  assert.deepEqual(doubtsOf([hour(9, 7)], midnight), [])
  assert.deepEqual(doubtsOf([hour(23, null)], midnight), ['no_daylight'])
  assert.deepEqual(doubtsOf([hour(9, 2)], midnight), ['no_recent_output'])
  assert.deepEqual(doubtsOf([hour(9, 7), hour(10, 6)], midnight), ['few_recent_days'])
  assert.deepEqual(doubtsOf([hour(48, 7)], midnight), ['far_ahead'])
  assert.deepEqual(doubtsOf([hour(9, 7)], midnight + day_ms), ['window_is_past'])
})
