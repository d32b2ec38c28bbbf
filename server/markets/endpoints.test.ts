import assert from 'node:assert/strict'
import test from 'node:test'
import { addDays } from '@heliograph/domain/utc-day'
import { servedSite } from '../fixtures/served-site.ts'
import type { Database } from '../storage/database.ts'
import { followMarket } from './admin.ts'
import { fetchPrices } from './fetch.ts'
import { deliveryDay, type PricePeriod, slotsOf, utcDay } from './periods.ts'
import { storePrices } from './publications.ts'

const store = (db: Database, market_code: string, periods: PricePeriod[]) =>
  db.transaction((tx) =>
    storePrices(tx, {
      market_code,
      kind: 'day_ahead',
      source: 'csv',
      document_id: 'd0c',
      published_at: new Date('2026-06-20T10:57Z'),
      fetched_at: new Date('2026-06-20T11:00Z'),
      periods,
    }),
  )

/** A delivery day in Berlin; the price of a period by its number. */
const delivery = (date: string, priceOf: (nth: number) => number, minutes: 15 | 60 = 15) =>
  slotsOf([], deliveryDay(date, 'Europe/Berlin'), minutes).map((slot, nth) => {
    return { ...slot, price_micro: priceOf(nth) * 1e6 }
  })

async function assign(db: Database, logger_id: number, market_code: string, valid_from: string) {
  await db.execute(
    `insert into market_assignments (site_id, logger_id, market_code, contract_type,
       pays_at_negative_price, currency, valid_from)
     values ('demo', $1, $2, 'spot', true, 'EUR', $3)`,
    [logger_id, market_code, valid_from],
  )
}

test('prices of a market', async (t) => {
  const { db, get, clock, close } = await servedSite()
  t.after(close)
  await store(
    db,
    'DE-LU',
    delivery('2026-06-21', (nth) => nth - 40.5),
  )

  await t.test(
    'a UTC day shares time with two delivery days, one of them unpublished',
    async () => {
      const { status, body } = await get('/markets/DE-LU/prices?target_date=2026-06-21')
      assert.equal(status, 200)
      const { meta, data } = body
      assert.deepEqual(
        [meta.count, meta.period_count, meta.expected_period_count, meta.status],
        [96, 88, 96, 'partial'],
      )
      assert.deepEqual(
        [meta.market_code, meta.currency, meta.resolution_minutes],
        ['DE-LU', 'EUR', 15],
      )
      // The first 8 quarters of the local day lie on the UTC day before.
      assert.deepEqual(data[0], {
        start_at: '2026-06-21T00:00:00.000Z',
        end_at: '2026-06-21T00:15:00.000Z',
        price_per_mwh: -32.5,
        is_negative: true,
        rank_of_day: 88,
        delivery_date_local: '2026-06-21',
        source: 'csv',
        source_document_id: 'd0c',
        published_at: '2026-06-20T10:57:00.000Z',
        fetched_at: '2026-06-20T11:00:00.000Z',
        revision: 1,
      })
      assert.deepEqual(data[95], {
        start_at: '2026-06-21T23:45:00.000Z',
        end_at: '2026-06-22T00:00:00.000Z',
        price_per_mwh: null,
        is_negative: null,
        rank_of_day: null,
        delivery_date_local: '2026-06-22',
        source: null,
        source_document_id: null,
        published_at: null,
        fetched_at: null,
        revision: null,
      })
      // All that is published by now: the quarters 8 to 95 of the local day.
      assert.deepEqual(
        [meta.due_period_count, meta.base_until_at],
        [88, '2026-06-21T22:00:00.000Z'],
      )
      assert.equal(meta.base_price_per_mwh, (8 + 95) / 2 - 40.5)
      // 08:00 to 20:00 in Berlin are the quarters 32 to 79: their mean is that of 32 and 79.
      assert.equal(meta.peak_price_per_mwh, (32 + 79) / 2 - 40.5)
      assert.deepEqual(
        [meta.min_price_per_mwh, meta.max_price_per_mwh, meta.negative_period_count],
        [-32.5, 54.5, 33],
      )
      // Prices rise all day: weighted by the sun they are those of about solar noon, 13:10.
      assert.ok(Math.abs(meta.solar_weighted_price_per_mwh - (13.25 * 4 - 40.5)) < 2)
    },
  )

  await t.test(
    'today is the day where none is given, and it is whole once both are known',
    async () => {
      await store(
        db,
        'DE-LU',
        delivery('2026-06-22', () => 95),
      )
      const { body } = await get('/markets/DE-LU/prices')
      assert.equal(body.meta.target_date, '2026-06-21')
      assert.deepEqual([body.meta.status, body.meta.period_count], ['published', 96])
      const prices = body.data.map(({ price_per_mwh }: { price_per_mwh: number }) => price_per_mwh)
      const mean = prices.reduce((sum: number, price: number) => sum + price, 0) / 96
      assert.ok(Math.abs(body.meta.base_price_per_mwh - mean) < 1e-6)
    },
  )

  await t.test('what is yet to come, and what should be there and is not', async () => {
    const status = async (date: string) =>
      (await get(`/markets/AT/prices?target_date=${date}`)).body.meta.status
    assert.equal(await status('2026-06-22'), 'not_yet_published')
    assert.equal(await status('2026-06-21'), 'missing')
    clock.set('2026-06-21T10:57Z')
    assert.equal(await status('2026-06-22'), 'missing')
    const { body } = await get('/markets/AT/prices?target_date=2026-06-22')
    assert.deepEqual([body.meta.period_count, body.meta.expected_period_count], [0, 96])
    assert.equal(body.meta.min_price_per_mwh, null)
    assert.equal(body.data[0].price_per_mwh, null)
    clock.set('2026-06-21T10:00Z')
  })

  await t.test(
    'a price that should be there is not the same as one that is yet to come',
    async () => {
      const holed = delivery('2026-06-21', () => 60).filter((_, nth) => nth !== 50)
      await store(db, 'BE', holed)
      const { meta } = (await get('/markets/BE/prices')).body
      assert.deepEqual(
        [meta.status, meta.period_count, meta.due_period_count, meta.expected_period_count],
        ['incomplete', 87, 88, 96],
      )
      assert.equal(meta.base_price_per_mwh, null)
      clock.set('2026-06-21T10:57Z')
      const late = (await get('/markets/DE-LU/prices?target_date=2026-06-23')).body.meta
      assert.deepEqual([late.status, late.due_period_count], ['not_yet_published', 0])
      clock.set('2026-06-21T10:00Z')
    },
  )

  await t.test('an hour among quarters counts as four of them', async () => {
    const quarters = delivery('2026-06-21', () => 60)
    const hour = { ...quarters[24]!, end_ms: quarters[27]!.end_ms }
    await store(db, 'NL', [hour])
    const alone = (await get('/markets/NL/prices')).body.meta
    assert.deepEqual(
      [alone.resolution_minutes, alone.period_count, alone.expected_period_count],
      [60, 1, 24],
    )
    await store(db, 'NL', [quarters[40]!])
    const { meta } = (await get('/markets/NL/prices')).body
    assert.deepEqual(
      [meta.count, meta.resolution_minutes, meta.period_count, meta.expected_period_count],
      [93, 15, 5, 96],
    )
  })

  await t.test('days on which clocks are set: a UTC day keeps its 24 hours', async () => {
    for (const date of ['2026-03-29', '2026-10-25']) {
      for (const days of [-1, 0, 1]) {
        await store(
          db,
          'FR',
          delivery(addDays(date, days), (nth) => nth, 60),
        )
      }
      const { body } = await get(`/markets/FR/prices?target_date=${date}`)
      assert.equal(body.meta.status, 'published')
      assert.deepEqual([body.meta.count, body.meta.resolution_minutes], [24, 60])
      const starts = body.data.map(({ start_at }: { start_at: string }) => Date.parse(start_at))
      const { start_ms } = utcDay(date)
      assert.deepEqual(
        starts,
        Array.from({ length: 24 }, (_, hour) => start_ms + hour * 3_600_000),
      )
    }
  })

  await t.test('a market that there is not, and days that are none', async () => {
    assert.equal((await get('/markets/XX/prices')).status, 404)
    assert.equal((await get('/markets/de-lu/prices')).status, 404)
    for (const bad of ['target_date=2026-02-30', 'target_date=today', 'date=2026-06-21']) {
      assert.equal((await get(`/markets/DE-LU/prices?${bad}`)).status, 422, bad)
      assert.equal((await get(`/markets/compare?${bad}`)).status, 422, bad)
    }
  })
})

test('the list of markets', async (t) => {
  const { db, get, clock, close } = await servedSite()
  t.after(close)
  const market = async (code: string) => {
    const { body } = await get('/markets')
    return body.data.find(({ market_code }: { market_code: string }) => market_code === code)
  }

  await t.test('facts of a market without prices', async () => {
    const { body } = await get('/markets')
    assert.equal(body.meta.count, body.data.length)
    assert.ok(body.data.length > 40)
    const greece = await market('GR')
    assert.deepEqual(greece, {
      market_code: 'GR',
      name: 'Greece',
      eic_code: '10YGR-HTSO-----Y',
      country_codes: ['GR'],
      type: 'day_ahead',
      auction: 'sdac',
      operator: 'HEnEx',
      currency: 'EUR',
      timezone: 'Europe/Brussels',
      resolution_minutes: 15,
      gate_closure_local: '12:00',
      publication_local: '12:57',
      price_min_per_mwh: -500,
      price_max_per_mwh: 4000,
      has_data_from_date: null,
      last_price_at: null,
      assigned_logger_ids: [],
      source: null,
      source_state: 'not_followed',
      fetched_at: null,
      failed_at: null,
      failure_count: 0,
      last_failure: null,
      next_attempt_at: null,
    })
  })

  await t.test('what is there of prices, and which loggers sit or sell there', async () => {
    await store(
      db,
      'BE',
      delivery('2026-06-20', () => 1, 60),
    )
    await assign(db, 1, 'BE', '2026-01-01')
    await assign(db, 2, 'BE', '2026-06-22')
    await db.execute("update market_assignments set sold_market_code = 'NL'")
    const belgium = await market('BE')
    assert.deepEqual(
      [belgium.has_data_from_date, belgium.last_price_at, belgium.resolution_minutes],
      ['2026-06-19', '2026-06-20T22:00:00.000Z', 60],
    )
    assert.deepEqual(belgium.assigned_logger_ids, [1])
    assert.deepEqual((await market('NL')).assigned_logger_ids, [1])
    clock.set('2026-06-22T10:00Z')
    assert.deepEqual((await market('BE')).assigned_logger_ids, [1, 2])
    clock.set('2026-06-21T10:00Z')
  })

  await t.test('the state of fetching', async () => {
    const log = { info() {}, warn() {}, error() {} }
    await followMarket({ db, clock }, { market_code: 'BE', source: 'energy_charts', from: null })
    assert.equal((await market('BE')).source_state, 'waiting')
    const run = (text: string) =>
      fetchPrices(
        {
          db,
          clock,
          log,
          signal: new AbortController().signal,
          settings: { entsoe_token: null, entsoe_url: 'http://x', energy_charts_url: 'http://x' },
        },
        async () => ({ status: 200, text }),
      )
    await run('<html>')
    const failing = await market('BE')
    assert.deepEqual(
      [failing.source_state, failing.failure_count, failing.fetched_at],
      ['failing', 1, null],
    )
    assert.equal(failing.last_failure, '2026-06-21: energy-charts answered with invalid JSON')
    assert.equal(failing.next_attempt_at, '2026-06-21T10:10:00.000Z')
    assert.equal(failing.last_price_at, '2026-06-20T22:00:00.000Z', 'the last good data stays')
    clock.set('2026-06-21T10:10Z')
    await run('{"unix_seconds":[],"price":[],"unit":"EUR/MWh"}')
    const mended = await market('BE')
    assert.deepEqual(
      [mended.source_state, mended.failure_count, mended.next_attempt_at],
      ['ok', 0, null],
    )
    assert.equal(mended.fetched_at, '2026-06-21T10:10:00.000Z')
    assert.match(mended.last_failure, /invalid JSON/)
  })
})

test('markets beside each other', async (t) => {
  const { db, get, close } = await servedSite()
  t.after(close)
  await db.query(`
    insert into markets (market_code, name, currency, timezone, resolution_minutes)
    values ('PLX', 'In another currency', 'PLN', 'Europe/Warsaw', 60)`)
  for (const date of ['2026-06-21', '2026-06-22']) {
    await store(
      db,
      'DE-LU',
      delivery(date, () => (date === '2026-06-22' ? 400 : 50)),
    )
    await store(
      db,
      'FR',
      delivery(date, () => 30, 60),
    )
    await store(
      db,
      'PLX',
      delivery(date, () => 425, 60),
    )
  }
  await store(
    db,
    'AT',
    delivery('2026-06-21', () => 70),
  )
  await store(
    db,
    'HU',
    delivery('2026-06-21', () => 65).filter((_, nth) => nth !== 50),
  )
  const compare = async () => (await get('/markets/compare')).body
  const brief = (body: { data: Record<string, unknown>[] }) =>
    body.data.map((each) => [
      each['market_code'],
      each['rank'],
      each['base_price_per_mwh'],
      each['fx_rate_to_base'],
      each['spread_to_home_per_mwh'],
      each['spread_reason'],
    ])

  await t.test('without an assignment there is no home, without a rate no rank', async () => {
    const body = await compare()
    assert.deepEqual(body.meta, {
      count: 5,
      target_date: '2026-06-21',
      home_market_code: null,
      base_currency: 'EUR',
    })
    assert.deepEqual(brief(body), [
      ['AT', 1, 70, 1, null, 'no_home_market'],
      ['DE-LU', 2, 50, 1, null, 'no_home_market'],
      ['FR', 3, 30, 1, null, 'no_home_market'],
      ['HU', null, null, 1, null, 'no_home_market'],
      ['PLX', null, 425, null, null, 'no_home_market'],
    ])
  })

  await t.test('spreads and ranks in the currency of the home market', async () => {
    await assign(db, 1, 'DE-LU', '2026-01-01')
    const without_rate = await compare()
    assert.equal(without_rate.meta.home_market_code, 'DE-LU')
    assert.deepEqual(brief(without_rate).at(-1), ['PLX', null, 425, null, null, 'no_exchange_rate'])
    await db.execute(
      "insert into exchange_rates (currency, valid_from, per_eur) values ('PLN', '2026-01-01', 4.25)",
    )
    const body = await compare()
    assert.deepEqual(brief(body), [
      ['PLX', 1, 425, 1 / 4.25, 50, null],
      ['AT', 2, 70, 1, 20, null],
      ['DE-LU', 3, 50, 1, 0, null],
      ['FR', 4, 30, 1, -20, null],
      ['HU', null, null, 1, null, 'prices_incomplete'],
    ])
    assert.deepEqual(
      body.data.map((each: { is_home_market: boolean }) => each.is_home_market),
      [false, false, true, false, false],
    )
    const [, austria, home, france, hungary] = body.data
    // The last two hours of the day are published in some of them, and not in Austria.
    for (const each of [austria, home, france]) {
      assert.equal(each.base_until_at, '2026-06-21T22:00:00.000Z')
    }
    assert.deepEqual(
      body.data.map(({ status }: { status: string }) => status),
      ['published', 'partial', 'published', 'published', 'incomplete'],
    )
    assert.equal(hungary.period_count, 87)
    assert.deepEqual([home.periods.length, france.periods.length], [96, 24])
    assert.deepEqual(france.periods[0], {
      start_at: '2026-06-21T00:00:00.000Z',
      end_at: '2026-06-21T01:00:00.000Z',
      price_per_mwh: 30,
    })
    assert.equal(france.solar_weighted_price_per_mwh, 30)
  })

  await t.test('a market that plants are assigned to is there without prices, too', async () => {
    await assign(db, 2, 'IT-SICILY', '2026-01-01')
    const last = (await compare()).data.at(-1)
    assert.deepEqual(
      [last.market_code, last.status, last.period_count, last.base_price_per_mwh],
      ['IT-SICILY', 'missing', 0, null],
    )
  })
})
