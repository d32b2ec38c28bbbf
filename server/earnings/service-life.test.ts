import assert from 'node:assert/strict'
import test from 'node:test'
import { addDays } from '@heliograph/domain/utc-day'
import { readPlantPrices } from '../contracts/plant-prices.ts'
import { addPlantHours } from '../fixtures/plant-hours.ts'
import { servedSite } from '../fixtures/served-site.ts'
import type { Database } from '../storage/database.ts'

/** Plant 1 has a contract since long before it was commissioned, and plant 2 too, and fees. */
async function addContracts(db: Database) {
  await db.query(`
    INSERT INTO market_assignments (site_id, logger_id, market_code, contract_type, fixed_price,
      pays_at_negative_price, currency, valid_from)
    SELECT 'demo', logger, 'BE', 'fixed_price', 50, true, 'EUR', '2020-01-01'
    FROM generate_series(1, 2) AS logger;
    INSERT INTO fees (site_id, code, name, basis, value, currency, valid_from) VALUES
      ('demo', 'market_fee', 'Access', 'per_month', 720, 'EUR', '2020-01-01'),
      ('demo', 'grid', 'Power', 'per_mw_month', 33.333333, 'EUR', '2020-01-01'),
      ('demo', 'tax', 'Levy', 'percent', 5, null, '2020-01-01')`)
}

/** From 04:00Z to 18:00Z of 31 May to 5 June. */
const addEnergy = (db: Database) =>
  addPlantHours(db, {
    logger_ids: [1, 2],
    from: '2026-05-31T00:00Z',
    to: '2026-06-05T23:00Z',
    hours: Array.from({ length: 15 }, (_, nth) => 4 + nth),
  })

interface Hour {
  start_at: string
  logger_id: number
  reason: string | null
  gross_amount: number | null
  fees_amount: number | null
}

const amounts = ['gross_amount', 'fees_amount'] as const
const micro = (amount: number | null) => Math.round((amount ?? 0) * 1e6)
const sumOf = (items: readonly Record<(typeof amounts)[number], number | null>[]) =>
  amounts.map((name) => items.reduce((sum, item) => sum + micro(item[name]), 0))

const [first, last] = ['2026-05-30', '2026-06-06'] as const
const days = Array.from({ length: 8 }, (_, nth) => addDays(first, nth))

test('plants earn and pay from the day of commissioning to their retirement', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  clock.set('2026-07-24T00:00:00Z')
  await addContracts(db)
  await addEnergy(db)
  // A day of which the energy is lost, and data of a plant that is gone.
  await db.query(`
    UPDATE loggers SET commissioned_date = '2026-06-02' WHERE logger_id = 1;
    UPDATE loggers SET retired_at = '2026-06-04T11:30Z' WHERE logger_id = 2;
    UPDATE inverters SET retired_at = '2026-06-04T11:30Z' WHERE logger_id = 2;
    DELETE FROM logger_hours WHERE logger_id = 2 AND hour_at >= '2026-06-04T12:00Z';
    DELETE FROM logger_hours WHERE hour_at >= '2026-06-03' AND hour_at < '2026-06-04'`)
  const read = async (kind: 'summary' | 'hourly', [start, end]: readonly [string, string]) =>
    (await get(`/earnings/${kind}?start=${start}&end=${end}`)).body

  await t.test('the hours of a plant end with its retirement', async () => {
    const data: Hour[] = (await read('hourly', [first, last])).data
    const of_gone = data.filter(({ logger_id }) => logger_id === 2)
    assert.equal(of_gone.at(-1)!.start_at, '2026-06-04T11:00:00.000Z')
    assert.equal(of_gone.at(-1)!.fees_amount! > 1, true)
    const starts = data.map(({ start_at }) => start_at)
    assert.deepEqual(starts, starts.toSorted())
  })

  await t.test('what came on trial is sold under no contract, and pays no fee', async () => {
    const data: Hour[] = (await read('hourly', [first, last])).data
    const of_new = data.filter(({ logger_id }) => logger_id === 1)
    // The day begins at 22:00Z at the site.
    const sold = of_new.filter(({ reason }) => reason !== 'no_contract')
    assert.equal(sold[0]!.start_at, '2026-06-01T22:00:00.000Z')
    const on_trial = of_new.slice(0, of_new.indexOf(sold[0]!))
    assert.equal(on_trial.length, 2 * 15)
    assert.deepEqual(sumOf(on_trial), [0, 0])
    const { by_logger } = await read('summary', [first, last])
    assert.equal(by_logger[0].energy_without_contract_kwh, 300)
  })

  await t.test('any parts of the time add up to it', async () => {
    const whole = await read('summary', [first, last])
    const total = sumOf([whole])
    assert.ok(total.every((amount) => amount > 0))
    assert.deepEqual(sumOf(whole.by_day), total)
    assert.deepEqual(sumOf(whole.by_logger), total)
    assert.deepEqual(sumOf((await read('hourly', [first, last])).data), total)
    const single = await Promise.all(days.map((day) => read('summary', [day, day])))
    assert.deepEqual(sumOf(single), total)
    const hours = await Promise.all(days.map((day) => read('hourly', [day, day])))
    assert.deepEqual(sumOf(hours.flatMap(({ data }) => data)), total)
    for (const middle of days.slice(1)) {
      const parts = [
        await read('summary', [first, addDays(middle, -1)]),
        await read('summary', [middle, last]),
      ]
      assert.deepEqual(sumOf(parts), total, middle)
    }
  })

  await t.test('afterwards there is nothing to wait for', async () => {
    const { body } = await get('/earnings/summary?start=2026-06-05&end=2026-06-06&logger_id=2')
    assert.deepEqual(
      [body.gross_amount, body.fees_amount, body.reason, body.unknown, body.by_day.length],
      [null, null, 'no_contract', [], 2],
    )
    const whole = (await get('/earnings/summary?start=2026-06-04&end=2026-06-06&logger_id=2')).body
    assert.deepEqual([whole.reason, whole.unknown, whole.price_status], [null, [], 'final'])
    assert.ok(whole.data_completeness_pct > 95)
    const { plants } = await readPlantPrices(db, {
      site_id: 'demo',
      logger_id: 2,
      site_currency: 'EUR',
      from_ms: Date.parse('2026-06-04'),
      to_ms: Date.parse('2026-06-05'),
    })
    const [before, after] = ['T11:45Z', 'T12:00Z'].map((time) =>
      plants.get(2)!(Date.parse(`2026-06-04${time}`)),
    )
    assert.deepEqual([before?.price, after], [50_000_000, null])
  })
})
