import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { type MarketDay, type MarketPeriod, marketDays } from './market-days.ts'
import {
  deserialisePriceModel,
  forecastPriceDay,
  naivePriceModel,
  observePriceDay,
  serialisePriceModel,
  trainPriceModel,
} from './price-model.ts'
import { seededRandom } from './seeded-random.ts'

const trees = 30

/** A market whose prices follow the load less the sun's power; each day has its weather. */
function market(start: string, count: number, minutes: number): MarketPeriod[] {
  const random = seededRandom(5)
  const start_ms = Date.parse(start)
  let [drift, cold, clear] = [0, 0, 0]
  return Array.from({ length: (count * 1440) / minutes }, (_, i) => {
    const at_ms = start_ms + i * minutes * 60_000
    const hour = (at_ms / hour_ms) % 24
    if (hour === 0) {
      drift = 0.8 * drift + 4 * (random() - 0.5)
      cold = 150 * random()
      clear = 0.2 + 0.8 * random()
    }
    const load_mw = 900 + cold + 100 * Math.sin((hour / 12) * Math.PI) + 5 * random()
    const sun = Math.max(0, Math.cos(((hour - 12) / 16) * Math.PI))
    const renewables_mw = 400 * sun * clear + 5 * random()
    const price_per_mwh = (load_mw - renewables_mw) / 10 - 60 + drift + 4 * (random() - 0.5)
    const end_ms = at_ms + minutes * 60_000
    return { start_ms: at_ms, end_ms, price_per_mwh, load_mw, renewables_mw }
  })
}

const days = marketDays(market('2024-01-07T23:00Z', 130, 60), 'Europe/Berlin').filter(
  ({ periods }) => periods.length > 20,
)
const split = 97
const past = days.slice(0, split)
const model = trainPriceModel(past, seededRandom(1), { trees })

const prices = ({ periods }: MarketDay) => periods.map((period) => period.price_per_mwh!)

test('a market that follows its drivers is forecast as well as its noise allows', () => {
  const rows = days.slice(split).flatMap((day) => {
    const before = prices(days[days.indexOf(day) - 1]!)
    return forecastPriceDay(model, days, day).map(({ p10, p50, p90 }, i) => {
      const actual = prices(day)[i]!
      const isHeld = p10 <= actual && actual <= p90
      return { error: Math.abs(p50 - actual), naive: Math.abs(before[i]! - actual), isHeld }
    })
  })
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / rows.length
  const error = mean((row) => row.error)
  // A day drifts by 1 and each hour by as much again, which nothing foretells.
  assert.ok(error < 2.4, `${error}`)
  const naive = mean((row) => row.naive)
  assert.ok(error < 0.5 * naive, `${error} against ${naive}`)
  const held = rows.filter(({ isHeld }) => isHeld).length / rows.length
  assert.ok(Math.abs(held - 0.8) < 0.08, `${held}`)
})

test('no data after the day before are used', () => {
  const day = days[split]!
  const changed = marketDays(
    days.slice(split).flatMap(({ periods }) =>
      periods.map((period) => ({
        ...period,
        price_per_mwh: -9999,
        load_mw: 1,
        renewables_mw: 1,
      })),
    ),
    'Europe/Berlin',
  )
  const periods = day.periods.map((period) => ({ ...period, price_per_mwh: null }))
  const unpriced = { ...day, price: null, periods }
  const expected = forecastPriceDay(model, days, day)
  assert.deepEqual(forecastPriceDay(model, [...past, ...changed], day), expected)
  assert.deepEqual(forecastPriceDay(model, past, unpriced), expected)
})

test('data of the day and of the day before are used', () => {
  const day = days[split]!
  const p50s = (known: MarketDay[], of: MarketDay) =>
    forecastPriceDay(model, known, of).map(({ p50 }) => p50)
  const [cloudy] = marketDays(
    day.periods.map((period) => ({ ...period, renewables_mw: period.renewables_mw! / 4 })),
    'Europe/Berlin',
  )
  const noon = 12
  assert.ok(p50s(past, cloudy!)[noon]! > p50s(past, day)[noon]! + 5)
  const dear = past.with(-1, { ...past.at(-1)!, price: past.at(-1)!.price!.map((of) => of + 20) })
  assert.ok(p50s(dear, day)[noon]! > p50s(past, day)[noon]!)
})

test('every period of days of 23 and 25 hours has a forecast, in order', () => {
  for (const [start, hours] of [
    ['2024-03-30T23:00Z', 23],
    ['2024-10-26T22:00Z', 25],
  ] as const) {
    const day = marketDays(market(start, 2, 60).slice(0, hours), 'Europe/Berlin')[0]!
    const before = day.day - past.at(-1)!.day - 1
    const known = past.map((of) => ({ ...of, day: of.day + before }))
    const forecasts = forecastPriceDay(model, known, day)
    assert.deepEqual(
      forecasts.map(({ start_ms }) => start_ms),
      day.periods.map(({ start_ms }) => start_ms),
    )
    assert.equal(forecasts.length, hours)
    for (const { p10, p50, p90, negative_probability } of forecasts) {
      assert.ok(p10 <= p50 && p50 <= p90)
      assert.ok(negative_probability! > 0 && negative_probability! < 1)
    }
    if (hours === 25) {
      // The two have a clock in common, but each its own load and sun.
      assert.notEqual(forecasts[2]!.p50, forecasts[3]!.p50)
    }
  }
})

test('a market that changes to quarter hours is forecast by quarter hours', () => {
  const hourly = market('2024-01-01T00:00Z', 40, 60)
  const quarterly = market('2024-02-10T00:00Z', 12, 15)
  const mixed = marketDays([...hourly, ...quarterly], 'UTC')
  const fine = trainPriceModel(mixed.slice(0, -1), seededRandom(1), { trees: 5 })
  assert.equal(fine.learned?.slot_minutes, 15)
  const forecasts = forecastPriceDay(fine, mixed, mixed.at(-1)!)
  assert.equal(forecasts.length, 96)
  assert.ok(new Set(forecasts.slice(40, 44).map(({ p50 }) => p50)).size > 1)
  const coarse = trainPriceModel(marketDays(hourly, 'UTC'), seededRandom(1), { trees: 5 })
  assert.equal(forecastPriceDay(coarse, mixed, mixed.at(-1)!).length, 96)
})

test('an observed day updates the calibration once, a learnt day does not', () => {
  const day = days[split]!
  const next = observePriceDay(model, past, day)
  assert.equal(next.observed_to_day, day.day)
  assert.deepEqual(next.calibration.days.at(-1)?.errors.length, 24)
  assert.equal(observePriceDay(next, past, day), next)
  assert.equal(observePriceDay(model, past, past.at(-1)!), model)
})

test('a model survives serialisation', () => {
  const bytes = serialisePriceModel(model)
  const day = days[split]!
  assert.deepEqual(
    forecastPriceDay(deserialisePriceModel(bytes), past, day),
    forecastPriceDay(model, past, day),
  )
  assert.throws(() => deserialisePriceModel(serialisePriceModel([] as never)), /not a price model/)
})

test('the naive model repeats the day before, with the width of its recent errors', () => {
  const naive = naivePriceModel(past)
  const [day, before] = [days[split]!, past.at(-1)!]
  assert.deepEqual([naive.learned, naive.trained_days], [null, split])
  assert.deepEqual([naive.calibration.days.length, naive.observed_to_day], [60, before.day])
  const forecasts = forecastPriceDay(naive, past, day)
  assert.deepEqual(
    forecasts.map(({ p50 }) => p50),
    prices(before),
  )
  const rows = days.slice(split).flatMap((each) =>
    forecastPriceDay(naive, days, each).map(({ p10, p90 }, i) => {
      const actual = prices(each)[i]!
      return p10 <= actual && actual <= p90
    }),
  )
  const held = rows.filter(Boolean).length / rows.length
  assert.ok(Math.abs(held - 0.8) < 0.1, `${held}`)
  assert.deepEqual(deserialisePriceModel(serialisePriceModel(naive)), naive)
  assert.throws(() => naivePriceModel(past.slice(0, 1)), /fewer than two/)
  assert.throws(() => forecastPriceDay(naive, past.slice(0, 80), day), /no prices of the week/)
})

test('every forecast has a spread', () => {
  const flat = past.map((each) => ({
    ...each,
    periods: each.periods.map((period) => ({ ...period, price_per_mwh: 50 })),
    price: each.price!.map(() => 50),
  }))
  // The market wakes on the day after: against no spread at all its errors would have no end.
  const woken = observePriceDay(
    trainPriceModel(flat, seededRandom(1), { trees }),
    flat,
    days[split]!,
  )
  const errors = woken.calibration.days.at(-1)!.errors
  assert.ok(Math.max(...errors.map(Math.abs)) < 1500, `${Math.max(...errors.map(Math.abs))}`)
})

test('too little history is refused', () => {
  assert.throws(() => trainPriceModel(past.slice(0, 27), seededRandom(1)), /27 with prices, not 28/)
  const few = trainPriceModel(past.slice(0, 28), seededRandom(1), { trees: 3 })
  assert.equal(forecastPriceDay(few, past, past[28]!)[0]!.negative_probability, null)
  assert.throws(() => forecastPriceDay(few, [], past[28]!), /no prices of the two weeks before/)
  assert.throws(() => forecastPriceDay(few, past.slice(0, 13), past[28]!), /no prices of the two/)
  assert.equal(forecastPriceDay(few, past.slice(0, 15), past[28]!).length, 24)
})
