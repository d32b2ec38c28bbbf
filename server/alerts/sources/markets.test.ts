import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { PricePeriod } from '../../markets/periods.ts'
import { after, contextOf, noon, useSourceSite } from '../fixtures/source-site.ts'
import { findMarkets, missing, negativeNow } from './markets.ts'

const sourceSite = useSourceSite()

const market = {
  market_code: 'DE-LU',
  name: 'Germany',
  currency: 'EUR',
  timezone: 'Europe/Berlin',
  publication_local: '12:57',
}
const quarters = (from_minute: number, prices: number[]): PricePeriod[] =>
  prices.map((price, nth) => {
    const start_ms = after(from_minute + 15 * nth).getTime()
    return { start_ms, end_ms: start_ms + hour_ms / 4, price_micro: Math.round(price * 1e6) }
  })

test('a negative price is told from its begin to its end, with the lowest that is to come', () => {
  const told = (prices: number[], below = 0) =>
    negativeNow(market, quarters(-30, prices), { now: after(5), below })
  const [finding] = told([5, -40, -1.5, -2, -12.5, 0, -99])
  assert.deepEqual(finding?.since, after(-15))
  assert.equal(
    finding?.message,
    'The price of DE-LU is -1.5 EUR/MWh, below 0 until 2026-06-21 10:45 UTC; the lowest is -12.5.',
  )
  assert.deepEqual([finding?.value, finding?.threshold, finding?.unit], [-1.5, 0, 'EUR/MWh'])
  assert.deepEqual(told([-5, -5, 0, -5]), [])
  assert.deepEqual(told([-5, -5, -5], -20), [])
  assert.equal(told([-5, -5, 19, 30], 20).length, 1)
  assert.deepEqual(negativeNow(market, [], { now: noon, below: 0 }), [])
})

test('prices of tomorrow are missed once they are late, and those of today at once', () => {
  // 12:57 at the market is 10:57 UTC; three hours later is 13:57.
  const told = (until_hour_utc: number, now: string) => {
    const end_ms = Date.UTC(2026, 5, 21, until_hour_utc)
    const known = [{ start_ms: Date.UTC(2026, 5, 20), end_ms }]
    const [finding] = missing(market, known, { now: new Date(now), late_ms: 3 * hour_ms })
    return finding && [finding.since.toISOString(), finding.message]
  }
  assert.equal(told(22, '2026-06-21T13:56:00Z'), undefined)
  assert.deepEqual(told(22, '2026-06-21T13:57:00Z'), [
    '2026-06-21T13:57:00.000Z',
    'Day-ahead prices of DE-LU are missing for 24 hours between 2026-06-21 22:00 and 2026-06-22 22:00 UTC.',
  ])
  assert.equal(told(46, '2026-06-21T20:00:00Z'), undefined)
  assert.equal(told(20, '2026-06-21T08:00:00Z')?.[0], '2026-06-20T13:57:00.000Z')
  assert.match(
    told(45.5, '2026-06-21T20:00:00Z')?.[1] ?? '',
    /missing for 1 hours between 2026-06-22 21:00/,
  )
})

test('a hole in the middle is told, and what is over is not missed', () => {
  const known = [
    { start_ms: after(60).getTime(), end_ms: after(120).getTime() },
    { start_ms: after(150).getTime(), end_ms: after(24 * 60).getTime() },
  ]
  const [finding] = missing(market, known, { now: after(90), late_ms: 3 * hour_ms })
  assert.match(
    finding?.message ?? '',
    /missing for 0.5 hours between 2026-06-21 12:00 and 2026-06-21 12:30/,
  )
})

test('markets are those that plants in service are paid by, and whose prices come', async () => {
  const db = await sourceSite()
  await db.query(`
    insert into markets (market_code, name, currency, timezone, resolution_minutes)
    values ('XX', 'Own', 'EUR', 'Europe/Berlin', 60), ('YY', 'Sold', 'EUR', 'Europe/Berlin', 60);
    insert into market_assignments (site_id, logger_id, market_code, sold_market_code,
      contract_type, currency, pays_at_negative_price, valid_from)
    values ('demo', 2, 'XX', 'YY', 'spot', 'EUR', true, '2026-01-01')`)
  const found = async () => {
    const { findings } = await findMarkets(contextOf(db))
    return findings.map(({ code, source_id }) => `${code} ${source_id}`)
  }
  assert.deepEqual(await found(), [], 'no price ever came')
  await db.query(`
    insert into market_prices (market_code, kind, start_at, revision, end_at, price, source,
      fetched_at)
    select m, 'day_ahead', '2026-06-21T09:00Z'::timestamptz + n * interval '1 hour', 1,
      '2026-06-21T10:00Z'::timestamptz + n * interval '1 hour', -3, 'csv', now()
    from unnest('{XX,YY}'::text[]) as m, generate_series(0, 3) as n`)
  assert.deepEqual(await found(), ['price_negative YY', 'prices_missing YY'])
  await db.query('update loggers set retired_at = now()')
  assert.deepEqual(await found(), [])
})
