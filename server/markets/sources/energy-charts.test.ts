import assert from 'node:assert/strict'
import test from 'node:test'
import { energyChartsSource, readColumns } from './energy-charts.ts'
import { testMarket } from './fixtures/documents.ts'
import { SourceFault } from './source.ts'

const day = { start_ms: Date.parse('2026-06-20T22:00Z'), end_ms: Date.parse('2026-06-21T22:00Z') }
const at = (quarter: number) => day.start_ms / 1000 + quarter * 900

const answer = (columns: { unix_seconds: number[]; price: (number | null)[]; unit?: string }) =>
  JSON.stringify({ license_info: '', unit: 'EUR / MWh', deprecated: false, ...columns })

test('columns become periods; what has no price or no time stays unknown', () => {
  const outcome = readColumns(
    answer({
      unix_seconds: [at(-1), at(0), at(1), at(2), at(5), at(96)],
      price: [9, -0.01, null, 3, 4.5, 9],
    }),
    day,
  )
  assert.ok(outcome.outcome === 'published')
  assert.deepEqual(
    outcome.periods.map((p) => [(p.start_ms - day.start_ms) / 900_000, p.price_micro]),
    [
      [0, -10_000],
      [2, 3_000_000],
      [5, 4_500_000],
    ],
  )
  assert.ok(outcome.periods.every((p) => p.end_ms - p.start_ms === 900_000))
  assert.deepEqual([outcome.currency, outcome.published_at], ['EUR', null])
})

test('hours are hours, also around a hole', () => {
  const outcome = readColumns(
    answer({ unix_seconds: [at(0), at(4), at(12)], price: [1, 2, 3] }),
    day,
  )
  assert.ok(outcome.outcome === 'published')
  assert.deepEqual(
    outcome.periods.map((p) => (p.end_ms - p.start_ms) / 3_600_000),
    [1, 1, 1],
  )
})

test('a day of hours stays one where quarters lead to it and follow it', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => at(4 * hour))
  const unix_seconds = [at(-2), at(-1), ...hours, at(96), at(97)]
  const outcome = readColumns(answer({ unix_seconds, price: unix_seconds.map(() => 5) }), day)
  assert.ok(outcome.outcome === 'published')
  assert.equal(outcome.periods.length, 24)
  assert.ok(outcome.periods.every((p) => p.end_ms - p.start_ms === 3_600_000))
})

test('no times, or none of the day, are no prices yet', () => {
  assert.deepEqual(readColumns(answer({ unix_seconds: [], price: [] }), day), {
    outcome: 'none_yet',
  })
  const earlier = answer({ unix_seconds: [at(-96), at(-95)], price: [1, 2] })
  assert.deepEqual(readColumns(earlier, day), { outcome: 'none_yet' })
})

test('nonsense is refused in words', () => {
  const refused: [string, RegExp][] = [
    ['', /invalid JSON/],
    ['<html></html>', /invalid JSON/],
    ['[]', /not a list of prices/],
    [answer({ unix_seconds: [at(0), at(1)], price: [1] }), /2 times, 1 prices/],
    [answer({ unix_seconds: [at(0), at(1)], price: [1, 2], unit: 'EUR/kWh' }), /unit 'EUR\/kWh'/],
    [answer({ unix_seconds: [at(1), at(0)], price: [1, 2] }), /off the market grid/],
    [answer({ unix_seconds: [at(0)], price: [1] }), /off the market grid/],
    [answer({ unix_seconds: [at(0), at(1)], price: [1, 1e300] }), /price 1e\+300/],
  ]
  for (const [text, why] of refused) {
    assert.throws(
      () => readColumns(text, day),
      (error) => error instanceof SourceFault && why.test(error.message),
      text,
    )
  }
})

test('the request names zone and day; an auction of its own is not there', async () => {
  const asked: string[] = []
  const source = energyChartsSource({ url: 'http://charts.example/' })
  const needs = {
    now: new Date(day.start_ms),
    signal: new AbortController().signal,
    get: async (url: URL) => {
      asked.push(url.href)
      return { status: 404, text: '' }
    },
  }
  const italy = { ...testMarket, market_code: 'IT-CENTRE-NORTH' }
  assert.deepEqual(await source.fetchDay(italy, day, needs), { outcome: 'none_yet' })
  assert.deepEqual(asked, [
    'http://charts.example/price?bzn=IT-Centre-North&start=2026-06-20T22%3A00Z&end=2026-06-21T22%3A00Z',
  ])
  const exaa = await source.fetchDay({ ...testMarket, sequence: 2 }, day, needs)
  assert.equal(exaa.outcome, 'failed')
  const failed = { ...needs, get: async () => ({ status: 500, text: 'sorry' }) }
  assert.deepEqual(await source.fetchDay(italy, day, failed), {
    outcome: 'failed',
    reason: 'energy-charts answered 500',
  })
})
