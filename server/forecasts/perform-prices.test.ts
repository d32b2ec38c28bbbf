import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { addDays } from '@heliograph/domain/utc-day'
import { scoresOf } from '@heliograph/forecast/score-sums'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { deliveryDay } from '../markets/periods.ts'
import { simulatedDay } from '../markets/sources/simulated.ts'
import { packPrices, trainPrices } from './perform-prices.ts'
import type { KnownPrice } from './price-scores.ts'

const timezone = 'Europe/Berlin'
const [first, end] = ['2026-02-01', '2026-04-13'].map(
  (date) => deliveryDay(date, timezone).start_ms,
) as [number, number]

const summer_ms = Date.parse('2026-03-29T01:00:00Z')

/** Hours of 71 delivery days, one of them of 23 hours, that follow the clock and an unrest. */
function hoursOf(): KnownPrice[] {
  const random = seededRandom(3)
  return Array.from({ length: (end - first) / hour_ms }, (_, nth) => {
    const start_ms = first + nth * hour_ms
    const clock = (start_ms / hour_ms + (start_ms < summer_ms ? 1 : 2)) % 24
    const price_per_mwh = 60 - 30 * Math.sin((clock / 24) * Math.PI) + 8 * (random() - 0.5)
    return { start_ms, end_ms: start_ms + hour_ms, price_per_mwh }
  })
}

const limits = { price_min_per_mwh: -500, price_max_per_mwh: 4000 }

const train = (
  prices: readonly KnownPrice[],
  previous: Uint8Array | null = null,
  held: typeof limits = limits,
) =>
  trainPrices({
    kind: 'train_prices',
    prices: packPrices(prices),
    timezone,
    hold_out_days: 14,
    limits: held,
    previous,
    seed: 1,
  })

const prices = hoursOf()
const usual = train(prices)

test('the days held out are forecast as if they were to come, and scored by their prices', () => {
  const { trained, day_count } = usual
  const { hindcasts, sums, is_worse, to_ms } = trained!
  assert.deepEqual([day_count, hindcasts.length, is_worse], [71, 14, false])
  assert.equal(hindcasts[0]!.delivery_date, '2026-03-30')
  assert.equal(hindcasts[0]!.start_ms, to_ms)
  const errors = hindcasts.flatMap(({ start_ms, p50_price }) =>
    p50_price.map((p50, nth) => {
      const price = prices.find((one) => one.start_ms === start_ms + nth * hour_ms)!
      return Math.abs(p50 - price.price_per_mwh)
    }),
  )
  assert.deepEqual([sums.count, errors.length], [14 * 24, 14 * 24])
  const absolute = errors.reduce((sum, error) => sum + error, 0)
  assert.ok(Math.abs(sums.abs_error - absolute) < 1e-6)
  assert.ok(sums.persistent_abs_error < sums.persistence_abs_error)
})

test('a day of which an hour has no price keeps the others at their times', () => {
  const hole_ms = deliveryDay('2026-04-01', timezone).start_ms + 3 * hour_ms
  const holed = train(prices.filter(({ start_ms }) => start_ms !== hole_ms)).trained!
  const dayOf = ({ hindcasts }: typeof holed) =>
    hindcasts.find(({ delivery_date }) => delivery_date === '2026-04-01')
  // Of its own prices a day is not told.
  assert.deepEqual(dayOf(holed), dayOf(usual.trained!))
  assert.equal(holed.sums.count, 14 * 24 - 1)
})

test('a model that is worse than the one in use does not follow, one of no use is none', () => {
  const good = usual.trained!
  const wild = prices.map((price) =>
    price.start_ms < good.to_ms ? { ...price, price_per_mwh: 300 - price.price_per_mwh } : price,
  )
  assert.equal(train(wild, good.model).trained!.is_worse, true)
  assert.equal(train(wild, Buffer.from('no model')).trained!.is_worse, false)
})

test('fewer than four weeks before the days held out come to no model', () => {
  const last = prices.slice(-(14 + 27) * 24)
  assert.deepEqual(train(last), { trained: null, day_count: 41 })
})

test('what the first forecast of a model cannot know is not told', () => {
  const { trained } = train(prices.slice(-(14 + 28) * 24))
  const chances = trained!.hindcasts.map(({ negative_probability }) => negative_probability[0])
  assert.equal(chances[0], null)
  assert.ok(chances.slice(1).every((chance) => chance != null && chance > 0 && chance < 1))
})

/** The last days of the simulated market up to a date. */
function simulated(end_date: string, days: number): KnownPrice[] {
  return Array.from({ length: days }, (_, nth) => addDays(end_date, nth - days)).flatMap((date) =>
    simulatedDay({ market_code: 'DEMO', timezone }, deliveryDay(date, timezone)).map((period) => ({
      ...period,
      price_per_mwh: period.price_micro / 1e6,
    })),
  )
}

for (const [days, end_date] of [
  [42, '2026-11-22'],
  [60, '2026-09-15'],
  [78, '2026-06-15'],
] as const) {
  test(`a market of ${days} days is forecast no worse than by the day before, and soberly`, () => {
    const { hindcasts, sums } = train(simulated(end_date, days)).trained!
    const { skill_pct, pinball } = scoresOf(sums)
    assert.ok(skill_pct! >= 0, `${skill_pct}`)
    assert.ok(pinball! < 7, `${pinball}`)
    for (const { p10_price, p90_price } of hindcasts) {
      assert.ok(Math.min(...p10_price) > -300, `${Math.min(...p10_price)}`)
      assert.ok(Math.max(...p90_price) < 400, `${Math.max(...p90_price)}`)
    }
  })
}

test('what is learned and loses to the day before is not taken: the forecast is naive', () => {
  const random = seededRandom(8)
  let level = 60
  // A price for each day that wanders: nothing but the day before tells of it.
  const wandering = prices.map((price) => {
    if (new Date(price.start_ms + hour_ms).getUTCHours() === 0) level += 40 * (random() - 0.5)
    return { ...price, price_per_mwh: level + random() }
  })
  const { hindcasts, sums, method, is_worse } = train(wandering).trained!
  assert.deepEqual([method, is_worse], ['naive', false])
  // Times of the day before are those of its clock, which was set on the day before the first.
  const skill_pct = 100 * (1 - sums.persistent_abs_error / sums.persistence_abs_error)
  assert.ok(Math.abs(skill_pct) < 1, `${skill_pct}`)
  const [, second] = hindcasts
  const before = wandering.filter(({ start_ms }) => start_ms < second!.start_ms).slice(-24)
  assert.deepEqual(
    second!.p50_price,
    before.map(({ price_per_mwh }) => price_per_mwh),
  )
  const { coverage_pct } = scoresOf(sums)
  assert.ok(coverage_pct! > 60 && coverage_pct! < 95, `${coverage_pct}`)
  assert.equal(usual.trained!.method, 'learned')
})

test('no forecast leaves the limits of the auction', () => {
  const { hindcasts } = train(prices, null, { price_min_per_mwh: 35, price_max_per_mwh: 58 })
    .trained!
  const all = hindcasts.flatMap(({ p10_price, p50_price, p90_price }) => [
    ...p10_price,
    ...p50_price,
    ...p90_price,
  ])
  assert.deepEqual([Math.min(...all), Math.max(...all)], [35, 58])
})
