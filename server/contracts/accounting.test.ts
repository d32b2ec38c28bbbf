import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { hourAccounts, inCurrency } from './accounting.ts'
import type { Assignment } from './contract-store.ts'
import type { EnergyStateAt } from './energy-evidence.ts'
import {
  accountsOf,
  assignment,
  type Case,
  fee,
  fees,
  hoursOf,
  lost,
  midnight,
  night,
  periodsOf,
  timezone,
  totalOf,
  type Window,
} from './fixtures/accounts.ts'
import { exactRate, sameCurrency, worth } from './money.ts'
import { quarterPrices } from './quarter-prices.ts'
import { amountsSum } from './sums.ts'
import { termsOf } from './terms.ts'

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
  const states = fc.constantFrom(night, lost)
  const days_before = fc.integer({ min: 1, max: 4 })
  fc.assert(
    fc.property(cases, windows, days_before, states, (of, window, days, energyStateAt) => {
      const accounts = accountsOf(of, window, { energyStateAt })
      const whole = totalOf(accounts)
      assert.equal(whole.gross, amountsSum(accounts.map(({ gross }) => gross ?? 0)))
      const charged = accounts.map((account) => amountsSum(account.fees))
      assert.equal(amountsSum(whole.fees.values()), amountsSum(charged))
      const middle_ms = window.from_ms + days * 24 * hour_ms
      const parts = [
        { from_ms: window.from_ms, to_ms: middle_ms },
        { from_ms: middle_ms, to_ms: window.to_ms },
      ].map((part) => totalOf(accountsOf(of, part, { energyStateAt })))
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

test('a month pays its fee in full, known energy or not, also of 743 and 745 hours', () => {
  const none = { energy: [null], prices: [0], minutes: 60 }
  for (const [first, next, hours] of [
    ['2026-03-01', '2026-04-01', 743],
    ['2026-10-01', '2026-11-01', 745],
    ['2026-02-01', '2026-03-01', 672],
  ] as const) {
    const window = { from_ms: midnight(first), to_ms: midnight(next) }
    for (const energyStateAt of [night, lost]) {
      const accounts = accountsOf(none, window, { energyStateAt })
      assert.equal(accounts.length, hours)
      assert.equal(totalOf(accounts).fees.get(3), 119_999_999n)
    }
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
  const [dark] = hourAccounts(
    { ...booksWithoutPrices(window, assignment()), hours: [], energyStateAt: () => 'lost' },
    window,
  )
  assert.deepEqual([dark!.reason, dark!.energy_wh, dark!.misses_energy], ['no_price', null, true])
  assert.equal(totalOf([hour!, dark!], []).missing_hours, 1)
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
      service_from_ms: 0,
      hours: hoursOf(of, span),
      marketOf: () => ({ currency: 'EUR', day_ahead: none, imbalance: none }),
      rateAt: (currency: string, into: string) => (currency === into ? sameCurrency : null),
      scheduledAt: null,
      energyStateAt: night,
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
  const ledger = {
    logger_id: 1,
    terms,
    fee_count: 1,
    service_from_ms: 0,
    hours: hoursOf({ energy: [1000, 2000, 3000, 4000] }, window),
    marketOf: () => ({
      currency: 'EUR',
      day_ahead: priced(60, 50_000_000),
      imbalance: priced(15, 80_000_000),
    }),
    rateAt: (currency: string, into: string) => (currency === into ? sameCurrency : null),
    // Of the last quarter nothing was forecast.
    scheduledAt: (at_ms: number) => (at_ms - window.from_ms < 3 * quarter_ms ? 2500 : null),
    energyStateAt: night,
  }
  const [hour] = hourAccounts(ledger, window)
  // (1000 + 2000 + 3000 - 7500) Wh at 30 EUR/MWh; and 4000 Wh at 1 EUR/MWh.
  assert.equal(hour!.imbalance, -45_000)
  assert.deepEqual(hour!.fees, [45_000 + 4_000])
  assert.equal(hour!.gross, 500_000)
  // What is not known of the energy is no deviation.
  const [torn] = hourAccounts({ ...ledger, energyStateAt: () => 'lost' }, window)
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
  // The fee of the month is due for each of the three, that of energy for what is known.
  assert.deepEqual([sums.fees.get(1), sums.fees.get(2)], [3_000_000n, 6_000n])
  assert.equal(sums.charged_hours, 3)
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

test('contracts of two currencies share an hour where days begin at half of one', () => {
  const of = { energy: [1000], prices: [50_000_000], minutes: 15 }
  const window = { from_ms: Date.parse('2026-06-20'), to_ms: Date.parse('2026-06-21') }
  const leva = {
    assignments: [
      assignment({ valid_to: '2026-06-20' }),
      assignment({ currency: 'BGN', valid_from: '2026-06-21' }),
    ],
    list: [fee(1, { basis: 'per_month', value: '720' }), fee(2, { value: '1' })],
    timezone: 'Asia/Kolkata',
  }
  const hour = accountsOf(of, window, leva)[18]!
  // 0.1 EUR of the first half, converted; of the other two periods at 97.7915 BGN/MWh.
  assert.deepEqual([hour.currency, hour.gross, hour.reason], ['BGN', 195_583 + 2 * 97_792, null])
  assert.deepEqual(hour.fees, [1_955_830, 7_824])
  const [before, after] = [17, 19].map((nth) => accountsOf(of, window, leva)[nth]!)
  assert.deepEqual([before!.currency, before!.gross], ['EUR', 200_000])
  assert.deepEqual([after!.currency, after!.gross], ['BGN', 391_168])
})

test('what came on trial is under no contract, and without data there is no hour', () => {
  const window = { from_ms: Date.parse('2026-06-20'), to_ms: Date.parse('2026-06-21') }
  const of = { energy: [1000], prices: [50_000_000], minutes: 60 }
  const service_from_ms = window.from_ms + 3 * hour_ms
  const hours = hoursOf(of, window).slice(2)
  const assignments = [assignment({ valid_from: '2026-06-21' })]
  const accounts = accountsOf(of, window, { hours, assignments, service_from_ms })
  assert.equal(accounts[0]!.start_ms, window.from_ms + 2 * hour_ms)
  assert.deepEqual([accounts[0]!.reason, accounts[0]!.energy_wh], ['no_contract', 4000])
})
