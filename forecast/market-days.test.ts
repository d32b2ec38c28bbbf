import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { curveMean, type MarketPeriod, marketDays, resolutionMinutes } from './market-days.ts'

/** Periods of `minutes` from a UTC instant on, the price of each its position. */
function periodsFrom(start: string, count: number, minutes = 60): MarketPeriod[] {
  const first_ms = Date.parse(start)
  return Array.from({ length: count }, (_, i) => ({
    start_ms: first_ms + i * minutes * 60_000,
    end_ms: first_ms + (i + 1) * minutes * 60_000,
    price_per_mwh: i,
    load_mw: null,
    renewables_mw: null,
  }))
}

const hourly = (curve: Float64Array | null) =>
  Array.from({ length: 24 }, (_, hour) => curveMean(curve!, 60 * hour, 60))

test('periods belong to the local days and times of the market', () => {
  const [first, second, ...more] = marketDays(periodsFrom('2024-06-30T22:00Z', 48), 'Europe/Berlin')
  assert.equal(more.length, 0)
  assert.equal(first!.day * 24 * hour_ms, Date.parse('2024-07-01'))
  assert.equal(second!.day, first!.day + 1)
  assert.deepEqual(
    first!.periods.map(({ clock_minute }) => clock_minute),
    Array.from({ length: 24 }, (_, hour) => 60 * hour),
  )
  assert.deepEqual(
    hourly(second!.price),
    Array.from({ length: 24 }, (_, hour) => 24 + hour),
  )
  assert.equal(second!.load, null)
})

test('a missing hour is interpolated', () => {
  const [day] = marketDays(periodsFrom('2024-03-30T23:00Z', 23), 'Europe/Berlin')
  assert.equal(day!.periods.length, 23)
  assert.equal(day!.periods[2]!.clock_minute, 180)
  const prices = hourly(day!.price)
  assert.deepEqual([prices[1], prices[3], prices[23]], [1, 2, 22])
  assert.ok(Math.abs(prices[2]! - 1.5) < 1e-12)
})

test('quarter hours follow the clock across its change', () => {
  const [day] = marketDays(periodsFrom('2024-03-30T23:00Z', 92, 15), 'Europe/Berlin')
  const minutes = day!.periods.map(({ clock_minute }) => clock_minute)
  assert.deepEqual(minutes.slice(6, 10), [90, 105, 180, 195])
  assert.equal(minutes.at(-1), 1425)
})

test('a repeated hour has two periods, and their mean in the curve', () => {
  const [day] = marketDays(periodsFrom('2024-10-26T22:00Z', 25), 'Europe/Berlin')
  assert.deepEqual(
    day!.periods.slice(1, 5).map(({ clock_minute }) => clock_minute),
    [60, 120, 120, 180],
  )
  const prices = hourly(day!.price)
  assert.deepEqual([prices[1], prices[2], prices[3], prices[23]], [1, 2.5, 4, 24])
})

test('the resolution of the periods does not change the curve', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(5, 15, 30),
      fc.array(fc.integer({ min: -500, max: 500 }), { minLength: 24, maxLength: 24 }),
      (minutes, prices) => {
        const day = (length: number) =>
          marketDays(
            periodsFrom('2024-05-01T00:00Z', 1440 / length, length).map((period) => ({
              ...period,
              price_per_mwh: prices[new Date(period.start_ms).getUTCHours()]!,
            })),
            'UTC',
          )[0]!
        assert.deepEqual(day(minutes).price, day(60).price)
        assert.equal(resolutionMinutes(day(minutes)), minutes)
      },
    ),
  )
})

test('gaps are bridged, and a day mostly unknown has no curve', () => {
  const holed = (is_known: (hour: number) => boolean) =>
    marketDays(
      periodsFrom('2024-05-01T00:00Z', 24).map((period, hour) =>
        is_known(hour) ? period : { ...period, price_per_mwh: null },
      ),
      'UTC',
    )[0]!.price
  assert.deepEqual(hourly(holed((hour) => hour > 1 && hour < 22)).slice(0, 3), [2, 2, 2])
  assert.equal(hourly(holed((hour) => hour !== 9))[9], 9)
  assert.equal(
    holed((hour) => hour >= 6),
    null,
  )
})

test('periods out of order are refused', () => {
  const [first, second] = periodsFrom('2024-05-01T00:00Z', 2)
  const refused = (...periods: MarketPeriod[]) =>
    assert.throws(() => marketDays(periods, 'UTC'), /RangeError: period at /)
  refused(second!, first!)
  refused(first!, first!)
  refused({ ...first!, end_ms: first!.start_ms })
  assert.throws(() => marketDays([first!], 'Europe/Atlantis'), RangeError)
})
