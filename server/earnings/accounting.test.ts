import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { PricePeriod } from '../prices/store.ts'
import { hour_ms } from '../storage/touched-hours.ts'
import { type HourAccount, hourAccounts, type MarketPrices } from './accounting.ts'
import type { Assignment, Fee } from './contract-store.ts'
import type { EnergyStateAt } from './energy-evidence.ts'
import { exactRate, worth } from './money.ts'
import { type PlantHour, quarter_ms } from './plant-quarters.ts'
import { quarterPrices } from './quarter-prices.ts'
import { addHour, amountsSum, inCurrency, noSums } from './sums.ts'
import { midnights, termsOf } from './terms.ts'

const timezone = 'Europe/Brussels'
const midnight = midnights(timezone)

const assignment = (more: Partial<Assignment> = {}): Assignment => ({
  assignment_id: 1,
  logger_id: 1,
  market_code: 'BE',
  sold_market_code: null,
  contract_type: 'spot',
  fixed_price: null,
  floor_price: null,
  pays_at_negative_price: true,
  offtaker: null,
  imbalance_responsible_party: null,
  currency: 'EUR',
  valid_from: '2026-01-01',
  valid_to: null,
  ...more,
})

const fee = (fee_id: number, more: Partial<Fee> = {}): Fee => ({
  fee_id,
  logger_id: null,
  code: 'other',
  name: `fee ${fee_id}`,
  basis: 'per_mwh',
  value: '2.15',
  currency: more.basis === 'percent' ? null : 'EUR',
  valid_from: '2026-01-01',
  valid_to: null,
  ...more,
})

const fees = [
  fee(1),
  fee(2, { basis: 'percent', value: '1.5' }),
  fee(3, { basis: 'per_month', value: '119.999999' }),
  fee(4, { basis: 'per_mw_month', value: '33.3', valid_from: '2026-03-29' }),
  fee(5, { basis: 'imbalance', value: '0.77', valid_to: '2026-03-29' }),
]

/** As at night, where none is told. */
const asleep: EnergyStateAt = (_, hour) => (hour?.energy_wh.includes(null) ? 'asleep' : 'known')

interface Window {
  from_ms: number
  to_ms: number
}

interface Case {
  energy: readonly (number | null)[]
  prices: readonly number[]
  minutes: number
}

/** From the midnight of UTC before the first day on: a value for each quarter, again and again. */
function hoursOf({ energy }: Pick<Case, 'energy'>, { from_ms, to_ms }: Window): PlantHour[] {
  return Array.from({ length: (to_ms - from_ms) / hour_ms }, (_, nth) => {
    const start_ms = from_ms + nth * hour_ms
    const at = (start_ms / quarter_ms) % energy.length
    const quarters = [0, 1, 2, 3].map((quarter) => energy[(at + quarter) % energy.length]!)
    return {
      start_ms,
      inverter_count: 1,
      known_count: 1,
      energy_wh: quarters,
      curtailed_wh: quarters.map((wh) => (wh === null ? null : Math.floor(wh / 3))),
      awake_covered_s: 3600,
    }
  })
}

function periodsOf({ prices, minutes }: Omit<Case, 'energy'>, { from_ms, to_ms }: Window) {
  const length_ms = minutes * 60_000
  const periods: PricePeriod[] = []
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += length_ms) {
    const price_micro = prices[(start_ms / length_ms) % prices.length]!
    periods.push({ start_ms, end_ms: start_ms + length_ms, price_micro })
  }
  return periods
}

interface Books {
  list?: readonly Fee[]
  assignments?: readonly Assignment[]
  hours?: readonly PlantHour[]
  energyStateAt?: EnergyStateAt
}

function accountsOf(of: Case, window: Window, more: Books = {}) {
  const { list = fees, assignments = [assignment()], energyStateAt = asleep } = more
  const terms = termsOf({
    assignments,
    fees: list,
    rated_power_kw: 861.5,
    timezoneOf: () => timezone,
    ...window,
  })
  const market: MarketPrices = {
    currency: 'EUR',
    day_ahead: quarterPrices(periodsOf(of, window), window),
    imbalance: quarterPrices([], window),
  }
  const books = {
    logger_id: 1,
    terms,
    fee_count: list.length,
    hours: more.hours ?? hoursOf(of, window),
    marketOf: () => market,
    rateAt: () => exactRate(1.95583),
    scheduledAt: null,
    energyStateAt,
  }
  return [...hourAccounts(books, window)]
}

function totalOf(accounts: readonly HourAccount[], list = fees) {
  const sums = noSums()
  const fee_ids = list.map(({ fee_id }) => fee_id)
  for (const account of accounts) addHour(sums, account, fee_ids)
  return sums
}

const cases: fc.Arbitrary<Case> = fc.record({
  energy: fc.array(fc.option(fc.integer({ min: 0, max: 400_000 }), { nil: null, freq: 6 }), {
    minLength: 5,
    maxLength: 97,
  }),
  prices: fc.array(fc.integer({ min: -500_000_000, max: 4_000_000_000 }), {
    minLength: 3,
    maxLength: 50,
  }),
  minutes: fc.constantFrom(15, 30, 60),
})

/** The clocks go forward on 2026-03-29 and back on 2026-10-25. */
const windows = fc.constantFrom(
  { from_ms: Date.parse('2026-03-27'), to_ms: Date.parse('2026-04-02') },
  { from_ms: Date.parse('2026-10-23'), to_ms: Date.parse('2026-10-28') },
)

test('gross is the sum of the market periods, each rounded once', () => {
  fc.assert(
    fc.property(cases, windows, (of, window) => {
      const sold_wh = new Map<number, number>()
      for (const { start_ms, energy_wh } of hoursOf(of, window)) {
        for (const [nth, wh] of energy_wh.entries()) {
          const at_ms = start_ms + nth * quarter_ms
          const period_ms = at_ms - (at_ms % (of.minutes * 60_000))
          sold_wh.set(period_ms, (sold_wh.get(period_ms) ?? 0) + (wh ?? 0))
        }
      }
      const by_period = periodsOf(of, window).map(({ start_ms, price_micro }) =>
        worth(sold_wh.get(start_ms)!, price_micro),
      )
      const accounts = accountsOf(of, window)
      assert.equal(amountsSum(accounts.map(({ gross }) => gross ?? 0)), amountsSum(by_period))
    }),
    { numRuns: 40 },
  )
})

test('any parts of a time add up to it, to the micro, and so does every fee', () => {
  fc.assert(
    fc.property(cases, windows, fc.integer({ min: 1, max: 4 }), (of, window, days) => {
      const whole = totalOf(accountsOf(of, window))
      const middle_ms = window.from_ms + days * 24 * hour_ms
      const parts = [
        { from_ms: window.from_ms, to_ms: middle_ms },
        { from_ms: middle_ms, to_ms: window.to_ms },
      ].map((part) => totalOf(accountsOf(of, part)))
      const sum = (of_part: (part: typeof whole) => bigint) => amountsSum(parts.map(of_part))
      assert.equal(
        whole.gross,
        sum(({ gross }) => gross),
      )
      assert.equal(
        whole.lost,
        sum(({ lost }) => lost),
      )
      for (const { fee_id } of fees) {
        assert.equal(
          whole.fees.get(fee_id) ?? 0n,
          sum((part) => part.fees.get(fee_id) ?? 0n),
        )
      }
    }),
    { numRuns: 40 },
  )
})

test('the order of the fees does not matter, and net is what they leave of gross', () => {
  fc.assert(
    fc.property(cases, windows, fc.shuffledSubarray(fees), (of, window, list) => {
      const all = accountsOf(of, window)
      const some = accountsOf(of, window, { list })
      const [total, of_some] = [totalOf(all), totalOf(some, list)]
      assert.equal(total.gross, of_some.gross)
      for (const { fee_id } of list) {
        assert.equal(of_some.fees.get(fee_id), total.fees.get(fee_id))
      }
      const net = amountsSum(some.map(({ gross, fees }) => BigInt(gross ?? 0) - amountsSum(fees)))
      assert.equal(net, of_some.gross - amountsSum(of_some.fees.values()))
    }),
    { numRuns: 30 },
  )
})

test('a month pays its fee in full, also those of 743 and 745 hours', () => {
  const none = { energy: [null], prices: [0], minutes: 60 }
  for (const [first, next, hours] of [
    ['2026-03-01', '2026-04-01', 743],
    ['2026-10-01', '2026-11-01', 745],
    ['2026-02-01', '2026-03-01', 672],
  ] as const) {
    const window = { from_ms: midnight(first), to_ms: midnight(next) }
    const accounts = accountsOf(none, window)
    assert.equal(accounts.length, hours)
    assert.equal(totalOf(accounts).fees.get(3), 119_999_999n)
  }
})

test('contracts and fees begin and end at midnight of the market, on days of 23 and 25 hours', () => {
  const of = { energy: [1000], prices: [50_000_000], minutes: 15 }
  for (const [date, next, hours] of [
    ['2026-03-29', '2026-03-30', 23],
    ['2026-10-25', '2026-10-26', 25],
  ] as const) {
    const window = {
      from_ms: Date.parse(date) - 24 * hour_ms,
      to_ms: Date.parse(next) + 24 * hour_ms,
    }
    const list = [fee(1, { valid_from: date, valid_to: date })]
    const contract = assignment({ valid_from: date, valid_to: date })
    const sums = totalOf(accountsOf(of, window, { list, assignments: [contract] }), list)
    assert.equal(sums.hours_under_contract, hours)
    assert.equal(sums.energy_wh, hours * 4000)
    assert.equal(sums.fees.get(1), BigInt(hours) * 8_600n)
    assert.equal(sums.unsold_wh, ((window.to_ms - window.from_ms) / hour_ms - hours) * 4000)
    const outside = totalOf(accountsOf(of, window, { list }), list)
    assert.equal(outside.fees.get(1), BigInt(hours) * 8_600n)
  }
})

test('an hour without a price has no money and says why; a fixed price needs none', () => {
  const window = { from_ms: Date.parse('2026-06-21'), to_ms: Date.parse('2026-06-22') }
  const of = { energy: [1000], prices: [50_000_000], minutes: 60 }
  const [hour] = hourAccounts(booksWithoutPrices(window, assignment()), window)
  assert.deepEqual([hour!.gross, hour!.reason, hour!.energy_wh], [null, 'no_price', 4000])
  const fixed = assignment({ contract_type: 'fixed_price', fixed_price: '60' })
  const [paid] = hourAccounts(booksWithoutPrices(window, fixed), window)
  assert.deepEqual([paid!.gross, paid!.reason], [240_000, null])
  const [into] = accountsOf(of, window).map((each) => inCurrency(each, 'BGN', () => null))
  assert.deepEqual([into!.gross, into!.reason], [null, 'no_exchange_rate'])
  const [leva] = accountsOf(of, window).map((each) =>
    inCurrency(each, 'BGN', () => exactRate(1.95583)),
  )
  assert.equal(leva!.gross, 391_166)

  function booksWithoutPrices(span: Window, contract: Assignment) {
    const none = quarterPrices([], span)
    const asked = { assignments: [contract], fees: [], rated_power_kw: 1, ...span }
    return {
      logger_id: 1,
      terms: termsOf({ ...asked, timezoneOf: () => timezone }),
      fee_count: 0,
      hours: hoursOf(of, span),
      marketOf: () => ({ currency: 'EUR', day_ahead: none, imbalance: none }),
      rateAt: () => null,
      scheduledAt: null,
      energyStateAt: asleep,
    }
  }
})

test('deviations at imbalance less day-ahead price, in place of the flat rate of the fee', () => {
  const window = { from_ms: Date.parse('2026-06-21'), to_ms: Date.parse('2026-06-21T01:00Z') }
  const list = [fee(1, { basis: 'imbalance', value: '1' })]
  const terms = termsOf({
    assignments: [assignment()],
    fees: list,
    rated_power_kw: 1,
    timezoneOf: () => timezone,
    ...window,
  })
  const priced = (minutes: number, price: number) =>
    quarterPrices(periodsOf({ prices: [price], minutes }, window), window)
  const books = {
    logger_id: 1,
    terms,
    fee_count: 1,
    hours: hoursOf({ energy: [1000, 2000, 3000, 4000] }, window),
    marketOf: () => ({
      currency: 'EUR',
      day_ahead: priced(60, 50_000_000),
      imbalance: priced(15, 80_000_000),
    }),
    rateAt: () => null,
    // Of the last quarter nothing was forecast.
    scheduledAt: (at_ms: number) => (at_ms - window.from_ms < 3 * quarter_ms ? 2500 : null),
    energyStateAt: asleep,
  }
  const [hour] = hourAccounts(books, window)
  // (1000 + 2000 + 3000 - 7500) Wh at 30 EUR/MWh; and 4000 Wh at 1 EUR/MWh.
  assert.equal(hour!.imbalance, -45_000)
  assert.deepEqual(hour!.fees, [45_000 + 4_000])
  assert.equal(hour!.gross, 500_000)
  // What is not known of the energy is no deviation.
  const [torn] = hourAccounts({ ...books, energyStateAt: () => 'lost' }, window)
  assert.deepEqual([torn!.imbalance, torn!.fees, torn!.reason], [null, [10_000], 'no_energy'])
})

test('money of energy that is not known is not, what is known of it is told beside it', () => {
  const window = { from_ms: Date.parse('2026-06-21'), to_ms: Date.parse('2026-06-21T03:00Z') }
  const list = [fee(1, { basis: 'per_month', value: '720' }), fee(2, { value: '1' })]
  const states = { 0: 'known', 1: 'lost', 2: 'missing' } as const
  const energy = [1000, 1000, 1000, 1000, 500, 500, 500, 500, null, null, null, null]
  const energyStateAt: EnergyStateAt = (at_ms) =>
    states[((at_ms - window.from_ms) / hour_ms) as keyof typeof states]
  const of = { energy, prices: [50_000_000], minutes: 60 }
  const shifted = hoursOf(of, { from_ms: 0, to_ms: 3 * hour_ms }).map((hour, nth) => ({
    ...hour,
    start_ms: window.from_ms + nth * hour_ms,
  }))
  const accounts = accountsOf(of, window, { list, hours: shifted, energyStateAt })
  assert.deepEqual(
    accounts.map(({ reason, gross, may_come }) => [reason, gross, may_come]),
    [
      [null, 200_000, false],
      ['no_energy', 100_000, false],
      ['no_energy', null, true],
    ],
  )
  const sums = totalOf(accounts, list)
  assert.deepEqual([sums.known_wh, sums.gross, sums.known_hours], [6000, 300_000n, 2])
  assert.equal(sums.fees.get(1), 2_000_000n)
  // What the market pays does not depend on what is known of a plant.
  assert.equal(sums.market_price_hours, 3)
  assert.deepEqual(
    [...sums.unknown.values()],
    [
      {
        reason: 'no_energy',
        market_code: null,
        first_ms: window.from_ms + hour_ms,
        last_ms: window.from_ms + 2 * hour_ms,
        hours: 2,
      },
    ],
  )
})
