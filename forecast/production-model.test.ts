import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { readGefcomZone } from './fixtures/gefcom-zone.ts'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import type { ProductionForecast } from './production-forecast.ts'
import { holdOut } from './production-holdout.ts'
import {
  deserialiseProduction,
  type ProductionModel,
  predictProduction,
  serialiseProduction,
  trainability,
  trainProduction,
} from './production-model.ts'
import type { ProductionSample } from './production-samples.ts'
import { seededRandom } from './seeded-random.ts'

const day_ms = 24 * 3_600_000
const plant = history_plant
const history = plantHistory({ from_ms: Date.UTC(2024, 1, 1), days: 190, seed: 7 })
const test_from_ms = history.at(-1)!.end_ms - 40 * day_ms
const trained_on = history.filter(({ end_ms }) => end_ms <= test_from_ms)
const tested_on = history.filter(({ start_ms }) => start_ms >= test_from_ms)
const tried = holdOut(history, plant, { from_ms: test_from_ms, current: null }, seededRandom(1))!
const { model } = tried

/** A short history, to learn from quickly. */
const weeks = plantHistory({ from_ms: Date.UTC(2024, 3, 1), days: 36, seed: 12 })

function forecastOf(of: ProductionModel, samples: readonly ProductionSample[]): ProductionForecast {
  return predictProduction(of, {
    plant,
    steps: samples,
    weather: samples.map(({ weather }) => weather),
    lead_time_h: samples.map(({ lead_time_h }) => lead_time_h),
  })
}

const daysOf = (samples: readonly ProductionSample[]) =>
  Array.from({ length: samples.length / 24 }, (_, day) => samples.slice(24 * day, 24 * (day + 1)))

test('on days that it has not seen it beats physics and smart persistence', () => {
  const { scores, physical, is_worse } = tried
  assert.equal(is_worse, false)
  assert.ok(scores.sample_count > 500)
  assert.ok(scores.crps_kw < 0.97 * physical.crps_kw, `${scores.crps_kw}, ${physical.crps_kw}`)
  assert.ok(scores.pinball_loss_kw < 0.97 * physical.pinball_loss_kw)
  assert.ok(scores.skill_vs_persistence_pct! > 50, `${scores.skill_vs_persistence_pct} %`)
  assert.ok(Math.abs(scores.mbe_kw) < 10, `${scores.mbe_kw} kW`)
})

const gefcom = readGefcomZone()
const left_out = gefcom === null && 'LEFT OUT: no ../shared/data/forecast'

test('so it does at a real plant, in its last two months', { skip: left_out }, () => {
  const { plant: zone, samples } = gefcom!
  const from_ms = samples.at(-1)!.end_ms - 60 * day_ms
  const year = samples.filter(({ start_ms }) => start_ms >= from_ms - 365 * day_ms)
  const options = { from_ms, current: null }
  const { scores, physical } = holdOut(year, zone, options, seededRandom(1))!
  assert.ok(scores.crps_kw < 0.85 * physical.crps_kw, `${scores.crps_kw}, ${physical.crps_kw}`)
  assert.ok(scores.skill_vs_persistence_pct! > 45, `${scores.skill_vs_persistence_pct} %`)
  const covered_pct = scores.p10_p90_coverage_pct
  assert.ok(covered_pct > 75 && covered_pct < 87, `${covered_pct} %`)
})

test('about 80 % of what comes lies between P10 and P90', () => {
  const covered_pct = tried.scores.p10_p90_coverage_pct
  assert.ok(covered_pct > 75 && covered_pct < 88, `${covered_pct} %`)
})

test('about 80 % of the totals of days do, in less spread than all steps at once would have', () => {
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

test('what was held down by a command teaches nothing, and would teach wrongly', () => {
  const random = seededRandom(5)
  const held = weeks.map((sample) => {
    const is_curtailed = sample.available_kwh! > 300 && random() < 0.5
    return is_curtailed ? { ...sample, is_curtailed, available_kwh: 300 } : sample
  })
  const told = trainProduction(held, plant, seededRandom(2))
  assert.equal(told.facts.excluded.curtailed, held.filter((one) => one.is_curtailed).length)
  const untold = trainProduction(
    held.map((sample) => ({ ...sample, is_curtailed: false })),
    plant,
    seededRandom(2),
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

test('no value of a sample that is left out leaves a trace, and one seed learns one model', () => {
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
  const learn = (kwh: number) =>
    serialiseProduction(trainProduction(withValues(kwh), plant, seededRandom(3)))
  const bytes = learn(0)
  assert.ok(bytes.equals(learn(987)))
  const { excluded } = deserialiseProduction(bytes).facts
  for (const reason of ['curtailed', 'faulty', 'clipped', 'partial'] as const) {
    assert.ok(excluded[reason] > 0, reason)
  }
})

test('full inverters are forecast as often as they are, though nothing is learnt from them', () => {
  const arrays = plant.arrays.map((array) => ({
    ...array,
    dc_capacity_kwp: 1.35 * array.dc_capacity_kwp,
  }))
  const wide = { ...plant, arrays, dc_capacity_kwp: 1.35 * plant.dc_capacity_kwp }
  const samples = plantHistory({ from_ms: Date.UTC(2024, 3, 10), days: 70, seed: 8, plant: wide })
  const from_ms = samples.at(-1)!.end_ms - 20 * day_ms
  const { scores, model: learnt } = holdOut(
    samples,
    wide,
    { from_ms, current: null },
    seededRandom(4),
  )!
  assert.ok(learnt.facts.excluded.clipped > 100)
  assert.ok(Math.abs(scores.mbe_kw) < 15, `${scores.mbe_kw} kW`)
  assert.ok(scores.p10_p90_coverage_pct > 72, `${scores.p10_p90_coverage_pct} %`)
})

test('stored and read it forecasts the same', () => {
  const [day] = daysOf(tested_on)
  const read = deserialiseProduction(serialiseProduction(model))
  assert.deepEqual(forecastOf(read, day!), forecastOf(model, day!))
  assert.deepEqual(forecastOf(structuredClone(model), day!), forecastOf(model, day!))
  assert.throws(() => deserialiseProduction(serialiseProduction(model).subarray(0, 40)))
  const other = serialiseProduction({ ...model, format: 0 } as unknown as ProductionModel)
  assert.throws(() => deserialiseProduction(other), /not a production model of format 1/)
})

test('a forecast is ordered, within 0 and the rated power, and dark at night, in any weather', () => {
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
      const { total_p10_kwh, total_p50_kwh, total_p90_kwh, peak_p50_kw } = forecast
      assert.ok(0 <= total_p10_kwh && total_p10_kwh <= total_p50_kwh)
      assert.ok(total_p50_kwh <= total_p90_kwh && total_p90_kwh <= 24 * 1000)
      assert.equal(peak_p50_kw, Math.max(...forecast.points.map(({ p50_kw }) => p50_kw)))
    }),
    { numRuns: 25 },
  )
})

test('a step without weather is forecast by the clear sky, and lowers confidence', () => {
  const [day] = daysOf(tested_on)
  const holed = day!.map((sample, i) => (i === 10 ? { ...sample, weather: null } : sample))
  const forecast = forecastOf(model, holed)
  const { p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2 } = forecast.points[10]!
  assert.ok(p10_kw > 0 && p50_kw > p10_kw && p90_kw > p50_kw)
  assert.equal(poa_irradiance_w_m2, null)
  assert.equal(forecast.confidence, 'low')
  assert.notEqual(forecastOf(model, day!).confidence, 'low')
})

test('a history that is too short says what it lacks', () => {
  const short = trainability(trained_on.slice(0, 24 * 15), plant)
  assert.deepEqual([short.is_enough, short.day_count], [false, 15])
  assert.match(short.reason!, /usable daylight hours on 15 days, of at least 120 on 20/)
  assert.equal(trainability(trained_on, plant).reason, null)
  const bare = trained_on.map((sample) => ({ ...sample, weather: null }))
  assert.equal(trainability(bare, plant).usable_h, 0)
  assert.throws(() => trainProduction(bare, plant, seededRandom(1)), /samples: 0 usable daylight/)
  assert.throws(() => trainProduction([], plant, seededRandom(1)), /samples: there are none/)
})

test('steps of another length, or without their leads, are refused', () => {
  const quarter = { start_ms: test_from_ms, end_ms: test_from_ms + 900_000 }
  const ask = (lead_time_h: number[]) =>
    predictProduction(model, { plant, steps: [quarter], weather: [null], lead_time_h })
  assert.throws(() => ask([24]), /steps last 15 minutes, the model's 60/)
  assert.throws(() => ask([]), /lead_time_h has 0 steps, not 1/)
  const mixed = [...weeks, { ...weeks[0]!, ...quarter }]
  assert.throws(
    () => trainProduction(mixed, plant, seededRandom(1)),
    /steps last 60 and 15 minutes/,
  )
  assert.deepEqual(forecastOf(model, []).points, [])
})

test('a model in use that has seen the hold-out cannot be held against it', () => {
  const seen = { ...model, facts: { ...model.facts, trained_to_ms: test_from_ms + day_ms } }
  const options = { from_ms: test_from_ms, current: seen }
  assert.throws(() => holdOut(history, plant, options, seededRandom(1)), /learnt from the hold-out/)
})

test('a candidate that is worse than the model in use is told to be', () => {
  const from_ms = weeks.at(-1)!.end_ms
  const later = plantHistory({ from_ms, days: 12, seed: 12 })
  const gone_wrong = weeks.map((sample) => ({
    ...sample,
    available_kwh: 0.3 * sample.available_kwh!,
  }))
  const good = trainProduction(weeks, plant, seededRandom(6))
  const samples = [...gone_wrong, ...later]
  const { is_worse, scores, current } = holdOut(
    samples,
    plant,
    { from_ms, current: good },
    seededRandom(6),
  )!
  assert.equal(is_worse, true)
  assert.ok(current!.crps_kw < 0.6 * scores.crps_kw)
})
