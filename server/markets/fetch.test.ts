/** Sources over HTTP, as bad as they come, and what is kept of them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { testDatabase } from '../../test/postgres.ts'
import { followMarket } from './admin.ts'
import { fetchPrices } from './fetch.ts'
import { observePriceSources } from './metrics.ts'
import { readPrices } from './price-store.ts'
import { document, series } from './sources/fixtures/documents.ts'
import { createGet } from './sources/http-get.ts'

const iso = (time_ms: number) => new Date(time_ms).toISOString()

type Answer = (response: ServerResponse, url: URL) => void

/** Belgium by ENTSO-E from a server that answers as the test likes, from 21 June on. */
async function followed(t: TestContext) {
  const { db, drop } = await testDatabase()
  t.after(drop)
  let answer: Answer = (response) => response.writeHead(500).end()
  const asked: URL[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://source')
    asked.push(url)
    answer(response, url)
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  let now = new Date('2026-06-21T09:00Z')
  const clock = { now: () => now }
  await followMarket({ db, clock }, { market_code: 'BE', source: 'entsoe', from: null })
  const warned: string[] = []
  const log = {
    info() {},
    error() {},
    warn: (fields: unknown) => warned.push(JSON.stringify(fields)),
  }
  return {
    db,
    asked,
    warned,
    async run(at: string, next: Answer, timeout_ms = 5000) {
      now = new Date(at)
      answer = next
      asked.length = 0
      await fetchPrices(
        {
          db,
          clock,
          log,
          signal: new AbortController().signal,
          settings: { entsoe_token: 'sesame', entsoe_url: url, energy_charts_url: url },
        },
        createGet({ timeout_ms, bytes_max: 100_000 }),
      )
    },
    prices: () =>
      readPrices(
        db,
        { market_code: 'BE', kind: 'day_ahead' },
        { start_ms: Date.parse('2026-06-20T22:00Z'), end_ms: Date.parse('2026-06-22T22:00Z') },
      ),
    state: async () => (await db.query('select * from price_fetches'))[0]!,
  }
}

const xml =
  (...parts: string[]): Answer =>
  (response) =>
    response.end(document(...parts))
const day = (date: number, price: number) =>
  series({
    start: `2026-06-${date - 1}T22:00Z`,
    end: `2026-06-${date}T22:00Z`,
    resolution: 'PT15M',
    prices: [price],
  })

test('what is due is fetched, and then not again until there is more', async (t) => {
  const { run, asked, prices, state } = await followed(t)
  await run('2026-06-21T09:00Z', xml(day(21, 40)))
  assert.deepEqual(
    asked.map((url) => url.searchParams.get('periodStart')),
    ['202606202200'],
  )
  assert.equal((await prices()).length, 96)
  await run('2026-06-21T10:50Z', xml(day(21, 40)))
  assert.equal(asked.length, 0)
  const none =
    '<Acknowledgement_MarketDocument><Reason><code>999</code><text>No matching data' +
    ' found</text></Reason></Acknowledgement_MarketDocument>'
  await run('2026-06-21T11:00Z', (response) => response.writeHead(400).end(none))
  assert.deepEqual(
    asked.map((url) => url.searchParams.get('periodStart')),
    ['202606212200'],
  )
  assert.equal((await state())['failure_count'], 0, 'that there are none yet is no failure')
  await run('2026-06-21T11:10Z', xml(day(22, -5)))
  assert.equal(asked.length, 1)
  assert.equal((await prices()).length, 192)
  await run('2026-06-21T11:20Z', xml(day(22, -5)))
  assert.equal(asked.length, 0)
  // After its delivery the 21st is looked at for corrections.
  await run('2026-06-22T06:00Z', xml(day(21, 41)))
  assert.equal(asked.length, 1)
  assert.deepEqual(new Set((await prices()).map((p) => p.price_micro / 1e6)), new Set([41, -5]))
})

const nonsense: [name: string, answer: Answer, why: RegExp][] = [
  ['an error', (response) => response.writeHead(503).end('busy'), /ENTSO-E answered 503/],
  ['a wrong token', (response) => response.writeHead(401).end('<html>'), /ENTSO-E answered 401/],
  ['HTML', (response) => response.end('<html><p>Maintenance</p></html>'), /answered with a html/],
  [
    'half a document',
    (response) => response.end(document(day(22, 1)).slice(0, -40)),
    /invalid XML/,
  ],
  ['nothing', (response) => response.end(), /invalid XML/],
  ['silence', () => {}, /no answer within 0.06 s/],
  ['a broken connection', (response) => response.destroy(), /closed|hang up|ECONNRESET/],
  ['a redirection', (response) => response.writeHead(302, { location: '/x' }).end(), /302/],
  ['too much', (response) => response.end('x'.repeat(100_001)), /exceeds 100000 bytes/],
  [
    'another currency without a rate',
    xml(
      series({
        start: '2026-06-21T22:00Z',
        end: '2026-06-22T22:00Z',
        resolution: 'PT60M',
        prices: [1],
        currency: 'UAH',
      }),
    ),
    /prices in UAH, without a rate to EUR/,
  ],
  [
    'prices of another zone',
    xml(day(22, 1).replaceAll('10YBE', '10YNL')),
    /in_Domain.mRID is 10YNL/,
  ],
  [
    'more than the auction gives',
    xml(day(22, 4000.01)),
    /the price at 2026-06-21T22:00:00.000Z: 4000.01 is above 4000 EUR/,
  ],
  ['less than the auction gives', xml(day(22, -500.01)), /-500.01 is below -500 EUR/],
]

test('a source that fails leaves what was there, and is given more time each time', async (t) => {
  const { db, run, asked, warned, prices, state } = await followed(t)
  await run('2026-06-21T09:00Z', xml(day(21, 40)))
  const good = await prices()
  let at_ms = Date.parse('2026-06-21T11:00Z')
  for (const [index, [name, answer, why]] of nonsense.entries()) {
    await t.test(name, async () => {
      await run(iso(at_ms), answer, name === 'silence' ? 60 : 5000)
      const { failure_count, last_failure, succeeded_at, next_attempt_at } = await state()
      assert.equal(failure_count, index + 1)
      assert.match(last_failure as string, why)
      assert.match(last_failure as string, /^2026-06-22: /)
      assert.deepEqual(succeeded_at, new Date('2026-06-21T09:00Z'))
      assert.deepEqual(await prices(), good)
      const next_ms = (next_attempt_at as Date).getTime()
      assert.ok(next_ms >= at_ms + 600_000)
      await run(iso(next_ms - 1), answer)
      assert.equal(asked.length, 0, 'it is left in peace')
      at_ms = next_ms
    })
  }
  assert.doesNotMatch(`${warned} ${JSON.stringify(await state())}`, /sesame/)
  const registry = new Registry()
  observePriceSources(registry, db)
  const labels = '{market="BE",source="entsoe"}'
  const before = await registry.metrics()
  assert.ok(before.includes(`heliograph_price_source_failures${labels} ${nonsense.length}\n`))

  await run(iso(at_ms), xml(day(22, 50)))
  assert.equal((await state())['failure_count'], 0)
  assert.equal((await prices()).length, 192)
  const after = await registry.metrics()
  assert.ok(after.includes(`heliograph_price_source_failures${labels} 0\n`))
  const figure = (name: string, ms: number) =>
    assert.ok(after.includes(`heliograph_price_source_${name}${labels} ${ms / 1000}\n`), name)
  figure('last_success_timestamp_seconds', at_ms)
  figure('last_price_timestamp_seconds', Date.parse('2026-06-22T22:00Z'))
})

test('a day that stays broken keeps no other day away', async (t) => {
  const { run, asked, prices, state } = await followed(t)
  // That of the 22nd, which is asked for first, is broken; that of the 21st is published.
  const answer: Answer = (response, url) => {
    const is_22nd = url.searchParams.get('periodStart') === '202606212200'
    response.end(is_22nd ? '<html></html>' : document(day(21, -5)))
  }
  await run('2026-06-21T11:00Z', answer)
  assert.equal(asked.length, 2)
  assert.equal((await prices()).length, 96)
  const { failure_count, next_attempt_at, succeeded_at } = await state()
  assert.equal(failure_count, 1)
  assert.deepEqual([next_attempt_at, succeeded_at], [succeeded_at, new Date('2026-06-21T11:00Z')])
  await run('2026-06-21T11:10Z', answer)
  assert.equal(asked.length, 1)
  assert.equal((await state())['failure_count'], 2)
})

test('prices in another currency are converted where a rate is set', async (t) => {
  const { db, run, prices } = await followed(t)
  await db.execute(
    "insert into exchange_rates (currency, valid_from, per_eur) values ('UAH', '2026-01-01', 50)",
  )
  const of_day = { start: '2026-06-20T22:00Z', end: '2026-06-21T22:00Z', resolution: 'PT60M' }
  await run('2026-06-21T09:00Z', xml(series({ ...of_day, prices: [100], currency: 'UAH' })))
  assert.deepEqual(new Set((await prices()).map((p) => p.price_micro)), new Set([2_000_000]))
})

test('hours never replace the quarters that are known', async (t) => {
  const { run, prices, db } = await followed(t)
  await run('2026-06-21T09:00Z', xml(day(21, 40)))
  const quarters = await prices()
  await db.execute('update price_days set is_complete = false')
  const of_day = { start: '2026-06-20T22:00Z', end: '2026-06-21T22:00Z', resolution: 'PT60M' }
  await run('2026-06-21T09:20Z', xml(series({ ...of_day, prices: [99] })))
  assert.deepEqual(await prices(), quarters)
})
