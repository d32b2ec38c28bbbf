/** Price forecasts of a served site: trained on its market's past, issued, held against prices. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { utcDayStart } from '@heliograph/domain/utc-day'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { runAll } from '../server/forecasts/jobs.ts'
import { createSimulatedMarket, followMarket } from '../server/markets/admin.ts'
import { fetchMarket } from '../server/markets/fetch.ts'
import { silent } from './postgres.ts'

const today = Date.parse('2026-06-21T00:00:00Z')
let site: ServedSite

before(async () => {
  site = await servedSite()
  site.clock.set('2026-06-21T09:40:00Z')
})
after(() => site.close())

const context = () => ({
  db: site.db,
  clock: site.clock,
  log: silent,
  signal: new AbortController().signal,
})

const ask = async (path: string) => {
  const { status, body } = await site.get(`/predictions${path}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('prices of the assigned market, from what was known before its gate closed', async () => {
  assert.deepEqual((await ask('/prices')).data, [])
  await addPrices()
  await runAll(context())
  const window = 'start=2026-06-18T00:00:00Z&end=2026-06-23T22:00:00Z'
  const { data } = await ask(`/prices?${window}`)
  assert.equal(data.length, 6 * 24 - 2)
  for (const item of data) {
    assert.deepEqual([item.market_code, item.currency], ['DE-LU', 'EUR'])
    const { p10_price_per_mwh: p10, p50_price_per_mwh: p50, p90_price_per_mwh: p90 } = item
    assert.ok(p10 === null || (p10 <= p50 && p50 <= p90), item.start_at)
    if (item.run_at !== null) assert.ok(item.run_at <= gateOf(item.start_at), item.start_at)
  }
  const at = (start_at: string) =>
    data.find((one: { start_at: string }) => one.start_at === start_at)
  const known = at('2026-06-20T10:00:00.000Z')
  assert.equal(known.actual_price_per_mwh, priceAt(Date.parse('2026-06-20T10:00:00Z')))
  assert.equal(known.run_at, '2026-06-19T10:00:00.000Z')
  // Tomorrow: forecast now, its price not yet published.
  const open = at('2026-06-22T10:00:00.000Z')
  assert.deepEqual([open.actual_price_per_mwh, open.model_version], [null, '1'])
  assert.equal(open.run_at, '2026-06-21T09:40:00.000Z')
  const model = (await ask('/model-status')).data.at(-1)
  assert.deepEqual([model.model, model.kind, model.version], ['price:DE-LU', 'price', '1'])
  const week = model.metrics[0]
  assert.equal(week.mae_kw, null)
  assert.ok(week.mae_per_mwh > 0 && week.mae_per_mwh < 15, `${week.mae_per_mwh}`)
  assert.ok(week.skill_vs_persistence_pct > 0, `${week.skill_vs_persistence_pct}`)
})

test('each delivery day has the market that the site is assigned to on it', async () => {
  const { db } = site
  await db.execute(`update market_assignments set valid_to = '2026-06-19'`)
  await assign(db, 'AT', '2026-06-20')
  await db.execute(
    `insert into market_prices (market_code, kind, start_at, revision, end_at, price, source,
       fetched_at)
     select 'AT', kind, start_at, revision, end_at, price + 1, source, fetched_at
     from market_prices where start_at >= '2026-06-18'`,
  )
  const { data } = await ask('/prices?start=2026-06-19T20:00:00Z&end=2026-06-20T00:00:00Z')
  const priced = (code: string, start_at: string, more: number) => [
    code,
    start_at,
    priceAt(Date.parse(start_at)) + more,
  ]
  assert.deepEqual(
    data.map((item: Record<string, unknown>) => [
      item['market_code'],
      item['start_at'],
      item['actual_price_per_mwh'],
    ]),
    [
      priced('DE-LU', '2026-06-19T20:00:00.000Z', 0),
      priced('DE-LU', '2026-06-19T21:00:00.000Z', 0),
      priced('AT', '2026-06-19T22:00:00.000Z', 1),
      priced('AT', '2026-06-19T23:00:00.000Z', 1),
    ],
  )
  assert.deepEqual(
    data.map(({ run_at }: { run_at: string | null }) => run_at !== null),
    [true, true, false, false],
  )
})

test('the simulated market of the demo: none of few weeks, and sober ones once there are more', async (t) => {
  const demo = await servedSite()
  t.after(() => demo.close())
  const { db, clock } = demo
  clock.set('2026-06-21T08:40:00Z')
  const own = { db, clock, log: silent, signal: new AbortController().signal }
  const { market_code } = await createSimulatedMarket(own, {
    timezone: 'Europe/Sofia',
    country_code: 'BG',
  })
  const fetchFrom = async (from: string) =>
    fetchMarket(await followMarket(own, { market_code, source: 'simulated', from }), {
      ...own,
      settings: { entsoe_token: null, entsoe_url: 'http://x', energy_charts_url: 'http://x' },
    })
  await assign(db, market_code)
  const statusOf = async () => (await demo.get('/predictions/model-status')).body.data.at(-1)
  await fetchFrom('2026-05-15')
  await runAll(own)
  assert.equal((await statusOf()).status, 'insufficient_data')
  clock.set('2026-06-21T08:55:00Z')
  await fetchFrom('2026-03-25')
  await runAll(own)
  const model = await statusOf()
  assert.deepEqual([model.version, model.method], ['1', 'learned'])
  assert.equal(model.training_from_at, '2026-03-24T22:00:00.000Z')
  assert.ok(model.metrics[0].skill_vs_persistence_pct > 0)
  const window = 'start=2026-06-21T21:00:00Z&end=2026-06-22T21:00:00Z'
  const { data } = (await demo.get(`/predictions/prices?${window}`)).body
  assert.equal(data.length, 96)
  for (const item of data) {
    const { p10_price_per_mwh: p10, p50_price_per_mwh: p50, p90_price_per_mwh: p90 } = item
    assert.deepEqual([item.market_code, item.method], ['DEMO', 'learned'])
    assert.ok(-200 < p10 && p10 <= p50 && p50 <= p90 && p90 < 300, JSON.stringify(item))
  }
})

const gateOf = (start_at: string) => {
  const market_day = utcDayStart(Date.parse(start_at) + 2 * hour_ms)
  return new Date(market_day - 14 * hour_ms).toISOString()
}

/** A shape of the day and of the week, and an unrest of its own, in cents. */
function priceAt(ms: number): number {
  const hour = ms / hour_ms
  const is_weekend = [0, 6].includes(new Date(ms).getUTCDay())
  const unrest = (Math.imul(hour, 2654435761) >>> 0) / 2 ** 32 - 0.5
  const price = 60 - 30 * Math.sin(((hour % 24) / 24) * Math.PI) - (is_weekend ? 20 : 0)
  return Math.round(100 * (price + 12 * unrest)) / 100
}

/** Hours of 90 market days up to the end of today's. */
async function addPrices() {
  const end_ms = today + 22 * hour_ms
  const starts = Array.from({ length: 90 * 24 }, (_, nth) => end_ms - (nth + 1) * hour_ms)
  await site.db.execute(
    `insert into market_prices (market_code, kind, start_at, revision, end_at, price, source,
       fetched_at)
     select 'DE-LU', 'day_ahead', at, 1, at + interval '1 hour', price, 'csv', now()
     from unnest($1::timestamptz[], $2::numeric[]) as p (at, price)`,
    [starts.map((ms) => new Date(ms).toISOString()), starts.map(priceAt)],
  )
  await assign(site.db, 'DE-LU')
}

const assign = (db: ServedSite['db'], market_code: string, from = '2026-01-01') =>
  db.execute(
    `insert into market_assignments (site_id, logger_id, market_code, contract_type,
       pays_at_negative_price, currency, valid_from)
     select 'demo', logger_id, $1, 'spot', true, 'EUR', $2 from loggers`,
    [market_code, from],
  )
