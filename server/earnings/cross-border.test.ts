import assert from 'node:assert/strict'
import test from 'node:test'
import { addPlantHours } from '../fixtures/plant-hours.ts'
import { servedSite } from '../fixtures/served-site.ts'
import type { Database } from '../storage/database.ts'

async function addPrices(
  db: Database,
  market_code: string,
  { day, minutes, price }: { day: string; minutes: number; price: number },
) {
  await db.execute(
    `INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
       fetched_at)
     SELECT $1, 'day_ahead', at, at + $3 * interval '1 minute', $4, 1, 'csv', now()
     FROM generate_series($2::timestamptz, $2::timestamptz + interval '23 hours 59 minutes',
       $3 * interval '1 minute') AS at`,
    [market_code, `${day}T00:00:00Z`, minutes, price],
  )
}

interface Contract {
  logger_id: number
  sold?: string
  from?: string
  to?: string
}

async function setContracts(db: Database, contracts: readonly Contract[]) {
  await db.execute('DELETE FROM market_assignments')
  for (const { logger_id, sold = null, from = '2026-01-01', to = null } of contracts) {
    await db.execute(
      `INSERT INTO market_assignments (site_id, logger_id, market_code, sold_market_code,
         contract_type, pays_at_negative_price, currency, valid_from, valid_to)
       VALUES ('demo', $1, 'BE', $2, 'spot', true, 'EUR', $3, $4)`,
      [logger_id, sold, from, to],
    )
  }
}

interface Charged {
  logger_id: number | null
  basis?: string
  value: number
  currency?: string | null
}

async function setFees(db: Database, fees: readonly Charged[]) {
  await db.execute('DELETE FROM fees')
  for (const [nth, { logger_id, basis = 'per_mwh', value, currency = 'EUR' }] of fees.entries()) {
    await db.execute(
      `INSERT INTO fees (site_id, logger_id, code, name, basis, value, currency, valid_from)
       VALUES ('demo', $1, 'cross_border', $2, $3, $4, $5, '2026-01-01')`,
      [logger_id, `fee ${nth}`, basis, value, currency],
    )
  }
}

const addEnergy = (db: Database) =>
  addPlantHours(db, { logger_ids: [1, 2], from: '2026-06-20T00:00Z', to: '2026-06-20T23:00Z' })

test('two markets beside each other', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  clock.set('2026-06-25T00:00:00Z')
  const read = async (start: string, end = start) =>
    (await get(`/earnings/cross-border-prices?base=BE&sold=NL&start=${start}&end=${end}`)).body

  await t.test('a period counts by its length', async () => {
    await addPrices(db, 'BE', { day: '2026-03-01', minutes: 60, price: 100 })
    await addPrices(db, 'BE', { day: '2026-03-02', minutes: 15, price: 0 })
    await addPrices(db, 'NL', { day: '2026-03-01', minutes: 60, price: 110 })
    await addPrices(db, 'NL', { day: '2026-03-02', minutes: 15, price: 0 })
    const { summary } = (await read('2026-03-01', '2026-03-02')).meta
    assert.deepEqual([summary.period_count, summary.complete_count], [24 + 96, 24 + 96])
    assert.deepEqual([summary.mean_base_price_per_mwh, summary.mean_sold_price_per_mwh], [50, 55])
    assert.equal(summary.mean_spread_per_mwh, 5)
    assert.deepEqual([summary.positive_spread_pct, summary.equal_price_pct], [50, 50])
  })

  await addPrices(db, 'BE', { day: '2026-06-20', minutes: 15, price: 50 })
  await addPrices(db, 'NL', { day: '2026-06-20', minutes: 15, price: 60 })
  const net = async () => {
    const [{ net_spread_per_mwh, favourable, reason }] = (await read('2026-06-20')).data
    return [net_spread_per_mwh, favourable, reason]
  }
  const both = [{ logger_id: 1 }, { logger_id: 2 }]

  await t.test('what one plant pays at the border is paid by it', async () => {
    await setContracts(db, [{ logger_id: 1, sold: 'NL' }, { logger_id: 2 }])
    await setFees(db, [{ logger_id: 1, value: 30 }])
    assert.deepEqual(await net(), [-20, false, null])
    // No contract sells across it: then plants in the base market might.
    await setContracts(db, both)
    assert.deepEqual(await net(), [null, null, 'fees_differ'])
    await setFees(db, [
      { logger_id: 1, value: 30 },
      { logger_id: 2, value: 30 },
    ])
    assert.deepEqual(await net(), [-20, false, null])
    await setContracts(db, [])
    await setFees(db, [{ logger_id: null, value: 4 }])
    assert.deepEqual(await net(), [6, true, null])
  })

  await t.test('plants of another time, or retired, do not', async () => {
    await setFees(db, [{ logger_id: 1, value: 30 }])
    await setContracts(db, [
      { logger_id: 1, from: '2026-06-01' },
      { logger_id: 2, to: '2026-06-19' },
    ])
    assert.deepEqual((await read('2026-06-20')).data.at(-1).net_spread_per_mwh, -20)
    await setContracts(db, both)
    await db.execute("UPDATE loggers SET retired_at = '2026-06-19' WHERE logger_id = 2")
    assert.deepEqual(await net(), [-20, false, null])
    await db.execute('UPDATE loggers SET retired_at = NULL')
  })

  await t.test('percent is of the price sold at, and other currencies are converted', async () => {
    await setContracts(db, both)
    await setFees(db, [
      { logger_id: null, basis: 'percent', value: 5, currency: null },
      { logger_id: null, basis: 'per_mwh', value: 1.95583, currency: 'BGN' },
      { logger_id: null, basis: 'per_month', value: 1000 },
    ])
    assert.deepEqual(await net(), [6, true, null])
    await setFees(db, [{ logger_id: null, value: 1, currency: 'HUF' }])
    assert.deepEqual(await net(), [null, null, 'no_exchange_rate'])
    await setFees(db, [])
    assert.equal((await read('2026-06-19')).data[0].reason, 'no_price')
  })

  await t.test('captured prices are of plants while they are in the market', async () => {
    await addEnergy(db)
    await db.query(`
      UPDATE logger_hours SET energy_kwh = 1000, quarter_kwh = ARRAY[1000, 0, 0, 0]
      WHERE logger_id = 2 AND hour_at = '2026-06-20T12:00Z';
      UPDATE market_prices SET price = 1000
      WHERE market_code = 'NL' AND start_at = '2026-06-20T12:00Z'`)
    const captured = async (contracts: readonly Contract[]) => {
      await setContracts(db, contracts)
      return (await read('2026-06-20')).meta.summary.captured_sold_price_per_mwh
    }
    const alone = await captured([{ logger_id: 1 }])
    assert.equal(alone, 69.7917)
    assert.ok(Math.abs(alone - (95 * 60 + 1000) / 96) < 1e-4)
    const former = { logger_id: 2, from: '2020-01-01', to: '2020-12-31' }
    assert.equal(await captured([{ logger_id: 1 }, former]), alone)
    // In Brussels the 20th ends at 22:00Z.
    const later = { logger_id: 1, from: '2026-06-21' }
    assert.equal(await captured([later]), 60)
    assert.equal(await captured(both), 701.0544)
  })
})
