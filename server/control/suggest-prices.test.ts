import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { QuarterPrice } from '../contracts/plant-prices.ts'
import { hoursOf } from './suggest.ts'
import { lostTo, pricedQuarters, priceMetrics, priceWindows } from './suggest-prices.ts'

const nine = Date.parse('2026-06-21T09:00:00Z')
const plant = { logger_id: 1, rated_power_kw: 200 }

const priced = (euros: number, more: Partial<QuarterPrice> = {}): QuarterPrice => ({
  currency: 'EUR',
  market_price: euros * 1e6,
  is_estimate: false,
  price: euros * 1e6,
  net_price: euros * 1e6,
  reason: null,
  ...more,
})

/** Hours from 09:00Z of these powers, and the prices of their quarters. */
function quartersOf(powers: readonly (number | null)[], prices: readonly (QuarterPrice | null)[]) {
  const hours = hoursOf({ start_ms: nine, end_ms: nine + powers.length * hour_ms }).map(
    (hour, nth) => ({ ...hour, p10_kw: null, p50_kw: powers[nth]!, p90_kw: null, days: 14 }),
  )
  return pricedQuarters(hours, (at_ms) => prices[(at_ms - nine) / (hour_ms / 4)] ?? null)
}

const times = (quarters: ReturnType<typeof quartersOf>) =>
  priceWindows(quarters, plant).map(({ start_at, end_at, reason, basis }) =>
    [start_at.slice(11, 16), end_at.slice(11, 16), reason, basis].join(' '),
  )

test('quarters in a row are one window, and what pays is none', () => {
  const [low, high] = [priced(-5), priced(1)]
  const prices = [high, high, low, low, low, low, low, high, low, high, high, high]
  assert.deepEqual(times(quartersOf([100, 100, 100], prices)), [
    '09:30 10:45 negative_price day_ahead',
    '11:00 11:15 negative_price day_ahead',
  ])
  assert.deepEqual(times(quartersOf([100], [priced(0), priced(0), high, high])), [])
})

test('another reason or another basis is another window', () => {
  const fees = priced(1, { net_price: -1e6 })
  const guess = priced(-5, { is_estimate: true })
  assert.deepEqual(times(quartersOf([100], [fees, priced(-5), guess, guess])), [
    '09:00 09:15 fees_above_price day_ahead',
    '09:15 09:30 negative_price day_ahead',
    '09:30 10:00 negative_price price_forecast',
  ])
})

test('where a plant pays or nothing is known of the price, there is none', () => {
  const feed_in = priced(-50, { price: 80e6, net_price: 78e6 })
  const unknown = priced(0, {
    market_price: null,
    price: null,
    net_price: null,
    reason: 'no_price',
  })
  assert.deepEqual(times(quartersOf([100], [feed_in, feed_in, unknown, null])), [])
})

test('a window is worth what is expected in it, to the micro', () => {
  const low = priced(-7.123456, { net_price: -9.273456e6 })
  const [window] = priceWindows(quartersOf([100.1, 1.5], [...Array(8)].fill(low)), plant)
  // 1.5 kW are below the least limit: no command could keep anything of them back.
  assert.equal(window!.end_at, '2026-06-21T10:00:00.000Z')
  assert.deepEqual([window!.suggested_limit_pct, window!.suggested_limit_kw], [1, 2])
  assert.equal(window!.expected_energy_kwh, 100.1)
  assert.equal(window!.expected_net_amount, (-4 * Math.round(25_025 * 9.273456)) / 1e6)
  assert.equal(window!.expected_curtailed_energy_kwh, 98.1)
  assert.equal(window!.expected_saving_amount, (4 * Math.round(24_525 * 9.273456)) / 1e6)
  assert.deepEqual([window!.avg_price_per_mwh, window!.avg_net_price_per_mwh], [-7.1235, -9.2735])
})

test('energy that is not known has no worth, and the window is told all the same', () => {
  const [window] = priceWindows(quartersOf([null], [...Array(4)].fill(priced(-5))), plant)
  assert.deepEqual(
    [window!.expected_energy_kwh, window!.expected_net_amount, window!.expected_saving_amount],
    [null, null, null],
  )
})

test('what a limit loses and what it saves are told apart', () => {
  const quarters = quartersOf([100], [priced(40), priced(40), priced(-10), priced(-10)])
  assert.deepEqual(lostTo(60, quarters), {
    expected_lost_revenue_amount: 0.8,
    avoided_cost_amount: 0.2,
  })
  assert.deepEqual(priceMetrics(quarters), {
    price_basis: 'day_ahead',
    currency: 'EUR',
    avg_price_per_mwh: 15,
    negative_price_min: 30,
    money_reason: null,
  })
})

test('a price that is missing makes unknown what needs it, and no more', () => {
  const gone = priced(0, { market_price: null, price: null, net_price: null, reason: 'no_price' })
  const hours = [...[1, 2, 3, 4].map(() => priced(40)), gone, gone, gone, gone]
  const quarters = quartersOf([100, 20], hours)
  assert.deepEqual(priceMetrics(quarters), {
    price_basis: 'day_ahead',
    currency: 'EUR',
    avg_price_per_mwh: null,
    negative_price_min: null,
    money_reason: 'no_price',
  })
  assert.equal(lostTo(60, quarters)!.expected_lost_revenue_amount, 1.6)
  assert.equal(lostTo(10, quarters), null)
  const bare = priceMetrics(quartersOf([100], []))
  assert.deepEqual(
    [bare.price_basis, bare.currency, bare.money_reason],
    ['none', null, 'no_contract'],
  )
  const mixed = [priced(1), priced(1), priced(1, { currency: 'BGN' }), priced(1)]
  const figures = priceMetrics(quartersOf([100], mixed))
  assert.deepEqual([figures.avg_price_per_mwh, figures.money_reason], [null, 'no_exchange_rate'])
  assert.equal(lostTo(10, quartersOf([100], mixed)), null)
  const charged = quartersOf([100], [...Array(4)].fill(priced(-1, { net_price: null })))
  assert.equal(priceMetrics(charged).money_reason, 'no_exchange_rate')
  assert.deepEqual(priceWindows(charged, plant), [])
})
