import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '@heliograph/domain/limit-shares'
import { hoursOnTheClock } from '@heliograph/server/control/local-hours'
import fc from 'fast-check'
import { sumAll } from '../../../ui/format.ts'
import type { Span } from '../../../ui/site-clock.ts'
import { allowedOf, curtailedBy, dayHoursOf, type Plant } from './limits.ts'

const hour_ms = 3_600_000
const plant = (logger_id: number, rated_power_kw: number): Plant => ({
  logger_id,
  rated_power_kw,
  name: `Plant ${logger_id}`,
  power_kw: null,
})

test('a plant is shown what the server will allow it', () => {
  const power_kw = fc.double({ min: 0.001, max: 20_000, noNaN: true })
  const typed = fc
    .tuple(fc.constantFrom('percent', 'kw'), fc.integer({ min: 0, max: 30_000 }))
    .map(([limit_mode, tenths]) => ({ limit_mode, limit_value: tenths / 10 }) as const)
    .filter(({ limit_mode, limit_value }) => limit_mode === 'kw' || limit_value < 100)
  // What a plant is rated at is known to the watt.
  const ratings = fc.array(
    power_kw.map((kw) => Math.ceil(kw * 1000) / 1000),
    { minLength: 1, maxLength: 30 },
  )
  fc.assert(
    fc.property(ratings, typed, (rated_kw, limit) => {
      const plants = rated_kw.map((kw, nth) => plant(nth, kw))
      const shown = allowedOf(plants, limit).map(({ allowed_kw }) => allowed_kw)
      const allowed = limitsOf(limit, plants).map(({ max_power_kw }) => max_power_kw)
      assert.deepEqual(shown, allowed)
    }),
  )
})

test('a plant keeps each of the first million whole watts of a limit', () => {
  const plants = [plant(1, 1_000_000)]
  for (let power_w = 1; power_w <= 1_000_000; power_w += 1) {
    const limit = { limit_mode: 'kw', limit_value: power_w / 1000 } as const
    const [only] = allowedOf(plants, limit)
    if (only?.allowed_kw === limit.limit_value) continue
    assert.fail(`${limit.limit_value} kW are shown as ${only?.allowed_kw} kW`)
  }
})

test('no plants share nothing, and a limit of nothing allows none anything', () => {
  assert.deepEqual(allowedOf([], { limit_mode: 'kw', limit_value: 100 }), [])
  const [only] = allowedOf([plant(1, 400)], { limit_mode: 'percent', limit_value: 0 })
  assert.equal(only?.allowed_kw, 0)
})

const spanOf = (start: string, end: string): Span => ({
  start_ms: Date.parse(start),
  end_ms: Date.parse(end),
})

test('the hours of a span are those of the clocks at the site', () => {
  const evening = spanOf('2026-06-21T16:30:00Z', '2026-06-21T22:15:00Z')
  assert.deepEqual(dayHoursOf(evening, 'Europe/Berlin'), [
    { date: '2026-06-21', start_hour: 18, end_hour: 24 },
    { date: '2026-06-22', start_hour: 0, end_hour: 1 },
  ])
  // To midnight sharp is no hour of the next day.
  assert.deepEqual(dayHoursOf(spanOf('2026-06-21T18:00:00Z', '2026-06-22T00:00:00Z'), 'UTC'), [
    { date: '2026-06-21', start_hour: 18, end_hour: 24 },
  ])
  const week = spanOf('2026-06-21T12:00:00Z', '2026-06-28T12:00:00Z')
  assert.equal(dayHoursOf(week, 'UTC').length, 4)
})

test('the server finds all of a span in its hours, also when the clocks change', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe')
  const changes = [
    '2026-03-29T01:00Z',
    '2026-10-25T01:00Z',
    '2026-04-04T15:00Z',
    '2026-10-03T15:30Z',
  ]
  const around = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -40 * 60, max: 10 * 60 }))
    .map(([at, min]) => Date.parse(at) + min * 60_000)
  fc.assert(
    fc.property(zone, around, fc.integer({ min: 1, max: 40 * 60 }), (timezone, start_ms, min) => {
      const end_ms = start_ms + min * 60_000
      const found = dayHoursOf({ start_ms, end_ms }, timezone).map((day) =>
        hoursOnTheClock(day, timezone),
      )
      assert.ok(found.every((each) => each !== null))
      let until_ms = start_ms
      for (const each of found) {
        assert.ok(each!.start_ms <= until_ms, 'no gap before it')
        until_ms = each!.end_ms
      }
      assert.ok(until_ms >= end_ms)
    }),
  )
})

const hourOf = (start_at: string, p50_kw: number | null, price_per_mwh: number | null) => ({
  start_at,
  end_at: new Date(Date.parse(start_at) + hour_ms).toISOString(),
  p10_kw: null,
  p50_kw,
  p90_kw: null,
  price_per_mwh,
  market_price_per_mwh: null,
  suggested_limit_kw: null,
})
const noon = spanOf('2026-06-21T10:30:00Z', '2026-06-21T12:00:00Z')

test('what is above the limit is kept back, for as long as it holds', () => {
  const hours = [hourOf('2026-06-21T10:00:00Z', 300, 50), hourOf('2026-06-21T11:00:00Z', 150, -40)]
  assert.deepEqual(curtailedBy(hours, 100, noon), { energy_kwh: 150, amount: 3 })
  assert.deepEqual(curtailedBy(hours, 400, noon), { energy_kwh: 0, amount: 0 })
})

test('what another limit keeps back already is not counted, while it holds', () => {
  const hours = [hourOf('2026-06-21T10:00:00Z', 300, 50), hourOf('2026-06-21T11:00:00Z', 300, 50)]
  const other = (start: string, end: string, max_power_kw: number) => ({
    ...spanOf(`2026-06-21T${start}:00Z`, `2026-06-21T${end}:00Z`),
    max_power_kw,
  })
  const curtailed = (...others: ReturnType<typeof other>[]) =>
    curtailedBy(hours, 100, noon, others).energy_kwh
  assert.equal(curtailed(), 300)
  assert.equal(curtailed(other('09:00', '11:00', 200)), 250)
  assert.equal(curtailed(other('10:45', '11:15', 200), other('11:00', '11:30', 150)), 200)
  assert.equal(curtailed(other('09:00', '13:00', 50)), 0)
  assert.equal(curtailed(other('12:00', '13:00', 0)), 300)
})

test('negative prices are money saved', () => {
  const hours = [hourOf('2026-06-21T10:00:00Z', 100, -40), hourOf('2026-06-21T11:00:00Z', 100, -40)]
  assert.deepEqual(curtailedBy(hours, 0, noon), { energy_kwh: 150, amount: -6 })
})

test('what is not known of a part is not known of the whole', () => {
  const first = hourOf('2026-06-21T10:00:00Z', 100, 50)
  const unknown = { energy_kwh: null, amount: null }
  assert.deepEqual(curtailedBy([], 0, noon), unknown)
  assert.deepEqual(curtailedBy([first], 0, noon), unknown)
  assert.deepEqual(curtailedBy([first, hourOf('2026-06-21T11:00:00Z', null, 50)], 0, noon), unknown)
  const priceless = curtailedBy([first, hourOf('2026-06-21T11:00:00Z', 100, null)], 0, noon)
  assert.deepEqual(priceless, { energy_kwh: 150, amount: null })
  // At night nothing is kept back, whatever it would have been paid.
  const night = [hourOf('2026-06-21T10:00:00Z', 0, null), hourOf('2026-06-21T11:00:00Z', 0, null)]
  assert.deepEqual(curtailedBy(night, 0, noon), { energy_kwh: 0, amount: 0 })
})

test('a sum of what is not all known is not known', () => {
  assert.equal(sumAll([]), 0)
  assert.equal(sumAll([1, -3]), -2)
  assert.equal(sumAll([1, null]), null)
})
