import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import type { ProductionForecast } from './production-forecast.ts'
import {
  deserialiseProduction,
  type ProductionModel,
  predictProduction,
  serialiseProduction,
  trainProduction,
} from './production-model.ts'
import type { ProductionSample } from './production-samples.ts'
import { seededRandom } from './seeded-random.ts'

const plant = history_plant
const history = plantHistory({ from_ms: Date.UTC(2024, 1, 1), days: 190, seed: 7 })
const test_from_ms = history.at(-1)!.end_ms - 40 * day_ms
const trained_on = history.filter(({ end_ms }) => end_ms <= test_from_ms)
const tested_on = history.filter(({ start_ms }) => start_ms >= test_from_ms)
const model = learn(trained_on, 1)

/** A short history, to learn from quickly. */
const weeks = plantHistory({ from_ms: Date.UTC(2024, 3, 1), days: 36, seed: 12 })

function learn(samples: readonly ProductionSample[], seed: number): ProductionModel {
  return trainProduction(samples, plant, seededRandom(seed)).model!
}

function forecastOf(of: ProductionModel, samples: readonly ProductionSample[]): ProductionForecast {
  return predictProduction(of, plant, samples)
}

const daysOf = (samples: readonly ProductionSample[]) =>
  Array.from({ length: samples.length / 24 }, (_, day) => samples.slice(24 * day, 24 * (day + 1)))

test('about 80 % of daily totals lie in a band narrower than that of all steps', () => {
  const days = daysOf(tested_on).map((day) => ({
    forecast: forecastOf(model, day),
    kwh: day.reduce((sum, { available_kwh }) => sum + available_kwh!, 0),
  }))
  const covered = days.filter(
    ({ forecast, kwh }) => kwh >= forecast.total_p10_kwh && kwh <= forecast.total_p90_kwh,
  )
  const share = covered.length / days.length
  assert.ok(share >= 0.65 && share <= 0.95, `${share}`)
  const { below, above } = model.total_scale
  assert.ok(below + above < 1.9, `${below}, ${above}`)
})

test('trees of winter forecast the sun of spring', () => {
  const northern = { ...history_plant, place: { latitude: 58, longitude: 15, elevation_m: 100 } }
  const of = (month: number, days: number) =>
    plantHistory({ from_ms: Date.UTC(2024, month, 1), days, seed: 3, plant: northern })
  const winter = trainProduction(of(0, 24), northern, seededRandom(4)).model!
  const spring = of(3, 8)
  const sum = daysOf(spring)
    .flatMap((day) => predictProduction({ ...winter, tree_share: 1 }, northern, day).points)
    .reduce((kwh, { p50_kwh }) => kwh + p50_kwh, 0)
  const actual = spring.reduce((kwh, { available_kwh }) => kwh + available_kwh!, 0)
  assert.ok(Math.abs(sum / actual - 1) < 0.2, `${sum} of ${actual}`)
})

test('a last week without surprises does not narrow the band of a short history', () => {
  const random = seededRandom(9)
  const calm_from_ms = weeks.at(-1)!.end_ms - 7 * day_ms
  const changeable = (samples: readonly ProductionSample[]) =>
    daysOf(samples).flatMap((day) => {
      const share =
        day[0]!.start_ms < calm_from_ms || day[0]!.start_ms >= calm_from_ms + 7 * day_ms
          ? 0.5 + 0.5 * random()
          : 0.75
      return day.map((sample) => ({ ...sample, available_kwh: share * sample.available_kwh! }))
    })
  const after = changeable(plantHistory({ from_ms: weeks.at(-1)!.end_ms, days: 20, seed: 12 }))
  const told = learn(changeable(weeks), 4)
  const within = daysOf(after).flatMap((day) =>
    forecastOf(told, day).points.flatMap(({ is_night, p10_kwh, p90_kwh }, hour) => {
      const { available_kwh } = day[hour]!
      return is_night ? [] : [available_kwh! >= p10_kwh && available_kwh! <= p90_kwh]
    }),
  )
  const share = within.filter(Boolean).length / within.length
  assert.ok(share > 0.72 && share < 0.92, `${share}`)
})

test('curtailed steps are not learnt from, as they would bias the model', () => {
  const random = seededRandom(5)
  const held = weeks.map((sample) => {
    const is_curtailed = sample.available_kwh! > 300 && random() < 0.5
    return is_curtailed ? { ...sample, is_curtailed, available_kwh: 300 } : sample
  })
  const told = learn(held, 2)
  assert.equal(told.facts.excluded.curtailed, held.filter((one) => one.is_curtailed).length)
  const untold = learn(
    held.map((sample) => ({ ...sample, is_curtailed: false })),
    2,
  )
  const after = plantHistory({ from_ms: Date.UTC(2024, 4, 7), days: 10, seed: 12 })
  const miss = (of: ProductionModel) => {
    const points = daysOf(after).flatMap((day) => forecastOf(of, day).points)
    return points.reduce(
      (sum, { p50_kwh }, i) => sum + Math.abs(p50_kwh - after[i]!.available_kwh!),
      0,
    )
  }
  assert.ok(miss(told) < 0.6 * miss(untold), `${miss(told)} and ${miss(untold)} kWh`)
})

test('excluded samples have no effect, and one seed gives one model', () => {
  const reasons: Partial<ProductionSample>[] = [
    { is_curtailed: true },
    { is_faulty: true },
    { is_clipped: true },
    { completeness_pct: 94.9 },
  ]
  const withValues = (kwh: number) =>
    weeks.map((sample, i) =>
      i % 7 === 0 ? { ...sample, ...reasons[i % 4], available_kwh: kwh } : sample,
    )
  const learnt = learn(withValues(0), 3)
  assert.deepEqual(learnt, learn(withValues(987), 3))
  const { excluded } = learnt.facts
  for (const reason of ['curtailed', 'faulty', 'clipped', 'partial'] as const) {
    assert.ok(excluded[reason] > 0, reason)
  }
})

test('a stored model makes the same forecasts', () => {
  const [day] = daysOf(tested_on)
  const read = deserialiseProduction(serialiseProduction(model))
  assert.deepEqual(forecastOf(read, day!), forecastOf(model, day!))
  assert.deepEqual(forecastOf(structuredClone(model), day!), forecastOf(model, day!))
  assert.throws(() => deserialiseProduction(serialiseProduction(model).subarray(0, 40)))
  const other = serialiseProduction({ ...model, format: 0 } as unknown as ProductionModel)
  assert.throws(() => deserialiseProduction(other), /not a production model of format 3/)
})

test('a forecast is ordered, within 0 and the rated power, and 0 at night, in any weather', () => {
  const [day] = daysOf(tested_on)
  const value = (max: number) => fc.option(fc.double({ min: -5, max, noNaN: true }))
  const sky = fc.record({
    ghi_w_m2: value(1400),
    dhi_w_m2: value(900),
    temperature_c: value(45),
    cloud_cover_pct: value(100),
  })
  fc.assert(
    fc.property(fc.array(sky, { minLength: 24, maxLength: 24 }), (skies) => {
      const weather = skies.map((one, i) => ({ ...day![i]!.weather!, ...one }))
      const asked = day!.map((sample, i) => ({ ...sample, weather: weather[i]! }))
      const forecast = forecastOf(model, asked)
      for (const { p10_kw, p50_kw, p90_kw, is_night } of forecast.points) {
        assert.ok(0 <= p10_kw && p10_kw <= p50_kw && p50_kw <= p90_kw && p90_kw <= 1000)
        if (is_night) assert.equal(p90_kw, 0)
      }
      const { total_p10_kwh, total_p50_kwh, total_p90_kwh } = forecast
      assert.ok(0 <= total_p10_kwh && total_p10_kwh <= total_p50_kwh)
      assert.ok(total_p50_kwh <= total_p90_kwh && total_p90_kwh <= 24 * 1000)
    }),
    { numRuns: 25 },
  )
})

test('a step without weather is forecast by the clear sky, and lowers confidence', () => {
  const [day] = daysOf(tested_on)
  const holed = day!.map((sample, i) => (i === 10 ? { ...sample, weather: null } : sample))
  const forecast = forecastOf(model, holed)
  const { p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2 } = forecast.points[10]!
  assert.ok(p10_kw > 0 && p50_kw > p10_kw && p90_kw >= p50_kw, `${p10_kw}, ${p50_kw}, ${p90_kw}`)
  assert.equal(poa_irradiance_w_m2, null)
  assert.equal(forecast.confidence, 'low')
  assert.notEqual(forecastOf(model, day!).confidence, 'low')
})

test('confidence follows the coverage on the hold-out, and the length of the history', () => {
  const clear = daysOf(tested_on).find((day) => {
    const tried = { ...model, trial: { coverage_pct: 80, tried: null } }
    return forecastOf(tried, day).confidence === 'high'
  })!
  const earned = (coverage_pct: number, day_count: number) => {
    const facts = { ...model.facts, day_count }
    const trial = { coverage_pct, tried: null }
    return forecastOf({ ...model, facts, trial }, clear).confidence
  }
  assert.deepEqual(
    [70, 69.9, 60, 59.9].map((pct) => earned(pct, 60)),
    ['high', 'medium', 'medium', 'low'],
  )
  assert.deepEqual([earned(80, 59), earned(55, 59)], ['medium', 'low'])
  assert.equal(forecastOf(model, clear).confidence, 'medium')
})

test('10 days with 60 daylight hours are enough, fewer are not', () => {
  const train = (samples: readonly ProductionSample[]) =>
    trainProduction(samples, plant, seededRandom(1))
  assert.ok(train(trained_on.slice(0, 24 * 9)).model === null)
  const enough = train(trained_on.slice(0, 24 * 10))
  assert.equal(enough.model?.facts.sample_count, enough.sample_count)
  const every_fourth = trained_on.filter((_, hour) => hour % 4 === 0)
  const few = every_fourth.slice(0, 6 * 18)
  const sparse = train(few)
  assert.ok(sparse.model === null && sparse.sample_count < 60, `${sparse.sample_count}`)
  // The same hours by the weather of other leads are no more hours.
  const by_leads = [12, 36, 60].flatMap((lead_time_h) =>
    few.map((sample) => ({ ...sample, lead_time_h })),
  )
  const led = train(by_leads)
  assert.ok(led.model === null && led.sample_count === 3 * sparse.sample_count)
  assert.ok(train(every_fourth).model !== null)
  const bare = trained_on.map((sample) => ({ ...sample, weather: null }))
  assert.deepEqual(train(bare), { model: null, sample_count: 0 })
  assert.deepEqual(train([]), { model: null, sample_count: 0 })
})

test('steps of another length are refused', () => {
  const quarter = { ...weeks[0]!, start_ms: test_from_ms, end_ms: test_from_ms + 900_000 }
  assert.throws(() => forecastOf(model, [quarter]), /steps last 15 minutes, the model's 60/)
  const mixed = [...weeks, quarter]
  assert.throws(
    () => trainProduction(mixed, plant, seededRandom(1)),
    /steps last 60 and 15 minutes/,
  )
  assert.deepEqual(forecastOf(model, []).points, [])
})
