import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import type { PeriodSpan } from '../periods.ts'
import type { Market } from '../price-store.ts'
import { entsoeSource, readDocument } from './entsoe.ts'
import { document, series, testMarket } from './fixtures/documents.ts'
import { SourceFault } from './source.ts'

const span = (start: string, end: string): PeriodSpan => ({
  start_ms: Date.parse(start),
  end_ms: Date.parse(end),
})
const zone = { eic_code: testMarket.eic_code, sequence: null }

/** Price by the start of its period, `06T12:00`. */
function pricesOf(
  text: string,
  day: PeriodSpan,
  market: Pick<Market, 'eic_code' | 'sequence'> = zone,
) {
  const outcome = readDocument(text, market, day)
  assert.equal(outcome.outcome, 'published')
  assert.ok('periods' in outcome)
  const key = (ms: number) => new Date(ms).toISOString().slice(8, 16)
  return new Map(outcome.periods.map((p) => [key(p.start_ms), p.price_micro / 1e6]))
}

const folder = new URL('../../../../shared/data/prices/', import.meta.url)
const reading = (name: string) => readFileSync(new URL(name, folder), 'utf8')

test('documents of ENTSO-E have their known prices', async (t) => {
  if (!existsSync(folder)) return t.skip('THE SHARED DATA IS NOT THERE: no real document was read')

  await t.test('a curve without its repetitions', () => {
    const day = span('2024-01-01T00:00Z', '2024-01-01T06:00Z')
    const text = reading('hexagon_publication.a03curvetype.xml')
    // An example that was made up: of a border, and with the currency for the unit.
    const slovakia = { eic_code: '10YSK-SEPS-----K', sequence: null }
    assert.throws(
      () => readDocument(text, zone, day),
      /in_Domain.mRID is 10YSK-SEPS-----K, not 10YBE/,
    )
    assert.throws(() => readDocument(text, slovakia, day), /out_Domain.mRID is 10YCZ-CEPS-----N/)
    const within = text.replace('10YCZ-CEPS-----N', '10YSK-SEPS-----K')
    assert.throws(() => readDocument(within, slovakia, day), /prices per EUR, not MWH/)
    const mended = within.replace(/(<price_Measure_Unit.name>)EUR/, '$1MWH')
    const prices = pricesOf(mended, day, slovakia)
    assert.deepEqual([...prices.values()], [50, 50, 55, 55, 55, 60])
  })

  await t.test('days in quarters and in hours in one document', () => {
    const text = reading('hass_BE_60M_15M_mix.xml')
    const first = pricesOf(text, span('2024-10-05T22:00Z', '2024-10-06T22:00Z'))
    assert.equal(first.size, 96)
    const noon = ['06T12:00', '06T12:15', '06T12:30', '06T12:45'].map((at) => first.get(at)!)
    assert.equal(Number((noon.reduce((a, b) => a + b) / 4).toFixed(6)), -0.01)
    assert.equal(pricesOf(text, span('2024-10-06T22:00Z', '2024-10-07T22:00Z')).size, 96)
    assert.equal(pricesOf(text, span('2024-10-07T22:00Z', '2024-10-08T22:00Z')).size, 24)
  })

  await t.test('hours, and exactly four quarters', () => {
    const hours = pricesOf(
      reading('hass_BE_60M.xml'),
      span('2024-10-07T22:00Z', '2024-10-08T22:00Z'),
    )
    assert.equal(hours.size, 24)
    assert.deepEqual([hours.get('07T22:00'), hours.get('07T23:00')], [64.98, 57.86])
    const four = pricesOf(
      reading('hass_BE_15M_exact4.xml'),
      span('2024-10-05T22:00Z', '2024-10-06T22:00Z'),
    )
    assert.deepEqual([...four.values()], [55.35, 44.22, 40.32, 31.86])
  })

  await t.test('a position beyond the end of its period is refused, not moved', () => {
    const day = span('2024-10-05T22:00Z', '2024-10-06T22:00Z')
    assert.throws(() => readDocument(reading('hass_BE_15M_avg.xml'), zone, day), /position 3 in a/)
  })

  await t.test('an acknowledgement means no data, an unknown document nothing', () => {
    const day = span('2016-03-30T00:00Z', '2016-03-31T00:00Z')
    const none = readDocument(reading('hexagon_acknowledgement.invalidrequest.xml'), zone, day)
    assert.deepEqual(none, { outcome: 'none_yet' })
    assert.throws(
      () => readDocument(reading('hexagon_invalid.xml'), zone, day),
      /answered with a Unknown_MarketDocument/,
    )
  })
})

const day = span('2026-06-20T22:00Z', '2026-06-21T22:00Z')
const whole = { start: '2026-06-20T22:00Z', end: '2026-06-21T22:00Z' }
const flat = (price: number) => ({ ...whole, resolution: 'PT60M', prices: [price] })

test('a position that is left out has the price before it, and none lies beyond the end', () => {
  const hours = { ...whole, resolution: 'PT60M', prices: [50, 51, 55, 56, 57, 60] }
  const kept = document(series(hours)).replaceAll(/<Point><position>[245]<.*?<\/Point>/g, '')
  const prices = [...pricesOf(kept, day).values()]
  assert.deepEqual(prices.slice(0, 7), [50, 50, 55, 55, 55, 60, 60])
  assert.equal(prices.length, 24)
  const short = { ...hours, end: '2026-06-20T23:00Z', resolution: 'PT15M' }
  assert.throws(() => readDocument(document(series(short)), zone, day), /position 5 in a/)
})

test('an acknowledgement without data means none yet', () => {
  const none = acknowledgement('999', 'No matching data found for Data item')
  assert.deepEqual(readDocument(none, zone, day), { outcome: 'none_yet' })
  const unknown = '<Unknown_MarketDocument></Unknown_MarketDocument>'
  assert.throws(() => readDocument(unknown, zone, day), /answered with a Unknown_MarketDocument/)
})

test('of several auctions only the own one counts, also where it has holes', () => {
  const own = series({ position: 1, ...flat(10), end: '2026-06-21T00:00Z' })
  const other = series({ position: 2, ...flat(99) })
  const prices = pricesOf(document(own, other), day, { ...zone, sequence: 1 })
  assert.deepEqual([...prices.values()], [10, 10])
  const exaa = pricesOf(document(own, other), day, { ...zone, sequence: 2 })
  assert.deepEqual([exaa.size, exaa.get('21T12:00')], [24, 99])
  assert.deepEqual(readDocument(document(other), { ...zone, sequence: 1 }, day), {
    outcome: 'none_yet',
  })
})

test('contracts that are not day-ahead do not count', () => {
  const intraday = series({ contract: 'A07', ...flat(99) })
  const prices = pricesOf(document(intraday, series(flat(10))), day)
  assert.deepEqual(new Set(prices.values()), new Set([10]))
  assert.deepEqual(readDocument(document(intraday), zone, day), { outcome: 'none_yet' })
})

test('series in hours and in quarters lie over each other: the finer one counts', () => {
  const quarters = series({
    start: '2026-06-21T10:00Z',
    end: '2026-06-21T11:00Z',
    resolution: 'PT15M',
    prices: [1, 2, 3, -4.5],
  })
  const prices = pricesOf(document(series(flat(10)), quarters), day)
  assert.equal(prices.size, 27)
  assert.deepEqual(
    ['21T09:00', '21T10:00', '21T10:45', '21T11:00'].map((at) => prices.get(at)),
    [10, 1, -4.5, 10],
  )
})

test('days on which clocks are set have 92 and 100 quarters', () => {
  const prices = (start: string, end: string) => {
    const one = series({ start, end, resolution: 'PT15M', prices: [1] })
    return pricesOf(document(one), span(start, end)).size
  }
  assert.equal(prices('2026-03-28T23:00Z', '2026-03-29T22:00Z'), 92)
  assert.equal(prices('2026-10-24T22:00Z', '2026-10-25T23:00Z'), 100)
})

test('what lies outside of the day is left out', () => {
  const days = series({ ...flat(1), start: '2026-06-19T22:00Z', end: '2026-06-22T22:00Z' })
  assert.equal(pricesOf(document(days), day).size, 24)
  const other = span('2026-07-01T22:00Z', '2026-07-02T22:00Z')
  assert.deepEqual(readDocument(document(days), zone, other), { outcome: 'none_yet' })
})

test('nonsense is refused in words', () => {
  const refused: [string, RegExp][] = [
    ['', /invalid XML/],
    ['<html><body>Service unavailable</body></html>', /answered with a html/],
    ['<Publication_MarketDocument><TimeSeries>', /invalid XML/],
    ['{"error": true}', /invalid XML/],
    [document(series({ ...flat(1), resolution: 'P1D' })), /resolution P1D/],
    [document(series({ ...flat(1), curve: 'A02' })), /curve type A02/],
    [document(series({ ...flat(1), unit: 'KWH' })), /prices per KWH, not MWH/],
    [
      document(series({ ...flat(1), in_domain: '10Y1001A1001A82H' })),
      /in_Domain.mRID is 10Y1001A1001A82H, not 10YBE----------2/,
    ],
    [
      document(series({ ...flat(1), out_domain: '10Y1001A1001A82H' })),
      /out_Domain.mRID is 10Y1001A1001A82H, not 10YBE----------2/,
    ],
    [
      document(series(flat(1)).replace(/<price_Measure.*/, '')),
      /a document without price_Measure_Unit.name/,
    ],
    [document(series(flat(1)).replace(/<out_Domain.*/, '')), /a document without out_Domain.mRID/],
    [document(series(flat(1)), series(flat(2))), /two prices at 2026-06-20T22/],
    [document(series(flat(1)), series({ ...flat(1), currency: 'BGN' })), /prices in EUR and BGN/],
    [document(series(flat(1)).replace('<price.amount>1<', '<price.amount>n/a<')), /price 'n\/a'/],
    [document(series(flat(1)).replace('22:00Z</start>', '22:00</start>')), /instant/],
    [document(series(flat(1)).replaceAll(/<position>.*?<\/position>/g, '')), /without position/],
    [acknowledgement('999', 'Requested time interval is too long'), /refused: 999: Requested/],
    [acknowledgement('500', 'No'), /refused: 500: No/],
  ]
  for (const [text, why] of refused) {
    assert.throws(
      () => readDocument(text, zone, day),
      (error) => error instanceof SourceFault && why.test(error.message),
      text.slice(0, 200),
    )
  }
})

const acknowledgement = (code: string, text: string) =>
  `<Acknowledgement_MarketDocument><Reason><code>${code}</code><text>${text}</text></Reason>
   </Acknowledgement_MarketDocument>`

test('the request names zone, day in UTC, contract and auction; the token is nowhere else', async () => {
  const asked: URL[] = []
  const source = entsoeSource({ url: 'http://platform.example/api', token: 'sesame' })
  const needs = { now: new Date(day.start_ms), signal: new AbortController().signal }
  const get = async (url: URL) => {
    asked.push(url)
    return { status: 503, text: 'no' }
  }
  const outcome = await source.fetchDay({ ...testMarket, sequence: 1 }, day, { ...needs, get })
  assert.deepEqual(outcome, { outcome: 'failed', reason: 'ENTSO-E answered 503' })
  assert.deepEqual(Object.fromEntries(asked[0]!.searchParams), {
    securityToken: 'sesame',
    documentType: 'A44',
    in_Domain: '10YBE----------2',
    out_Domain: '10YBE----------2',
    periodStart: '202606202200',
    periodEnd: '202606212200',
    'contract_MarketAgreement.type': 'A01',
    'classificationSequence_AttributeInstanceComponent.position': '1',
  })
  const without = entsoeSource({ url: 'http://platform.example/api', token: null })
  const refused = await without.fetchDay(testMarket, day, { ...needs, get })
  assert.deepEqual(refused, { outcome: 'failed', reason: 'ENTSOE_TOKEN is not set' })
  assert.equal(asked.length, 1)
})
