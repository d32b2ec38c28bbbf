import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import {
  CurveFault,
  deliveryDates,
  deliveryDay,
  expandCurve,
  holesIn,
  mergePeriods,
  type PricePeriod,
  resolutionOf,
  slotsOf,
  utcDay,
} from './periods.ts'

const cet = 'Europe/Berlin'
const iso = (time_ms: number) => new Date(time_ms).toISOString()
const hoursOf = ({ start_ms, end_ms }: { start_ms: number; end_ms: number }) =>
  (end_ms - start_ms) / hour_ms

test('delivery days have 23, 24 and 25 hours, UTC days 24', () => {
  assert.equal(hoursOf(deliveryDay('2026-03-29', cet)), 23)
  assert.equal(hoursOf(deliveryDay('2026-06-21', cet)), 24)
  assert.equal(hoursOf(deliveryDay('2026-10-25', cet)), 25)
  assert.equal(iso(deliveryDay('2026-10-25', cet).start_ms), '2026-10-24T22:00:00.000Z')
  assert.equal(hoursOf(utcDay('2026-03-29')), 24)
})

test('a UTC day shares time with two delivery days, in UTC itself with one', () => {
  assert.deepEqual(deliveryDates(utcDay('2026-06-21'), cet), ['2026-06-21', '2026-06-22'])
  assert.deepEqual(deliveryDates(utcDay('2026-06-21'), 'UTC'), ['2026-06-21'])
})

const curve = (points: [position: number, price: number][], count: number) => ({
  start_ms: 0,
  end_ms: count * hour_ms,
  resolution_ms: hour_ms,
  points: points.map(([position, price_micro]) => ({ position, price_micro })),
})

test('a curve that holds fills up to the end of its period, another one does not', () => {
  const sparse = curve(
    [
      [6, 60],
      [1, 50],
      [3, 55],
    ],
    8,
  )
  const prices = (holds: boolean) => expandCurve({ ...sparse, holds }).map((p) => p.price_micro)
  assert.deepEqual(prices(true), [50, 50, 55, 55, 55, 60, 60, 60])
  assert.deepEqual(prices(false), [50, 55, 60])
  const late = expandCurve({ ...curve([[3, 55]], 4), holds: true })
  assert.deepEqual(
    late.map(({ start_ms }) => start_ms / hour_ms),
    [2, 3],
    'before the first point nothing is known',
  )
})

test('a curve that contradicts itself is refused', () => {
  const refused = (points: [number, number][], count = 2) => {
    assert.throws(() => expandCurve({ ...curve(points, count), holds: true }), CurveFault)
  }
  refused([[3, 1]])
  refused([[0, 1]])
  refused([[1.5, 1]])
  refused([[Number.NaN, 1]])
  refused([
    [1, 1],
    [1, 2],
  ])
  refused([[1, 1]], 0)
  refused([[1, 1]], 1.5)
})

const period = (start_q: number, quarters: number, price_micro: number): PricePeriod => ({
  start_ms: start_q * quarter_ms,
  end_ms: (start_q + quarters) * quarter_ms,
  price_micro,
})

test('finer periods stand before coarser ones, which fill whole what is left', () => {
  const hours = [period(0, 4, 100), period(4, 4, 200), period(8, 4, 300)]
  const quarters = [period(4, 1, 10), period(5, 1, 20), period(6, 1, 30), period(7, 1, 40)]
  assert.deepEqual(mergePeriods([hours, quarters]), [hours[0], ...quarters, hours[2]])
  // The price of the hour is not that of its fourth quarter.
  assert.deepEqual(mergePeriods([hours, quarters.slice(0, 3)]), [
    hours[0],
    ...quarters.slice(0, 3),
    hours[2],
  ])
  assert.deepEqual(mergePeriods([hours, hours]), hours, 'the same twice is the same')
  assert.throws(() => mergePeriods([hours, [period(0, 4, 101)]]), CurveFault)
  assert.throws(() => mergePeriods([hours, [period(2, 4, 100)]]), CurveFault)
})

/** Periods of a day on their grid, some absent, of one resolution. */
const series = fc
  .record({
    quarters: fc.constantFrom(1, 2, 4),
    prices: fc.array(fc.option(fc.integer({ min: -5e8, max: 4e9 })), {
      minLength: 1,
      maxLength: 96,
    }),
  })
  .map(({ quarters, prices }) =>
    prices
      .slice(0, 96 / quarters)
      .flatMap((price, nth) => (price === null ? [] : [period(nth * quarters, quarters, price)])),
  )

const distinct = (all: PricePeriod[][]) =>
  new Set(all.map((one) => (one[0] ? one[0].end_ms - one[0].start_ms : 0))).size === all.length

test('merged series never overlap, ascend, and take no price from where there is none', () => {
  fc.assert(
    fc.property(fc.array(series, { maxLength: 3 }).filter(distinct), (all) => {
      const merged = mergePeriods(all)
      for (const [index, each] of merged.entries()) {
        if (index > 0) assert.ok(merged[index - 1]!.end_ms <= each.start_ms)
        assert.ok(all.flat().some((given) => given === each))
        const finer = all.flat().filter((other) => {
          return other.end_ms - other.start_ms < each.end_ms - each.start_ms
        })
        assert.ok(finer.every((f) => f.end_ms <= each.start_ms || f.start_ms >= each.end_ms))
      }
    }),
  )
})

test('the slots of a span are its periods and its holes, without a gap', () => {
  const day = { start_ms: 0, end_ms: 96 * quarter_ms }
  fc.assert(
    fc.property(
      series,
      fc.constantFrom(15 as const, 30 as const, 60 as const),
      (periods, usual) => {
        const resolution = resolutionOf(periods, usual)
        const slots = slotsOf(periods, day, resolution)
        let at = day.start_ms
        for (const slot of slots) {
          assert.equal(slot.start_ms, at)
          at = slot.end_ms
        }
        assert.equal(at, day.end_ms)
        const known = slots.filter(({ price_micro }) => price_micro !== null)
        assert.deepEqual(known, periods)
        assert.equal(slots.length, 96 / (resolution / 15))
        const hole_ms = holesIn(periods, day).reduce((sum, { start_ms, end_ms }) => {
          return sum + end_ms - start_ms
        }, 0)
        assert.equal(hole_ms, (slots.length - known.length) * resolution * 60_000)
      },
    ),
  )
})

test('a day has so many periods: 92, 96 or 100 quarters, 23, 24 or 25 hours', () => {
  const count = (date: string, minutes: 15 | 30 | 60) =>
    slotsOf([], deliveryDay(date, cet), minutes).length
  const days = ['2026-03-29', '2026-06-21', '2026-10-25']
  assert.deepEqual(
    days.map((date) => count(date, 15)),
    [92, 96, 100],
  )
  assert.deepEqual(
    days.map((date) => count(date, 30)),
    [46, 48, 50],
  )
  assert.deepEqual(
    days.map((date) => count(date, 60)),
    [23, 24, 25],
  )
  assert.deepEqual(
    ([15, 30, 60] as const).map((minutes) => slotsOf([], utcDay('2026-10-25'), minutes).length),
    [96, 48, 24],
  )
})
