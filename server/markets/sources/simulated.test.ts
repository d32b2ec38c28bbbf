import assert from 'node:assert/strict'
import test from 'node:test'
import { addDays } from '@heliograph/domain/utc-day'
import { deliveryDay, holesIn } from '../periods.ts'
import { testMarket } from './fixtures/documents.ts'
import { simulatedDay, simulatedSource } from './simulated.ts'

const market = { ...testMarket, market_code: 'DEMO', timezone: 'Europe/Berlin' }
const day = (date: string) => deliveryDay(date, market.timezone)
const needs = (now: string) => ({
  now: new Date(now),
  signal: new AbortController().signal,
  get: () => Promise.reject(new Error('nothing is asked')),
})
const year = Array.from({ length: 364 }, (_, nth) => addDays('2026-01-01', nth))

test('a day appears whole at its time of publication and is always the same', async () => {
  const early = await simulatedSource.fetchDay(
    market,
    day('2026-06-22'),
    needs('2026-06-21T10:56Z'),
  )
  assert.deepEqual(early, { outcome: 'none_yet' })
  const in_time = await simulatedSource.fetchDay(
    market,
    day('2026-06-22'),
    needs('2026-06-21T10:57Z'),
  )
  const later = await simulatedSource.fetchDay(
    market,
    day('2026-06-22'),
    needs('2027-01-01T00:00Z'),
  )
  assert.deepEqual(in_time, later)
  assert.ok(later.outcome === 'published')
  assert.equal(later.published_at?.toISOString(), '2026-06-21T10:57:00.000Z')
  assert.equal(later.periods.length, 96)
  const other = simulatedDay({ ...market, market_code: 'OTHER' }, day('2026-06-22'))
  assert.notDeepEqual(other, later.periods)
})

test('every day of a year is whole, also those of 92 and 100 quarters', () => {
  for (const date of year) {
    assert.deepEqual(holesIn(simulatedDay(market, day(date)), day(date)), [], date)
  }
  assert.equal(simulatedDay(market, day('2026-03-29')).length, 92)
  assert.equal(simulatedDay(market, day('2026-10-25')).length, 100)
})

test('prices are whole cents, below zero at noon of sunny weekends and dearest in the evening', () => {
  const prices = year.flatMap((date) => simulatedDay(market, day(date)))
  assert.ok(prices.every(({ price_micro }) => price_micro % 10_000 === 0))
  const mean = (hour: number) => {
    const of_hour = prices.filter(({ start_ms }) => new Date(start_ms).getUTCHours() === hour)
    return of_hour.reduce((sum, p) => sum + p.price_micro / 1e6, 0) / of_hour.length
  }
  assert.ok(mean(18) > mean(6) && mean(6) > mean(2) && mean(2) > mean(11))
  const negative = prices.filter(({ price_micro }) => price_micro < 0)
  const weekend = negative.filter(({ start_ms }) => [0, 6].includes(new Date(start_ms).getUTCDay()))
  assert.ok(negative.length > 0.01 * prices.length && negative.length < 0.1 * prices.length)
  assert.ok(weekend.length > 0.8 * negative.length)
})
