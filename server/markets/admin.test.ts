import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { AdminError } from '../access/admin.ts'
import {
  createSimulatedMarket,
  followMarket,
  importPrices,
  listMarkets,
  listRates,
  setRate,
} from './admin.ts'
import { type PriceKind, readPrices } from './price-store.ts'

let database: TestDatabase
const folder = mkdtempSync(join(tmpdir(), 'heliograph-prices-'))
before(async () => {
  database = await testDatabase()
})
after(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

const clock = { now: () => new Date('2026-06-21T23:00Z') }
const admin = () => ({ db: database.db, clock })
const refused = (code: string, why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AdminError)
  assert.equal(error.code, code)
  assert.match(error.message, why)
  return true
}

let files = 0
function file(...rows: string[]): string {
  files += 1
  const path = join(folder, `prices-${files}.csv`)
  writeFileSync(path, ['start_at,end_at,price_per_mwh,currency', ...rows].join('\n'))
  return path
}
const import_ = (path: string, market_code: string, kind = 'day_ahead') =>
  importPrices(admin(), { file: path, market_code, kind })
const all = { start_ms: Date.parse('2025-01-01T00:00Z'), end_ms: Date.parse('2027-01-01T00:00Z') }
const pricesOf = (market_code: string, kind: PriceKind = 'day_ahead') =>
  readPrices(database.db, { market_code, kind }, all)

test('prices that an auction cannot give are refused by line, any for a simulated market', async () => {
  const rows = [
    '2026-02-01T02:00Z,2026-02-01T03:00Z,999999,EUR',
    '2026-02-01T00:00Z,2026-02-01T01:00Z,-500.01,EUR',
    '2026-02-01T01:00Z,2026-02-01T02:00Z,4000,EUR',
  ]
  await assert.rejects(
    import_(file(...rows), 'AT'),
    refused(
      'invalid',
      /line 2: price_per_mwh: 999999 is above 4000 EUR.*\n.*line 3: .*-500.01 is below -500 EUR/,
    ),
  )
  assert.deepEqual(await pricesOf('AT'), [])
  // What imbalance costs has no such limits.
  assert.equal((await import_(file(rows[0]!), 'AT', 'imbalance')).added_count, 1)
  await createSimulatedMarket(admin(), { timezone: 'Europe/Sofia', country_code: 'BG' })
  await assert.rejects(
    import_(file(rows[2]!), 'DEMO'),
    refused('invalid', /DEMO is simulated: prices cannot be imported/),
  )
})

test('a file is taken whole, leva at their rate, imbalance prices apart', async () => {
  const path = file(
    '2025-11-01T00:15Z,2025-11-01T00:30Z,-0.01,EUR',
    '2025-11-01T00:00Z,2025-11-01T00:15Z,195.583,BGN',
  )
  const done = await import_(path, 'BG')
  assert.equal(done.added_count, 2)
  assert.equal(done.start_at.toISOString(), '2025-11-01T00:00:00.000Z')
  const read = await pricesOf('BG')
  assert.deepEqual(
    read.map(({ price_micro }) => price_micro),
    [100_000_000, -10_000],
  )
  assert.deepEqual(await pricesOf('BG', 'imbalance'), [])
  await import_(file('2025-11-01T00:00Z,2025-11-01T00:15Z,310.5,'), 'BG', 'imbalance')
  const [imbalance] = await pricesOf('BG', 'imbalance')
  assert.equal(imbalance!.price_micro, 310_500_000)
  assert.deepEqual(await pricesOf('BG'), read)
  assert.equal((await import_(path, 'BG')).unchanged_count, 2)
})

test('a file with faults changes nothing, and each is named by its line', async () => {
  const good = '2025-11-01T00:00Z,2025-11-01T00:15Z,1,EUR'
  await assert.rejects(
    import_(file(good, 'x,y,1,EUR', '2025-11-01T00:15Z,2025-11-01T00:30Z,n/a,EUR'), 'RO'),
    refused('invalid', /line 3: start_at: 'x'[\s\S]*line 4: price_per_mwh: 'n\/a'/),
  )
  await assert.rejects(
    import_(file(good, '2025-11-01T00:15Z,2025-11-01T00:30Z,1,UAH'), 'RO'),
    refused('invalid', /line 3: no rate from UAH to EUR/),
  )
  assert.deepEqual(await pricesOf('RO'), [])
  const missing = join(folder, 'missing.csv')
  await assert.rejects(import_(missing, 'RO'), refused('invalid', /missing.csv cannot be read/))
  await assert.rejects(import_(file(good), 'XX'), refused('not_found', /unknown market XX/))
  await assert.rejects(import_(file(good), 'RO', 'spot'), refused('invalid', /unknown kind/))
})

test('a market follows one source from a day on, or none', async () => {
  const follow = (market_code: string, source: string, from: string | null = null) =>
    followMarket(admin(), { market_code, source, from })
  const today = await follow('AT', 'entsoe')
  // It is past midnight in Vienna.
  assert.deepEqual([today.source, today.followed_from], ['entsoe', '2026-06-22'])
  assert.equal((await follow('AT', 'energy_charts', '2026-01-01')).followed_from, '2026-01-01')
  const listed = async (code: string) =>
    (await listMarkets(admin())).find(({ market_code }) => market_code === code)!
  assert.deepEqual(
    [(await listed('AT')).source, (await listed('AT')).failure_count],
    ['energy_charts', 0],
  )
  await follow('AT', 'none')
  assert.deepEqual([(await listed('AT')).source, (await listed('AT')).followed_from], [null, null])
  await assert.rejects(follow('AT', 'smoke'), refused('invalid', /unknown source: "smoke"/))
  await assert.rejects(follow('XX', 'none'), refused('not_found', /unknown market XX/))
  await assert.rejects(follow('AT', 'entsoe', '2026-02-30'), refused('invalid', /is not a date/))
  await assert.rejects(follow('AT', 'simulated'), refused('invalid', /AT is a real market/))
})

test('the simulated market is made once, and follows nothing real', async () => {
  const of_site = { timezone: 'Europe/Berlin', country_code: 'DE' }
  const made = await createSimulatedMarket(admin(), of_site)
  assert.equal(made.name, 'Simulated day-ahead market')
  assert.deepEqual(await createSimulatedMarket(admin(), { ...of_site, timezone: 'UTC' }), made)
  const follow = (source: string) =>
    followMarket(admin(), { market_code: 'DEMO', source, from: '2026-06-01' })
  assert.equal((await follow('simulated')).source, 'simulated')
  await assert.rejects(follow('entsoe'), refused('invalid', /DEMO is no bidding zone/))
})

test('rates are set by day, replaced, and listed', async () => {
  const set = (currency: string, per_eur: string, valid_from = '2026-06-01') =>
    setRate(admin(), { currency, per_eur, valid_from })
  await set('PLN', '4.2715')
  await set('PLN', '4.3000', '2026-06-15')
  await set('PLN', '4.25', '2026-06-15')
  assert.deepEqual(await listRates(admin()), [
    { currency: 'BGN', valid_from: '1999-01-01', per_eur: '1.95583' },
    { currency: 'PLN', valid_from: '2026-06-15', per_eur: '4.25' },
    { currency: 'PLN', valid_from: '2026-06-01', per_eur: '4.2715' },
  ])
  await assert.rejects(set('EUR', '1'), refused('invalid', /is not EUR/))
  await assert.rejects(set('pln', '4'), refused('invalid', /three capital letters/))
  for (const rate of ['0', '0.0', '-4', '4,2', 'NaN', '']) {
    await assert.rejects(set('PLN', rate), refused('invalid', /a number above 0/), rate)
  }
  await assert.rejects(set('PLN', '4', '2026-6-1'), refused('invalid', /is not a date/))
})
