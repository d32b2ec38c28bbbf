import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { readGefcomZone } from './fixtures/gefcom-zone.ts'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import {
  fitPhysicalErrors,
  type PhysicalErrors,
  physicalQuantiles,
  predictPhysical,
  published_errors,
} from './physical-forecast.ts'
import { plantPhysics } from './plant-physics.ts'
import { quantile_levels, threeQuantiles } from './production-forecast.ts'
import type { ProductionSample } from './production-samples.ts'
import { quantileInPlace } from './quantiles.ts'

const from_ms = Date.UTC(2024, 4, 1)
const month = plantHistory({ from_ms, days: 30, seed: 21 })
const weatherOf = (samples: readonly ProductionSample[]) => samples.map(({ weather }) => weather)
const day = month.slice(24 * 12, 24 * 13)

const always = (errors: PhysicalErrors) => () => errors

/** The month as if the plant gave a share of what physics says, exactly. */
function givingShare(share: number, samples = month): ProductionSample[] {
  const { potential_ratio } = plantPhysics(history_plant, samples, weatherOf(samples))
  return samples.map((sample, i) => ({
    ...sample,
    is_clipped: false,
    available_kwh: share * potential_ratio[i]! * history_plant.rated_power_kw,
  }))
}

test('without history the spread is the published one around physics', () => {
  const forecast = predictPhysical(history_plant, day, always(fitPhysicalErrors([], history_plant)))
  const { ac_ratio, poa_w_m2 } = plantPhysics(history_plant, day, weatherOf(day))
  const noon = forecast.points[10]!
  const physics_kw = ac_ratio[10]! * 1000
  assert.ok(noon.p10_kw < physics_kw && noon.p90_kw > physics_kw, `${physics_kw} kW`)
  assert.ok(Math.abs(noon.p50_kw / physics_kw - 1) < 0.3)
  assert.equal(noon.poa_irradiance_w_m2, poa_w_m2[10])
  assert.equal(noon.ambient_temperature_c, day[10]!.weather!.temperature_c)
  assert.equal(forecast.points[0]!.is_night, true)
  assert.equal(forecast.points[0]!.p90_kw, 0)
  assert.notEqual(forecast.confidence, 'high')
})

test('own history takes over in proportion to its hours', () => {
  const noon = (errors: typeof published_errors) => {
    const physics = plantPhysics(history_plant, [day[10]!], [day[10]!.weather])
    return (
      threeQuantiles(physicalQuantiles(physics, always(errors))).p50[0]! /
      physics.potential_ratio[0]!
    )
  }
  const none = noon(published_errors)
  const two_days = noon(fitPhysicalErrors(givingShare(0.7, month.slice(0, 48)), history_plant))
  const all = noon(fitPhysicalErrors(givingShare(0.7), history_plant))
  assert.ok(none > two_days && two_days > all && all > 0.7, `${none}, ${two_days}, ${all}`)
  assert.ok(all < 0.7 + 0.5 * (none - 0.7), `${all}`)
})

test('three days set the level of skies that they did not have', () => {
  const clear = givingShare(0.7).filter(({ weather }) => weather!.cloud_cover_pct! < 40)
  const { level, high_sun } = fitPhysicalErrors(clear.slice(0, 36), history_plant)
  assert.ok(level > 0.7 && level < 0.85, `${level}`)
  const [overcast] = high_sun.by_clear_index
  const [published] = published_errors.high_sun.by_clear_index
  assert.ok(overcast!.every((ratio, i) => ratio < 0.87 * published![i]!))
})

test('a plant that runs before physics has it run is within the band of dawn', () => {
  const early = month.map((sample) => ({ ...sample, available_kwh: 4 }))
  const errors = fitPhysicalErrors(early, history_plant)
  const { potential_ratio, is_night } = plantPhysics(history_plant, month, weatherOf(month))
  const dawn = potential_ratio.findIndex((ratio, i) => ratio < 0.01 && is_night[i] === 0)
  const { p90_kw } = predictPhysical(history_plant, [month[dawn]!], always(errors)).points[0]!
  assert.ok(p90_kw >= 4 && p90_kw < 12, `${p90_kw}`)
  const night = is_night.indexOf(1)
  const dark = predictPhysical(history_plant, [month[night]!], always(errors)).points[0]!
  assert.equal(dark.p90_kw, 0)
})

test('curtailed, faulty, clipped and incomplete steps are not learnt from', () => {
  const known = fitPhysicalErrors(givingShare(0.9), history_plant)
  const lies: Partial<ProductionSample>[] = [
    { is_curtailed: true },
    { is_faulty: true },
    { is_clipped: true },
    { completeness_pct: 90 },
  ]
  const spoilt = givingShare(0.1, plantHistory({ from_ms, days: 4, seed: 5 }))
  const mixed = [
    ...givingShare(0.9),
    ...spoilt.map((sample, i) => ({ ...sample, ...lies[i % 4] })),
    ...spoilt.map((sample) => ({ ...sample, available_kwh: null })),
  ]
  assert.deepEqual(fitPhysicalErrors(mixed, history_plant), known)
})

test('without weather the forecast is the clear sky with the errors of the last two weeks', () => {
  const dark = givingShare(0.2, month.slice(0, 24 * 15))
  const bright = givingShare(0.95, month.slice(24 * 15))
  const unknown = day.map((step) => ({ ...step, weather: null }))
  const noon = (samples: ProductionSample[]) =>
    predictPhysical(history_plant, unknown, always(fitPhysicalErrors(samples, history_plant)))
  const after_bright = noon([...dark, ...bright])
  assert.ok(after_bright.points[10]!.p50_kw > 1.5 * noon(dark).points[10]!.p50_kw)
  assert.equal(after_bright.confidence, 'low')
  assert.equal(after_bright.points[10]!.poa_irradiance_w_m2, null)
  assert.equal(after_bright.points[10]!.cloud_cover_pct, null)
})

test('quantiles are in order, within 0 and the rated power, in any weather', () => {
  const wide = { ...history_plant, dc_capacity_kwp: 3000 }
  const value = (max: number) => fc.option(fc.double({ min: -5, max, noNaN: true }))
  const step = fc.record({ ghi_w_m2: value(1400), dhi_w_m2: value(900), temperature_c: value(45) })
  fc.assert(
    fc.property(fc.array(step, { minLength: 24, maxLength: 24 }), (skies) => {
      const steps = day.map((step, i) => ({ ...step, weather: { ...step.weather!, ...skies[i] } }))
      const forecast = predictPhysical(wide, steps, always(published_errors))
      const in_order = forecast.points.every(
        ({ p10_kw, p50_kw, p90_kw }) => 0 <= p10_kw && p10_kw <= p50_kw && p50_kw <= p90_kw,
      )
      const { total_p10_kwh, total_p50_kwh, total_p90_kwh } = forecast
      const totals_in_order = total_p10_kwh <= total_p50_kwh && total_p50_kwh <= total_p90_kwh
      const held = forecast.points.every(({ p90_kw }) => p90_kw <= wide.rated_power_kw)
      return in_order && totals_in_order && held
    }),
    { numRuns: 40 },
  )
})

test('steps that overlap, descend or last too long are refused', () => {
  const refused = (start_ms: number, end_ms: number, message: RegExp) => {
    const steps = [day[10]!, { ...day[10]!, start_ms, end_ms }]
    const predict = () => predictPhysical(history_plant, steps, always(published_errors))
    assert.throws(predict, message)
  }
  const { start_ms, end_ms } = day[10]!
  refused(start_ms, end_ms, /overlap or descend at 2024-05-13T10:00:00.000Z/)
  refused(end_ms, end_ms + 7_200_000, /a step lasts 2 h/)
  refused(end_ms, end_ms, /a step lasts 0 h/)
})

const gefcom = readGefcomZone()
const left_out = gefcom === null && 'LEFT OUT: no ../shared/data/forecast'

/** Classes of the published errors: overcast, cloudy, broken and clear; sun below 15 degrees. */
const clear_index_edges = [0.3, 0.6, 0.85]
const low_sun_below_deg = 15

test('the published spread is that of its data', { skip: left_out }, () => {
  const { plant, samples } = gefcom!
  const physics = plantPhysics(plant, samples, weatherOf(samples))
  const power = samples.map(({ available_kwh }) => available_kwh!)
  const rows = [...samples.keys()].filter((row) => physics.is_night[row] === 0)
  const bright = rows.filter((row) => physics.potential_ratio[row]! >= 0.05)
  const median = weightedMedian(
    bright.map((row) => ({
      value: power[row]! / physics.potential_ratio[row]!,
      weight: physics.potential_ratio[row]!,
    })),
  )
  const classOf = (row: number) =>
    clear_index_edges.filter((edge) => physics.clear_index[row]! >= edge).length
  for (const sun of ['high_sun', 'low_sun'] as const) {
    const in_sun = rows.filter(
      (row) => physics.elevation_deg[row]! < low_sun_below_deg === (sun === 'low_sun'),
    )
    const compare = (
      of: readonly number[],
      computed: Float64Array,
      published: readonly number[],
    ) => {
      const ratios = Float64Array.from(
        of.filter((row) => computed[row]! >= 0.01),
        (row) => power[row]! / computed[row]! / median,
      )
      for (const [i, level] of quantile_levels.entries()) {
        const quantile = quantileInPlace(ratios, level)
        const told = `${sun} ${level}: ${quantile} for ${published[i]}`
        assert.ok(Math.abs(quantile - published[i]!) < 0.0051, told)
      }
    }
    for (const [at, published] of published_errors[sun].by_clear_index.entries()) {
      compare(
        in_sun.filter((row) => classOf(row) === at),
        physics.potential_ratio,
        published,
      )
    }
    compare(in_sun, physics.clear_ratio, published_errors[sun].without_weather)
  }
})

function weightedMedian(values: { value: number; weight: number }[]): number {
  const sorted = values.toSorted((a, b) => a.value - b.value)
  const half = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2
  let passed = 0
  for (const { value, weight } of sorted) {
    passed += weight
    if (passed >= half) return value
  }
  return Number.NaN
}
