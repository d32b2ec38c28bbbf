import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import type { FeatureTable } from './feature-table.ts'
import { type MarketDay, type MarketPeriod, marketDays } from './market-days.ts'
import {
  dayFeatures,
  destabilise,
  knownCurves,
  knownDrivers,
  periodFeatures,
  priceScale,
  stabilise,
  usualCurve,
} from './price-features.ts'

const monday = Date.parse('2024-05-06') / (24 * hour_ms)

/** Days from a Monday on; prices, load and renewables by the hour since then. */
function market(count: number, of: (hour: number) => Partial<MarketPeriod>): MarketDay[] {
  const periods = Array.from({ length: 24 * count }, (_, hour) => ({
    start_ms: (24 * monday + hour) * hour_ms,
    end_ms: (24 * monday + hour + 1) * hour_ms,
    price_per_mwh: null,
    load_mw: null,
    renewables_mw: null,
    ...of(hour),
  }))
  return marketDays(periods, 'UTC')
}

const row = (table: FeatureTable, position: number): Record<string, number> =>
  Object.fromEntries(table.names.map((name, c) => [name, table.columns[c]![position]!]))

/** Stabilising that leaves numbers this small as they are, so that features can be read. */
const identity = { median: 0, spread: 1e9 }
const readable = (value: number | undefined) => Math.round(value! * 1e9)

test('transformed prices convert back', () => {
  const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
  fc.assert(
    fc.property(number(-500, 4000), number(-100, 300), number(5, 200), (price, median, spread) => {
      const back = destabilise(stabilise(price, { median, spread }), { median, spread })
      assert.ok(Math.abs(back - price) < 1e-6, `${back}, not ${price}`)
    }),
  )
})

test('the scale is the median and the spread around it, robust to spikes', () => {
  const days = market(4, (hour) => ({ price_per_mwh: hour === 50 ? 4000 : 40 + (hour % 3) }))
  assert.deepEqual(priceScale(days), { median: 41, spread: 1 / 0.6745 })
  assert.equal(priceScale(market(1, () => ({ price_per_mwh: 80 }))).spread, 0.8)
  assert.throws(() => priceScale([]), /none has prices/)
})

test('the usual price is the mean of the day before and of the week before', () => {
  const days = market(8, (hour) => ({ price_per_mwh: hour >= 7 * 24 ? 40 : 10 }))
  const curves = knownCurves(days, identity)
  const eighth = (day: number) => readable(usualCurve(curves, monday + day)?.[30])
  assert.equal(eighth(7), 10)
  assert.equal(eighth(8), Math.round((40 + (40 + 6 * 10) / 7) / 2))
  assert.equal(usualCurve(curves, monday), null)
  assert.equal(usualCurve(curves, monday + 30), null)
})

test('drivers count if known for most days', () => {
  const known = (from: number) => (hour: number) => ({
    load_mw: 100,
    renewables_mw: hour >= from ? 10 : null,
  })
  assert.deepEqual(knownDrivers(market(4, known(0))), ['load', 'renewables', 'residual_load'])
  assert.deepEqual(knownDrivers(market(4, known(72))), ['load'])
})

test('features of a period belong to its time of day', () => {
  const days = market(16, (hour) => ({
    price_per_mwh: hour,
    load_mw: 1000 + hour,
    renewables_mw: 3 * (hour % 24),
  }))
  const drivers = knownDrivers(days)
  const table = periodFeatures(knownCurves(days, identity), [days[15]!], drivers)
  assert.equal(table.rows, 24)
  const features = row(table, 10)
  const hour = 15 * 24 + 10
  assert.equal(features['clock_minute'], 600)
  assert.equal(features['weekday'], 1)
  for (const lag of [1, 2, 3, 7, 14]) {
    assert.equal(readable(features[`price_d${lag}`]), hour - 24 * lag)
  }
  assert.equal(readable(features['price_week_mean']), hour - 4 * 24)
  assert.equal(readable(features['price_d1_h9']), hour - 25)
  assert.equal(readable(features['price_d1_max']), 15 * 24 - 1)
  assert.equal(features['load'], 1000 + hour)
  assert.equal(features['load_before'], 999 + hour)
  assert.equal(features['load_less_d7'], 168)
  assert.equal(features['residual_load'], 1000 + hour - 30)
  assert.equal(features['renewables_rank'], 10 / 24)
})

test('features of a day are the hours of the days before', () => {
  const days = market(9, (hour) => ({ price_per_mwh: hour, load_mw: 2 * hour }))
  const table = dayFeatures(knownCurves(days, identity), [days[8]!.day], ['load'])
  const features = row(table, 0)
  assert.equal(readable(features['price_d7_h5']), 29)
  assert.equal(features['load_d0_h23'], 2 * (8 * 24 + 23))
  assert.equal(features['weekday_1'], 1)
  assert.equal(table.names.filter((name) => name.startsWith('renewables')).length, 0)
})

test('a missing day is replaced by the newest before it', () => {
  const days = market(9, (hour) => ({ price_per_mwh: hour })).filter((_, i) => i !== 7)
  const [last] = days.slice(-1)
  const features = row(periodFeatures(knownCurves(days, identity), [last!], []), 0)
  assert.equal(readable(features['price_d1']), 6 * 24)
  const unknown = row(periodFeatures(knownCurves([], identity), [last!], []), 0)
  assert.ok(Number.isNaN(unknown['price_d1']))
})
