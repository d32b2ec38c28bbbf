import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { importContracts } from '../contracts/admin.ts'
import { addKey, type ServedSite, servedSite } from '../fixtures/served-site.ts'

const contracts = `
assignments:
  - { logger_id: 1, market_code: BE, contract_type: spot, currency: EUR, valid_from: 2026-01-01 }
  - { logger_id: 2, market_code: BE, contract_type: fixed_price, fixed_price_per_mwh: 61.5,
      currency: EUR, valid_from: 2026-01-01, pays_at_negative_price: false }
fees: []`

let site: ServedSite
before(async () => {
  site = await servedSite()
  await addRows()
})
after(() => site.close())

async function take(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'contracts-'))
  try {
    const file = join(folder, 'contracts.yaml')
    await writeFile(file, text)
    await importContracts({ db: site.db }, { file, site_id: 'demo', dry_run: false })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Of 20 June, without light measured: `day` holds both plants from 08:00Z to 12:00Z, and `deep`
 * holds plant 1 lower from 08:20Z to 08:40Z. `now` holds plant 2 on the 21st; what `dark` kept
 * back is not known.
 */
async function addRows() {
  const hour = (group_id: string, logger_id: number, hour_at: string, wh: readonly number[]) =>
    site.db.execute(
      `insert into curtailment_hours
         (site_id, group_id, logger_id, hour_at, curtailed_energy_kwh, quarter_wh)
       values ('demo', $1, $2, $3, $4, $5)`,
      [group_id, logger_id, hour_at, wh.reduce((sum, each) => sum + each, 0) / 1000, wh],
    )
  await site.db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    select 'demo', id, 'api', '2026-06-20T07:00Z' from unnest('{day,deep,now,dark}'::text[]) as id;
    insert into curtailment_rows
      (site_id, group_id, logger_id, start_at, end_at, applied_at, max_power_kw)
    values ('demo', 'day', 1, '2026-06-20T08:00Z', '2026-06-20T12:00Z', '2026-06-20T08:00Z', 90),
           ('demo', 'day', 2, '2026-06-20T08:00Z', '2026-06-20T12:00Z', '2026-06-20T08:00Z', 45),
           ('demo', 'deep', 1, '2026-06-20T08:20Z', '2026-06-20T08:40Z', '2026-06-20T08:20Z', 30),
           ('demo', 'now', 2, '2026-06-21T09:00Z', '2026-06-21T12:00Z', '2026-06-21T09:00Z', 30),
           ('demo', 'dark', 2, '2026-06-19T09:00Z', '2026-06-19T12:00Z', '2026-06-19T09:00Z', 30);
    insert into logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
      estimated_energy_kwh, energy_source, awake_covered_s, sun_covered_s, curtailment_loss_kwh,
      quarter_kwh, quarter_slot_count)
    select 'demo', logger, at, 1, 1, 40, 0, 'inverter_counter', 3600, 0, null,
      array[10, 10, 10, 10], array[3, 3, 3, 3]
    from generate_series(1, 2) as logger, generate_series(timestamptz '2026-06-20T08:00Z',
      '2026-06-20T11:00Z', interval '1 hour') as at`)
  await hour('day', 1, '2026-06-20T08:00Z', [12_347, 4003, 3999, 11_111])
  await hour('deep', 1, '2026-06-20T08:00Z', [0, 5431, 6789, 0])
  await hour('day', 1, '2026-06-20T09:00Z', [9999, 8765, 7654, 6543])
  await hour('day', 1, '2026-06-20T11:00Z', [10_001, 20_003, 30_007, 40_011])
  await hour('day', 2, '2026-06-20T08:00Z', [1501, 1502, 1503, 1504])
  await hour('day', 2, '2026-06-20T11:00Z', [2501, 2502, 2503, 2504])
  await hour('now', 2, '2026-06-21T09:00Z', [0, 1000, 0, 0])
  await site.db.execute(
    `insert into curtailment_hours values ('demo', 'dark', 2, '2026-06-19T09:00Z', null, null)`,
  )
}

/** Quarter hours, negative at noon; none at 10:00Z, where no row lost anything. */
const addPrices = () =>
  site.db.execute(`
    insert into market_prices (market_code, kind, start_at, end_at, price, revision, source,
      fetched_at)
    select 'BE', 'day_ahead', at, at + interval '15 minutes',
      case when extract(hour from at) = 11 then -7.123456
           else 50.123457 + extract(minute from at) end,
      1, 'csv', now()
    from generate_series(timestamptz '2026-06-20T00:00Z', '2026-06-20T23:45Z',
      interval '15 minutes') as at
    where extract(hour from at) <> 10`)

interface Row {
  group_id: string
  logger_id: number
  lost_revenue_amount: number | null
  avoided_cost_amount: number | null
  currency: string | null
  money_reason: string | null
}

const history = async (): Promise<Row[]> => (await site.get('/curtailment/history')).body.data

async function moneyOf(group_id: string, logger_id: number) {
  const rows = [...(await history()), ...(await site.get('/curtailment')).body.data] as Row[]
  const row = rows.find((one) => one.group_id === group_id && one.logger_id === logger_id)!
  return [row.lost_revenue_amount, row.avoided_cost_amount, row.currency, row.money_reason]
}

const micro = (amount: number | null) => Math.round(amount! * 1e6)
const sum = (rows: readonly Row[], name: 'lost_revenue_amount' | 'avoided_cost_amount') =>
  rows.reduce((total, row) => total + micro(row[name]), 0)

/** Rows add up to what accounts say of the plant and the day, to the micro. */
async function assertSums(logger_id: number): Promise<void> {
  const day = `start=2026-06-20&end=2026-06-20&logger_id=${logger_id}`
  const rows = (await history()).filter(
    (row) => row.logger_id === logger_id && row.group_id !== 'dark',
  )
  const hours = (await site.get(`/earnings/hourly?${day}`)).body.data as {
    start_at: string
    lost_amount: number | null
  }[]
  const of_hours = hours
    .filter(({ start_at }) => /T(08|09|11)/.test(start_at))
    .reduce((total, { lost_amount }) => total + micro(lost_amount), 0)
  const lost = sum(rows, 'lost_revenue_amount')
  const avoided = sum(rows, 'avoided_cost_amount')
  assert.equal(lost - avoided, of_hours)
  const { body } = await site.get(`/earnings/summary?${day}`)
  // Where an hour without a price makes the sum of the day unknown its hours still add up.
  if (body.reason !== null) return
  assert.equal(lost, micro(body.curtailment_loss_amount))
  assert.equal(avoided, micro(body.curtailment_avoided_cost_amount))
}

test('what rows kept back, in money', async (t) => {
  await t.test('is not known without a contract, or the energy', async () => {
    assert.deepEqual(await moneyOf('day', 1), [null, null, null, 'no_contract'])
    assert.deepEqual(await moneyOf('dark', 2), [null, null, null, null])
  })

  await t.test('is not known without a price', async () => {
    await take(contracts)
    assert.deepEqual(await moneyOf('day', 1), [null, null, null, 'no_price'])
    // A price below 0 pays nothing here, so that without a price nobody knows.
    assert.deepEqual(await moneyOf('now', 2), [null, null, null, 'no_price'])
    await take(contracts.replace(', pays_at_negative_price: false', ''))
    assert.deepEqual(await moneyOf('now', 2), [0.0615, 0, 'EUR', null])
    await take(contracts)
  })

  await t.test(
    'is the price of each quarter times its energy, and adds up to earnings',
    async () => {
      await addPrices()
      const deep = Math.round((4003 + 5431) * 65.123457) - Math.round(4003 * 65.123457)
      const deeper = Math.round((3999 + 6789) * 80.123457) - Math.round(3999 * 80.123457)
      assert.deepEqual(await moneyOf('deep', 1), [(deep + deeper) / 1e6, 0, 'EUR', null])
      const avoided = [10_001, 20_003, 30_007, 40_011].map((wh) => Math.round(wh * 7.123456))
      const [, of_day] = await moneyOf('day', 1)
      assert.equal(
        micro(of_day as number),
        avoided.reduce((total, each) => total + each, 0),
      )
      // Not paid while the price is negative.
      const paid = [1501, 1502, 1503, 1504].map((wh) => wh * 61.5)
      assert.deepEqual(await moneyOf('day', 2), [
        paid.reduce((total, each) => total + Math.round(each), 0) / 1e6,
        0,
        'EUR',
        null,
      ])
      for (const logger_id of [1, 2]) await assertSums(logger_id)
    },
  )

  await t.test('is shown to nobody without `earnings:read`', async () => {
    const key = await addKey(site.db, { key_id: 'cccccccccccc', scopes: ['curtailment:read'] })
    const shown = (await history()) as object[]
    assert.ok(shown.length > 0)
    for (const path of ['/curtailment/history', '/curtailment']) {
      const whole = (await site.get(path)).body.data as object[]
      const hidden = {
        lost_revenue_amount: null,
        avoided_cost_amount: null,
        currency: null,
        money_reason: 'forbidden_scope',
      }
      assert.deepEqual(
        (await site.get(path, key)).body.data,
        whole.map((row) => ({ ...row, ...hidden })),
      )
    }
    await site.db.execute("update clients set modules = array_remove(modules, 'earnings')")
    const without = await addKey(site.db, { key_id: 'dddddddddddd' })
    const { data } = (await site.get('/curtailment/history', without)).body
    assert.equal(data[0].money_reason, 'forbidden_scope')
    await site.db.execute("update clients set modules = modules || '{earnings}'")
  })

  await t.test('follows prices that are revised', async () => {
    const before = await moneyOf('deep', 1)
    await site.db.query(`
      update market_prices set is_current = false where start_at = '2026-06-20T08:15Z';
      insert into market_prices (market_code, kind, start_at, end_at, price, revision, source,
        fetched_at)
      values ('BE', 'day_ahead', '2026-06-20T08:15Z', '2026-06-20T08:30Z', -3, 2, 'csv', now())`)
    const after = await moneyOf('deep', 1)
    assert.ok((after[0] as number) < (before[0] as number))
    assert.equal(micro(after[1] as number), 5431 * 3)
    await site.db.execute(`
      insert into market_prices (market_code, kind, start_at, end_at, price, revision, source,
        fetched_at)
      select 'BE', 'day_ahead', at, at + interval '30 minutes', 20, 1, 'csv', now()
      from unnest('{2026-06-20T10:00Z,2026-06-20T10:30Z}'::timestamptz[]) as at`)
    for (const logger_id of [1, 2]) await assertSums(logger_id)
  })

  await t.test('is in the currency of the contract, of several in that of the site', async () => {
    const leva = contracts.replace('spot, currency: EUR', 'spot, currency: BGN')
    await take(leva)
    const [lost, , currency] = await moneyOf('deep', 1)
    assert.equal(currency, 'BGN')
    assert.ok((lost as number) > 1)
    await assertSums(1)
    const changed = `assignments:
  - { logger_id: 1, market_code: BE, contract_type: spot, currency: BGN,
      valid_from: 2026-01-01, valid_to: 2026-06-19 }
  - { logger_id: 1, market_code: BE, contract_type: spot, currency: EUR, valid_from: 2026-06-20 }`
    await take(changed)
    await site.db.execute(`
      update curtailment_rows set start_at = '2026-06-19T08:00Z', applied_at = '2026-06-19T08:00Z'
      where group_id = 'day' and logger_id = 1;
      insert into curtailment_hours
      values ('demo', 'day', 1, '2026-06-19T08:00Z', 1, '{1000,0,0,0}');
      insert into market_prices (market_code, kind, start_at, end_at, price, revision, source,
        fetched_at)
      values ('BE', 'day_ahead', '2026-06-19T08:00Z', '2026-06-19T09:00Z', 50, 1, 'csv', now())`)
    const [both, , of_both] = await moneyOf('day', 1)
    await site.db.execute(`delete from curtailment_hours where hour_at = '2026-06-19T08:00Z'`)
    const [one] = await moneyOf('day', 1)
    assert.equal(of_both, 'EUR')
    assert.equal(micro(both as number) - micro(one as number), 50_000)
    await site.db.execute('delete from exchange_rates')
    assert.deepEqual((await moneyOf('day', 1)).slice(2), ['EUR', null])
    await take(leva)
    assert.deepEqual(await moneyOf('day', 1), [null, null, null, 'no_exchange_rate'])
  })

  await t.test('is in files as in answers', async () => {
    const { payload } = await site.app.inject({
      url: '/v1/sites/demo/curtailment/history',
      headers: {
        authorization: `Bearer svc_live_0123456789ab_${'5e'.repeat(32)}`,
        accept: 'application/x-ndjson',
      },
    })
    const items = payload.trimEnd().split('\n')
    assert.deepEqual(
      items.map((item) => JSON.parse(item)),
      await history(),
    )
  })
})
