import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { importContracts, listContracts } from '../contracts/admin.ts'
import { servedSite } from '../fixtures/served-site.ts'
import type { Database } from '../storage/database.ts'

/** Of the fixture: midnight in Brussels is 22:00Z of the day before. */
const contracts = `
assignments:
  - { logger_id: 1, market_code: BE, contract_type: spot, currency: EUR, valid_from: 2026-01-01,
      offtaker: Sun Trading }
  - { logger_id: 2, market_code: BE, contract_type: fixed_price, fixed_price_per_mwh: 61.5,
      currency: EUR, valid_from: 2026-06-21, pays_at_negative_price: false }
fees:
  - { code: aggregator, name: Direct marketing, basis: per_mwh, value: 2.15, currency: EUR,
      valid_from: 2026-01-01 }
  - { code: market_fee, name: Access, basis: per_month, value: 72, currency: EUR, logger_id: 1,
      valid_from: 2026-01-01 }
  - { code: tax, name: Levy, basis: percent, value: 5, valid_from: 2026-01-01 }`

async function take(db: Database, text: string, dry_run = false) {
  const folder = await mkdtemp(join(tmpdir(), 'contracts-'))
  try {
    const file = join(folder, 'contracts.yaml')
    await writeFile(file, text)
    return await importContracts({ db }, { file, site_id: 'demo', dry_run })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Two plants with energy from 08:00Z to 12:00Z of some days, of odd Wh in odd quarters; else 0. */
async function addEnergy(db: Database) {
  await db.execute(`
    INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
      estimated_energy_kwh, energy_source, awake_covered_s, sun_covered_s, curtailment_loss_kwh,
      quarter_kwh, quarter_slot_count)
    SELECT 'demo', logger, at, 3 - logger, 3 - logger, sun * logger * 10.007, 0, 'inverter_counter',
      sun * 3600 * (3 - logger), 3600, 0.5 * sun, ARRAY[1.1, 2.2, 3.3, 3.407], ARRAY[3, 3, 3, 3]
    FROM generate_series(1, 2) AS logger,
      generate_series(timestamptz '2026-06-01', '2026-06-21', interval '1 day') AS day,
      generate_series(day + interval '3 hours', day + interval '19 hours', interval '1 hour') AS at,
      LATERAL (SELECT CASE WHEN day >= '2026-06-19'
        AND extract(hour FROM at AT TIME ZONE 'UTC') BETWEEN 8 AND 11 THEN 1 ELSE 0 END AS sun) AS l`)
}

/** Quarter hours up to 20 June, negative at noon; the 21st by the hour, of which one is missing. */
async function addPrices(db: Database) {
  await db.query(`
    INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
      fetched_at)
    SELECT 'BE', 'day_ahead', at, at + interval '15 minutes',
      CASE WHEN extract(hour FROM at) = 11 THEN -7.123456 ELSE 50 + extract(minute FROM at) / 10 END,
      1, 'csv', now()
    FROM generate_series(timestamptz '2026-05-31T22:00Z', '2026-06-20T23:45Z', interval '15 minutes')
      AS at;
    INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
      fetched_at)
    SELECT 'BE', 'day_ahead', at, at + interval '1 hour', 33.333333, 1, 'csv', now()
    FROM generate_series(timestamptz '2026-06-21T00:00Z', '2026-06-21T23:00Z', interval '1 hour') AS at
    WHERE extract(hour FROM at) <> 9`)
}

const sum = (items: readonly Record<string, number | null>[], name: string) =>
  items.reduce((total, item) => total + Math.round((item[name] ?? 0) * 1e6), 0)
const micro = (amount: number) => Math.round(amount * 1e6)

test('earnings of a site from its contracts, prices and energy', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  await addEnergy(db)

  await t.test('without contracts nothing is earned, and the answers say so', async () => {
    const { body } = await get('/earnings/summary?start=2026-06-19')
    assert.deepEqual(
      [body.net_amount, body.gross_amount, body.energy_sold_kwh, body.reason, body.currency],
      [null, null, null, 'no_contract', null],
    )
    assert.equal(body.energy_without_contract_kwh, 300.21)
    const hours = (await get('/earnings/hourly?start=2026-06-20&logger_id=1')).body.data
    assert.deepEqual([hours[8].net_amount, hours[8].reason], [null, 'no_contract'])
    assert.equal(hours[8].energy_kwh, 10.007)
    assert.deepEqual((await get('/earnings/market-assignments')).body.meta, { count: 0 })
  })

  await t.test(
    'contracts are imported whole, keep their ids, and faults change nothing',
    async () => {
      const none = { added: 0, changed: 0, unchanged: 0, removed: 0 }
      const planned = await take(db, contracts, true)
      assert.deepEqual(planned, {
        assignments: { ...none, added: 2 },
        fees: { ...none, added: 3 },
      })
      assert.equal((await listContracts({ db }, { site_id: 'demo' })).assignments.length, 0)
      await take(db, contracts)
      const before = await listContracts({ db }, { site_id: 'demo' })
      assert.deepEqual(await take(db, contracts), {
        assignments: { ...none, unchanged: 2 },
        fees: { ...none, unchanged: 3 },
      })
      const changed = contracts.replace('61.5', '62').replace(/ {2}- \{ code: tax.*/, '')
      assert.deepEqual(await take(db, changed), {
        assignments: { ...none, unchanged: 1, changed: 1 },
        fees: { ...none, unchanged: 2, removed: 1 },
      })
      const after = await listContracts({ db }, { site_id: 'demo' })
      const ids = ({ assignments }: typeof after) => assignments.map((item) => item.assignment_id)
      assert.deepEqual(ids(after), ids(before))
      await assert.rejects(take(db, contracts.replace('market_code: BE', 'market_code: ZZ')), {
        code: 'invalid',
        message: /assignments\[0\]\.market_code: there is no market 'ZZ'$/,
      })
      assert.deepEqual(await listContracts({ db }, { site_id: 'demo' }), after)
      await take(db, contracts)
    },
  )

  await t.test('without prices money is null with a reason, but where none is needed', async () => {
    const { body } = await get('/earnings/summary?start=2026-06-19&logger_id=1')
    assert.deepEqual(
      [body.gross_amount, body.fees_amount, body.net_amount, body.reason, body.price_status],
      [null, null, null, 'no_price', 'provisional'],
    )
    assert.ok(body.fees.every(({ amount }: { amount: number | null }) => amount === null))
    assert.equal(body.by_logger, null)
    assert.deepEqual(body.unknown, [
      {
        reason: 'no_price',
        market_code: 'BE',
        start_at: '2026-06-19T00:00:00.000Z',
        end_at: '2026-06-21T10:00:00.000Z',
        hour_count: 58,
      },
    ])
  })

  await addPrices(db)

  await t.test('hours are the sums of their quarters', async () => {
    const { body } = await get('/earnings/hourly?start=2026-06-20&end=2026-06-20&logger_id=1')
    assert.equal(body.meta.count, 24)
    const [at_8, at_11] = [body.data[8], body.data[11]]
    const wh = [1100, 2200, 3300, 3407]
    const prices = [50, 51.5, 53, 54.5]
    const gross = wh.reduce((all, each, nth) => all + Math.round(each * prices[nth]!), 0)
    assert.equal(micro(at_8.gross_amount), gross)
    assert.equal(at_8.price_per_mwh, 52.25)
    assert.equal(at_8.energy_kwh, 10.007)
    const standing = 72 / (30 * 24)
    assert.ok(Math.abs(at_8.fees_amount - (0.0215151 + standing + 0.05 * at_8.gross_amount)) < 3e-6)
    assert.equal(micro(at_8.net_amount), micro(at_8.gross_amount) - micro(at_8.fees_amount))
    assert.equal(micro(at_11.gross_amount), -71_285)
    assert.ok(at_11.net_amount < at_11.gross_amount)
    assert.equal(at_11.lost_amount, -0.003562)
    assert.deepEqual([at_8.completeness_pct, at_8.is_partial, at_8.reason], [100, false, null])
  })

  await t.test('sums by plant and day are the total, and net is gross less fees', async () => {
    const { body } = await get('/earnings/summary?start=2026-06-01&end=2026-06-20')
    assert.equal(body.reason, null)
    for (const name of ['gross_amount', 'fees_amount', 'net_amount']) {
      assert.equal(sum(body.by_logger, name), micro(body[name]), name)
      assert.equal(sum(body.by_day, name), micro(body[name]), name)
    }
    assert.equal(micro(body.net_amount), micro(body.gross_amount) - micro(body.fees_amount))
    assert.equal(sum(body.fees, 'amount'), micro(body.fees_amount))
    const hours = (await get('/earnings/hourly?start=2026-06-01&end=2026-06-20')).body.data
    assert.equal(hours.length, 2 * 20 * 24)
    assert.equal(sum(hours, 'gross_amount'), micro(body.gross_amount))
    assert.equal(sum(hours, 'fees_amount'), micro(body.fees_amount))
    assert.equal(body.negative_price_energy_kwh, 2 * 10.007)
    assert.equal(micro(body.negative_price_cost_amount), 2 * 71_285)
    assert.equal(body.energy_sold_kwh, 8 * 10.007)
    // The contract of the other plant begins on the 21st.
    assert.equal(body.energy_without_contract_kwh, 8 * 20.014)
    assert.ok(body.capture_rate_pct > 50 && body.capture_rate_pct < 100)
    assert.equal(body.data_completeness_pct < 100, true)
  })

  await t.test(
    'an hour without a price makes the sum unknown, and what is known is there',
    async () => {
      clock.set('2026-06-22T12:00:00Z')
      const day = '/earnings/summary?start=2026-06-21&end=2026-06-21'
      const { body } = await get(day)
      assert.deepEqual([body.gross_amount, body.reason], [null, 'no_price'])
      assert.ok(body.known.gross_amount > 0)
      // A price below 0 pays nothing here, so that without a price nobody knows.
      assert.deepEqual(
        body.by_logger.map((of: { reason?: string; unknown: unknown[] }) => of.unknown.length),
        [1, 1],
      )
      await db.execute(`
      INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
        fetched_at)
      VALUES ('BE', 'day_ahead', '2026-06-21T09:00Z', '2026-06-21T10:00Z', -1, 1, 'csv', now())`)
      const priced = (await get(day)).body
      assert.equal(micro(priced.by_logger[1].gross_amount), 3 * Math.round(20014 * 61.5))
      assert.equal(priced.price_status, 'provisional')
      clock.set('2026-07-20T12:00:00Z')
      assert.equal((await get(day)).body.price_status, 'final')
      clock.set('2026-06-22T12:00:00Z')
    },
  )

  await t.test(
    'sums of several currencies are in that of the site, by the rate of the day',
    async () => {
      const leva = contracts.replace('61.5,\n      currency: EUR', '120,\n      currency: BGN')
      await take(db, leva)
      const day = '/earnings/summary?start=2026-06-21&end=2026-06-21'
      const { body } = await get(day)
      assert.equal(body.currency, 'EUR')
      assert.equal(sum(body.by_logger, 'net_amount'), micro(body.net_amount))
      const of_plant = (await get(`${day}&logger_id=2`)).body
      assert.equal(of_plant.currency, 'BGN')
      const [today, as_of_date] = ['2026-06-21', '1999-01-01']
      const dates = { as_of_date, start_date: today, end_date: today }
      assert.deepEqual(body.exchange_rates, [
        { currency: 'EUR', base_currency: 'BGN', rate: 1.95583, ...dates },
        { currency: 'BGN', base_currency: 'EUR', rate: 0.5112918812, ...dates },
      ])
      // A client gets the same sums from the hours, which are in the currency of the contract.
      const { data, meta } = (await get(day.replace('summary', 'hourly'))).body
      assert.deepEqual(meta.exchange_rates, body.exchange_rates)
      const { rate } = meta.exchange_rates[1]
      const of_hours = data.map(
        ({ currency, gross_amount }: { currency: string; gross_amount: number }) =>
          micro(currency === 'BGN' ? gross_amount * rate : gross_amount),
      )
      assert.equal(
        of_hours.reduce((all: number, amount: number) => all + amount),
        micro(body.gross_amount),
      )
      await db.execute('DELETE FROM exchange_rates')
      const unknown = (await get(day)).body
      assert.deepEqual([unknown.net_amount, unknown.reason], [null, 'no_exchange_rate'])
      await take(db, contracts)
    },
  )

  await t.test('contracts as they are', async () => {
    const { body } = await get('/earnings/market-assignments?logger_id=1')
    const [item] = body.data
    assert.deepEqual(
      [item.logger_name, item.contract_type, item.offtaker, item.valid_to_date, item.is_active],
      ['South', 'spot', 'Sun Trading', null, true],
    )
    assert.deepEqual(
      item.fee_schedule.map(({ code, rate }: { code: string; rate: number }) => [code, rate]),
      [
        ['aggregator', 2.15],
        ['market_fee', 72],
        ['tax', 5],
      ],
    )
  })

  await t.test('prices of two markets, in the coarser resolution of the two', async () => {
    await db.execute(`
      INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
        fetched_at)
      SELECT 'NL', 'day_ahead', at, at + interval '1 hour', 60, 1, 'csv', now()
      FROM generate_series(timestamptz '2026-06-20T00:00Z', '2026-06-20T22:00Z', interval '1 hour')
        AS at`)
    const { body } = await get(
      '/earnings/cross-border-prices?sold=NL&start=2026-06-20&end=2026-06-20',
    )
    assert.equal(body.meta.count, 23 + 4)
    const { summary } = body.meta
    assert.deepEqual([summary.complete_count, summary.resolution_minutes], [23, 60])
    assert.equal(summary.reason, 'no_price')
    const [first] = body.data
    assert.deepEqual(
      [first.base_market_code, first.base_price_per_mwh, first.spread_per_mwh, first.favourable],
      ['BE', 52.25, 7.75, true],
    )
    assert.equal(body.data[11].spread_per_mwh, 67.1235)
    const weighted = (3 * 52.25 - 7.123456) / 4
    assert.ok(Math.abs(summary.captured_base_price_per_mwh - weighted) < 0.5)
    assert.equal(summary.captured_sold_price_per_mwh, 60)
    assert.equal(body.data.at(-1).sold_price_per_mwh, null)
    assert.equal((await get('/earnings/cross-border-prices?base=ZZ')).status, 404)
  })

  await t.test('files have the items of the answers, made a week at a time', async () => {
    for (const path of [
      '/earnings/hourly?start=2026-06-01',
      '/earnings/cross-border-prices?sold=NL&start=2026-06-05&end=2026-06-21',
    ]) {
      const { payload, statusCode } = await site.app.inject({
        url: `/v1/sites/demo${path}`,
        headers: {
          authorization: `Bearer svc_live_0123456789ab_${'5e'.repeat(32)}`,
          accept: 'application/x-ndjson',
        },
      })
      assert.equal(statusCode, 200)
      const items = payload.trimEnd().split('\n')
      assert.deepEqual(
        items.map((item) => JSON.parse(item)),
        (await get(path)).body.data,
      )
    }
  })

  await t.test(
    'days that are reversed or unknown are refused, and never for being many',
    async () => {
      for (const [query, status] of [
        ['start=2026-06-21&end=2026-06-20', 422],
        ['start=2026-02-30', 422],
        ['start=1970-01-01&end=2999-12-31', 200],
        ['start=2026-06-20T00:00:00Z', 422],
        ['logger_id=9', 404],
        ['start=2030-01-01', 200],
      ] as const) {
        for (const path of ['summary', 'hourly']) {
          assert.equal((await get(`/earnings/${path}?${query}`)).status, status, `${path} ${query}`)
        }
      }
    },
  )
})

test('days of the summary are those of a zone where one is named', async (t) => {
  const { db, get, clock, close } = await servedSite()
  t.after(close)
  clock.set(new Date('2026-06-20T12:00:00Z'))
  await addEnergy(db)
  await addPrices(db)
  await take(db, contracts)
  // 08:00Z to 12:00Z are 18:00 to 22:00 of the same day in Sydney.
  const zone = 'timezone=Australia%2FSydney'
  const { body } = await get(`/earnings/summary?start=2026-06-19&end=2026-06-19&${zone}`)
  assert.equal(body.timezone, 'Australia/Sydney')
  assert.deepEqual(
    body.by_day.map(({ date }: { date: string }) => date),
    ['2026-06-19'],
  )
  const utc = (await get('/earnings/summary?start=2026-06-19&end=2026-06-19')).body
  assert.equal(utc.timezone, 'UTC')
  assert.equal(body.energy_sold_kwh, utc.energy_sold_kwh)
  // On Kiritimati 10:00Z is midnight: half of the energy of a day is of the next one.
  const { body: line } = await get(
    '/earnings/summary?start=2026-06-19&end=2026-06-20&timezone=Pacific%2FKiritimati',
  )
  assert.deepEqual(
    line.by_day.map(({ energy_kwh }: { energy_kwh: number }) => energy_kwh),
    [utc.energy_sold_kwh / 2, utc.energy_sold_kwh],
  )
  const refused = await get('/earnings/summary?start=2026-06-19&timezone=Mars%2FNorth')
  assert.deepEqual([refused.status, refused.body.error.details.errors[0].field], [422, 'timezone'])
})
