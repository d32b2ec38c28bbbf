import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { day_ms, quarter_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import type { PricePeriod } from './periods.ts'
import { readMarkets, readPrices, readRate } from './price-store.ts'
import { inCurrency, reviseBy, storePrices } from './publications.ts'

let database: TestDatabase
before(async () => {
  database = await testDatabase()
})
after(() => database.drop())

const start_ms = Date.parse('2026-06-21T00:00Z')
const period = (start_q: number, quarters: number, price_micro: number): PricePeriod => ({
  start_ms: start_ms + start_q * quarter_ms,
  end_ms: start_ms + (start_q + quarters) * quarter_ms,
  price_micro,
})

/** Periods of one resolution, some absent. */
const publication = fc
  .record({
    quarters: fc.constantFrom(1, 2, 4),
    prices: fc.array(fc.option(fc.integer({ min: -3, max: 3 })), { maxLength: 24 }),
  })
  .map(({ quarters, prices }) =>
    prices
      .slice(0, 24 / quarters)
      .flatMap((price, nth) => (price === null ? [] : [period(nth * quarters, quarters, price)])),
  )

type Known = PricePeriod & { revision: number }

test('prices in force never overlap, only finer or equal ones replace, revisions rise', () => {
  const byStart = (a: Known, b: Known) => a.start_ms - b.start_ms
  fc.assert(
    fc.property(fc.array(publication, { maxLength: 6 }), (publications) => {
      let current: Known[] = []
      const past: Known[] = []
      const used = new Set<string>()
      for (const news of publications) {
        const { replaced, taken, unchanged_count, coarser_count } = reviseBy(
          { current, past },
          news,
        )
        assert.equal(taken.length + unchanged_count + coarser_count, news.length)
        for (const each of taken) {
          const key = `${each.start_ms}/${each.revision}`
          assert.ok(!used.has(key), 'a revision of a period is there once')
          used.add(key)
          const overlapped = replaced.filter((old) => {
            return old.start_ms < each.end_ms && each.start_ms < old.end_ms
          })
          for (const old of overlapped) {
            assert.ok(old.revision < each.revision)
            assert.ok(old.end_ms - old.start_ms >= each.end_ms - each.start_ms)
          }
        }
        past.push(...replaced)
        current = [...current.filter((old) => !replaced.includes(old)), ...taken].sort(byStart)
        for (const [index, each] of current.entries()) {
          if (index > 0) assert.ok(current[index - 1]!.end_ms <= each.start_ms)
        }
        const again = reviseBy({ current, past }, news)
        assert.deepEqual([again.replaced, again.taken], [[], []], 'again it changes nothing')
      }
    }),
  )
})

const store = (market_code: string, periods: PricePeriod[], fetched_at = '2026-06-20T11:00Z') =>
  database.db.transaction((tx) =>
    storePrices(tx, {
      market_code,
      kind: 'day_ahead',
      source: 'csv',
      document_id: null,
      published_at: null,
      fetched_at: new Date(fetched_at),
      periods,
    }),
  )
const all = { start_ms, end_ms: start_ms + day_ms }
const pricesOf = (market_code: string, span = all) =>
  readPrices(database.db, { market_code, kind: 'day_ahead' }, span)

test('a changed price is a new revision, the old one is kept, reads give the newest', async () => {
  const first = [period(0, 1, 10_000), period(1, 1, -1), period(2, 1, 4_000_000_000)]
  assert.deepEqual(await store('BG', first), {
    added_count: 3,
    changed_count: 0,
    unchanged_count: 0,
    coarser_count: 0,
  })
  assert.deepEqual(await pricesOf('BG'), first)
  const second = [first[0]!, period(1, 1, 20), period(3, 1, 5)]
  assert.deepEqual(await store('BG', second, '2026-06-22T08:00Z'), {
    added_count: 1,
    changed_count: 1,
    unchanged_count: 1,
    coarser_count: 0,
  })
  assert.deepEqual(await pricesOf('BG'), [first[0], second[1], first[2], second[2]])
  const kept = await database.db.query(
    `select revision, price::text, is_current from market_prices
     where market_code = 'BG' and start_at = $1 order by revision`,
    [new Date(second[1]!.start_ms)],
  )
  assert.deepEqual(kept, [
    { revision: 1, price: '-0.000001', is_current: false },
    { revision: 2, price: '0.000020', is_current: true },
  ])
  const imbalance = await readPrices(database.db, { market_code: 'BG', kind: 'imbalance' }, all)
  assert.deepEqual(imbalance, [], 'imbalance prices are stored apart')
})

test('an hour that gave way to one of its quarters comes back quarter by quarter', async () => {
  await store('HU', [period(0, 4, 1)])
  await store('HU', [period(1, 1, 2)])
  await store('HU', [period(0, 1, 3)])
  const read = await pricesOf('HU')
  assert.deepEqual(read, [period(0, 1, 3), period(1, 1, 2)])
})

test('reads give whole periods that share time with the span, and no others', async () => {
  const hours = [period(0, 4, 1), period(4, 4, 2), period(8, 4, 3)]
  await store('GR', hours)
  const read = (from_q: number, to_q: number) =>
    pricesOf('GR', {
      start_ms: start_ms + from_q * quarter_ms,
      end_ms: start_ms + to_q * quarter_ms,
    })
  assert.deepEqual(await read(4, 8), [hours[1]])
  assert.deepEqual(await read(3, 9), hours)
  assert.deepEqual(await read(5, 6), [hours[1]])
  assert.deepEqual(await read(12, 99), [])
})

test('a failed import leaves nothing behind', async () => {
  const broken = [period(0, 1, 1), { ...period(1, 1, 1), end_ms: start_ms }]
  await assert.rejects(store('RO', broken))
  assert.deepEqual(await pricesOf('RO'), [])
})

test('rates hold from their day on, against the euro and each other', async () => {
  const { db } = database
  await db.query(`insert into exchange_rates (currency, valid_from, per_eur) values
    ('PLN', '2026-06-01', 4.25), ('PLN', '2026-06-15', 4.5), ('CZK', '2026-06-01', 25)`)
  const rate = (currency: string, base: string, on: Date) => readRate(db, { currency, base, on })
  const on = (day: string) => new Date(`${day}T23:00Z`)
  assert.equal(await rate('EUR', 'PLN', on('2026-06-14')), 4.25)
  assert.equal(await rate('PLN', 'EUR', on('2026-06-15')), 1 / 4.5)
  assert.equal(await rate('PLN', 'CZK', on('2026-06-20')), 25 / 4.5)
  assert.equal(await rate('PLN', 'EUR', on('2026-05-31')), null)
  assert.equal(await rate('SEK', 'EUR', on('2026-06-20')), null)
  assert.equal(await rate('SEK', 'SEK', on('2026-06-20')), 1)
  const leva = [period(0, 1, 195_583_000)]
  const converted = (from: string) =>
    db.transaction((tx) => inCurrency(tx, leva, { from, to: 'EUR' }))
  assert.equal((await converted('BGN'))![0]!.price_micro, 100_000_000)
  assert.equal(await converted('SEK'), null)
})

test('the markets that come along have codes of ENTSO-E that check', async () => {
  const markets = await readMarkets(database.db)
  assert.ok(markets.length > 40)
  for (const { market_code, eic_code, timezone } of markets) {
    assert.equal(eicCheck(eic_code!.slice(0, 15)), eic_code![15], `${market_code} ${eic_code}`)
    assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: timezone }), market_code)
  }
})

/** The check character of an Energy Identification Code: ENTSO-E's EIC reference manual, annex. */
function eicCheck(code: string): string {
  const characters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-'
  const sum = [...code].reduce((total, each, nth) => {
    return total + characters.indexOf(each) * (16 - nth)
  }, 0)
  return characters[36 - ((sum - 1) % 37)]!
}
