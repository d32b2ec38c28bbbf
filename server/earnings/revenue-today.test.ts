import assert from 'node:assert/strict'
import test from 'node:test'
import { addPlantHours } from '../fixtures/plant-hours.ts'
import { servedSite } from '../fixtures/served-site.ts'
import { updateRevenue } from './revenue-today.ts'

test('the revenue of the market day is updated when energy has changed', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  const update = async (now: string) => {
    clock.set(now)
    await updateRevenue(db, clock.now())
    return db.queryOne<Record<string, unknown>>(
      `select revenue_date, revenue_timezone, net_revenue, currency, revenue_at from site_status`,
    )
  }
  const energyAt = (at: string) =>
    db.execute(
      `insert into site_status (site_id, energy_at) values ('demo', $1)
       on conflict (site_id) do update set energy_at = excluded.energy_at`,
      [at],
    )

  assert.equal(await update('2026-06-21T10:00:00Z'), null, 'no contract')
  await db.execute(
    `insert into market_assignments (site_id, logger_id, market_code, contract_type, fixed_price,
       pays_at_negative_price, currency, valid_from)
     values ('demo', 1, 'BE', 'fixed_price', 100, true, 'EUR', '2026-01-01')`,
  )
  // Midnight in Brussels is 22:00Z: the first hour is of the day before.
  const of = { logger_ids: [1] as const, to: '2026-06-21T09:00:00Z' }
  await addPlantHours(db, { ...of, from: '2026-06-20T21:00:00Z' })
  const first = await update('2026-06-21T10:00:00Z')
  assert.deepEqual(first, {
    revenue_date: '2026-06-21',
    revenue_timezone: 'Europe/Brussels',
    net_revenue: 12,
    currency: 'EUR',
    revenue_at: new Date('2026-06-21T10:00:00Z'),
  })
  const { body } = await get(
    '/earnings/summary?start=2026-06-21&end=2026-06-21&timezone=Europe/Brussels',
  )
  assert.equal(body.known.net_amount, first!['net_revenue'])

  await addPlantHours(db, { ...of, from: '2026-06-21T10:00:00Z', to: '2026-06-21T10:00:00Z' })
  assert.deepEqual(await update('2026-06-21T10:30:00Z'), first, 'nothing has changed')
  await energyAt('2026-06-21T10:31:00Z')
  assert.equal((await update('2026-06-21T10:32:00Z'))!['net_revenue'], 13)
  assert.deepEqual(
    (await update('2026-06-21T10:59:00Z'))!['revenue_at'],
    new Date('2026-06-21T10:32:00Z'),
  )
  assert.deepEqual(
    (await update('2026-06-21T11:33:00Z'))!['revenue_at'],
    new Date('2026-06-21T11:33:00Z'),
    'a price may have come within an hour',
  )
})
