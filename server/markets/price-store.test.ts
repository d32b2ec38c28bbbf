import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { testDatabase } from '../../test/postgres.ts'
import type { PricePeriod } from './periods.ts'
import { type PriceKind, readPrices } from './price-store.ts'

const start_ms = Date.parse('2026-06-01T00:00Z')
const days = 45

/** Periods of a quarter hour up to a day, one after the other, with holes. */
function publishedPeriods(): PricePeriod[] {
  const periods: PricePeriod[] = []
  let at = start_ms
  for (let nth = 0; at < start_ms + days * day_ms; nth += 1) {
    const length_ms = [0.25, 0.5, 1, 3, 24][nth % 5]! * hour_ms
    const price_micro = (nth % 2 === 0 ? 1 : -1) * (nth * 1_234_567 + 89)
    if (nth % 7 !== 0) periods.push({ start_ms: at, end_ms: at + length_ms, price_micro })
    at += length_ms
  }
  return periods
}

test('the prices of any time are those that share it, each once, exact and in order', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  const published = publishedPeriods()
  await db.execute(
    `INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
       fetched_at, is_current)
     SELECT 'FI', 'day_ahead', to_timestamp(start_s), to_timestamp(end_s),
       price * 0.000001 + (2 - revision), revision, 'csv', now(), revision = 2
     FROM unnest($1::float8[], $2::float8[], $3::bigint[]) AS p (start_s, end_s, price),
       generate_series(1, 2) AS revision`,
    [
      published.map((period) => period.start_ms / 1000),
      published.map((period) => period.end_ms / 1000),
      published.map(({ price_micro }) => price_micro),
    ],
  )
  const read = (kind: PriceKind, from_ms: number, to_ms: number) =>
    readPrices(db, { market_code: 'FI', kind }, { start_ms: from_ms, end_ms: to_ms })
  const minute = fc.integer({ min: -2 * 1440, max: (days + 2) * 1440 })
  await fc.assert(
    fc.asyncProperty(minute, minute, async (one, other) => {
      const from_ms = start_ms + Math.min(one, other) * 60_000
      const to_ms = start_ms + Math.max(one, other) * 60_000
      assert.deepEqual(
        await read('day_ahead', from_ms, to_ms),
        published.filter((period) => period.start_ms < to_ms && period.end_ms > from_ms),
      )
    }),
    { numRuns: 50 },
  )
  assert.deepEqual(await read('imbalance', 0, start_ms + days * day_ms), [])
})
