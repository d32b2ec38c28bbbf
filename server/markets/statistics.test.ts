import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { type Slot, slotsOf, utcDay } from './periods.ts'
import { priceStatistics, publicationTime, ranksOf } from './statistics.ts'

const iso = (time_ms: number) => new Date(time_ms).toISOString()

/** Hours of 21 June in UTC; a price each. */
const hours = (prices: readonly (number | null)[]): Slot[] =>
  prices.map((price_micro, hour) => {
    const start_ms = utcDay('2026-06-21').start_ms + hour * hour_ms
    return { start_ms, end_ms: start_ms + hour_ms, price_micro }
  })
const day_end_ms = utcDay('2026-06-21').end_ms
const figures = (
  slots: Slot[],
  weightOf: ((hour: number) => number) | null = null,
  until_ms = day_end_ms,
) =>
  priceStatistics(slots, {
    timezone: 'Europe/Berlin',
    until_ms,
    solar_weight: weightOf && (({ start_ms }) => weightOf(new Date(start_ms).getUTCHours())),
  })
const ascending = Array.from({ length: 24 }, (_, hour) => hour * 1_000_000)

test('base, peak, extremes and negative periods of a day', () => {
  const { base_micro, peak_micro, min_micro, max_micro, negative_count } = figures(
    hours(ascending.map((micro) => micro - 2_000_000)),
  )
  assert.equal(base_micro, 9_500_000)
  // 08:00 to 20:00 in Berlin are the UTC hours 6 to 17.
  assert.equal(peak_micro, 9_500_000)
  assert.deepEqual([min_micro, max_micro, negative_count], [-2_000_000, 21_000_000, 2])
})

test('the base price is of the time before an instant, and only that has to be known', () => {
  const slots = hours(ascending.map((micro, hour) => (hour < 22 ? micro : null)))
  const until = (hour: number) => figures(slots, null, slots[0]!.start_ms + hour * hour_ms)
  assert.equal(until(24).base_micro, null)
  assert.equal(until(22).base_micro, 10_500_000)
  // Half of the third hour.
  assert.equal(until(2.5).base_micro, (0 + 1_000_000 + 0.5 * 2_000_000) / 2.5)
  assert.equal(until(0).base_micro, null)
})

test('a mean with an unknown price in it is unknown; one outside of it does no harm', () => {
  const night_unknown = hours(ascending.map((micro, hour) => (hour === 2 ? null : micro)))
  const light = (hour: number) => (hour >= 4 && hour <= 18 ? 1 : 0)
  const night = figures(night_unknown, light)
  assert.equal(night.base_micro, null)
  assert.equal(night.peak_micro, 11_500_000)
  assert.equal(night.solar_micro, 11_000_000)
  const noon_unknown = hours(ascending.map((micro, hour) => (hour === 10 ? null : micro)))
  const noon = figures(noon_unknown, light)
  assert.deepEqual([noon.peak_micro, noon.solar_micro], [null, null])
  assert.equal(noon.max_micro, 23_000_000)
})

test('without any price there are no figures; without light none weighted by it', () => {
  assert.deepEqual(figures(hours([null, null])), {
    base_micro: null,
    peak_micro: null,
    min_micro: null,
    max_micro: null,
    negative_count: null,
    solar_micro: null,
  })
  assert.equal(figures(hours(ascending), () => 0).solar_micro, null)
  assert.equal(figures(hours(ascending)).solar_micro, null)
})

test('quarters and the hours that are their means have the same base price', () => {
  const day = utcDay('2026-06-21')
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -500_00, max: 4000_00 }), { minLength: 96, maxLength: 96 }),
      (cents) => {
        const quarters = slotsOf([], day, 15).map((slot, nth) => {
          return { ...slot, price_micro: cents[nth]! * 40_000 }
        })
        const means = slotsOf([], day, 60).map((slot, hour) => {
          const four = quarters.slice(4 * hour, 4 * hour + 4)
          return { ...slot, price_micro: four.reduce((sum, q) => sum + q.price_micro, 0) / 4 }
        })
        const zone = { timezone: 'Europe/Berlin', solar_weight: null, until_ms: day_end_ms }
        const [fine, coarse] = [priceStatistics(quarters, zone), priceStatistics(means, zone)]
        assert.equal(fine.base_micro, coarse.base_micro)
        assert.equal(fine.peak_micro, coarse.peak_micro)
      },
    ),
  )
})

test('the dearest period ranks first, equal ones share a rank, unknown ones have none', () => {
  assert.deepEqual(ranksOf(hours([5, 9, null, 9, -1])), [3, 1, null, 1, 4])
})

test('a day is published on the day before, by the clock of the market', () => {
  const at = (date: string, publication_local: string | null) =>
    iso(publicationTime({ timezone: 'Europe/Berlin', publication_local }, date))
  assert.equal(at('2026-06-22', '12:57'), '2026-06-21T10:57:00.000Z')
  assert.equal(at('2026-03-30', '12:57'), '2026-03-29T10:57:00.000Z')
  assert.equal(at('2026-03-29', '12:57'), '2026-03-28T11:57:00.000Z')
  assert.equal(at('2026-06-22', null), '2026-06-21T12:00:00.000Z')
})
