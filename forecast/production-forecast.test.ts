import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { history_plant } from './fixtures/plant-history.ts'
import { plantPhysics } from './plant-physics.ts'
import {
  type Confidence,
  conformalScale,
  productionForecast,
  quantile_levels,
  stretchQuantiles,
  threeQuantiles,
} from './production-forecast.ts'
import { seededRandom } from './seeded-random.ts'

test('P10, P50 and P90 are among the levels', () => {
  const { p10, p50, p90 } = threeQuantiles(quantile_levels.map((level) => Float64Array.of(level)))
  assert.deepEqual([p10[0], p50[0], p90[0]], [0.1, 0.5, 0.9])
})

test('a too narrow spread is stretched until one in ten lies beyond each side', () => {
  const random = seededRandom(4)
  // Errors are even from -2 to 1; told was -0.5 to 0.5.
  const outcome = () => ({ p10: 9.5, p50: 10, p90: 10.5, actual: 8 + 3 * random() })
  const { below, above } = conformalScale(Array.from({ length: 4000 }, outcome), 0.01)
  // 1.7 / 0.5 would be needed.
  assert.equal(below, 3)
  assert.ok(Math.abs(above - 0.7 / 0.5) < 0.05, `${above}`)
})

test('with few outcomes the widest counts', () => {
  const outcomes = [0.4, 1.5].map((actual) => ({ p10: -1, p50: 0, p90: 1, actual }))
  assert.deepEqual(conformalScale(outcomes, 0.01), { below: 0.2, above: 1.5 })
  assert.deepEqual(conformalScale([], 0.01), { below: 1, above: 1 })
})

test('stretching moves both sides of the median apart, within the valid range', () => {
  const quantiles = quantile_levels.map((level) => Float64Array.of(0.2 + 0.6 * level))
  stretchQuantiles(quantiles, { below: 2, above: 0.5 })
  const { p10, p50, p90 } = threeQuantiles(quantiles)
  assert.ok(Math.abs(p10[0]! - (0.5 - 2 * 0.24)) < 1e-12)
  assert.equal(p50[0], 0.5)
  assert.ok(Math.abs(p90[0]! - (0.5 + 0.5 * 0.24)) < 1e-12)
  assert.equal(quantiles[0]![0], 0)
})

/** Hours from 09:00Z on of 1000 kW, each with P10, P50 and P90 in kWh. */
function forecastOf(
  hours: readonly (readonly [p10: number, p50: number, p90: number])[],
  total_scale = { below: 1, above: 1 },
  change: { clear_kwh?: number; ghi_w_m2?: number | null; confidence_max?: Confidence } = {},
) {
  const { clear_kwh, ghi_w_m2 = 500, confidence_max = 'high' } = change
  const from_ms = Date.UTC(2024, 5, 1, 9)
  const none = { dni_w_m2: null, dhi_w_m2: null, temperature_c: null, wind_speed_m_s: null }
  const steps = hours.map((_, hour) => {
    const [start_ms, end_ms] = [hour, hour + 1].map((at) => from_ms + at * 3_600_000) as [
      number,
      number,
    ]
    const sky = { ghi_w_m2, ...none, cloud_cover_pct: null, relative_humidity_pct: null }
    return { start_ms, end_ms, weather: { start_ms, end_ms, ...sky }, lead_time_h: 24 }
  })
  const physics = plantPhysics(
    history_plant,
    steps,
    steps.map(({ weather }) => weather),
  )
  if (clear_kwh !== undefined) physics.clear_ratio.fill(clear_kwh / 1000)
  const quantiles = quantile_levels.map((level) => {
    const nth = [0.1, 0.5, 0.9].indexOf(level)
    return Float64Array.from(hours, (hour) => (hour[nth] ?? 0) / 1000)
  })
  const parts = { plant: history_plant, steps, physics, quantiles, total_scale, confidence_max }
  return productionForecast(parts)
}

const totalsOf = (...given: Parameters<typeof forecastOf>) => {
  const { total_p10_kwh, total_p50_kwh, total_p90_kwh } = forecastOf(...given)
  return [total_p10_kwh, total_p50_kwh, total_p90_kwh]
}

test('the total spreads by its scale times the comonotonic spread', () => {
  const hours = [
    [2, 5, 6],
    [0, 4, 9],
  ] as const
  const assertNear = (totals: number[], wanted: number[]) =>
    totals.forEach((total, i) => {
      assert.ok(Math.abs(total - wanted[i]!) < 1e-9, `${totals}`)
    })
  assertNear(totalsOf(hours, { below: 0.5, above: 0.25 }), [5.5, 9, 10.5])
  assertNear(totalsOf(hours), [2, 9, 15])
})

test('totals stay in order, within 0 and the rated power, at any scale', () => {
  const kwh = fc.double({ min: 0, max: 1000, noNaN: true })
  const factor = fc.double({ min: 0.2, max: 3, noNaN: true })
  fc.assert(
    fc.property(fc.array(fc.tuple(kwh, kwh, kwh)), factor, factor, (rows, below, above) => {
      const hours = rows.map((row) => row.toSorted((a, b) => a - b) as [number, number, number])
      const [p10, p50, p90] = totalsOf(hours, { below, above })
      const most = 1000 * hours.length
      return 0 <= p10! && p10! <= p50! && p50! <= p90! && p90! <= most + 1e-6
    }),
  )
})

test('a total never exceeds the rated power over its time', () => {
  const wide = [
    [280, 600, 920],
    [100, 500, 900],
  ] as const
  // 1100 and three times 720 more would not fit into two hours.
  assert.deepEqual(totalsOf(wide, { below: 3, above: 3 }), [0, 1100, 2000])
})

test('confidence falls with the spread and without weather, and is limited to the proven one', () => {
  const confidenceOf = (spread_kwh: number, change: Parameters<typeof forecastOf>[2] = {}) =>
    forecastOf([[0, spread_kwh / 2, spread_kwh]], undefined, { clear_kwh: 100, ...change })
      .confidence
  assert.equal(confidenceOf(25), 'high')
  assert.equal(confidenceOf(25, { confidence_max: 'medium' }), 'medium')
  assert.equal(confidenceOf(25, { confidence_max: 'low' }), 'low')
  assert.equal(confidenceOf(45, { confidence_max: 'low' }), 'low')
  assert.equal(confidenceOf(45), 'medium')
  assert.equal(confidenceOf(65), 'low')
  assert.equal(confidenceOf(25, { ghi_w_m2: null }), 'low')
  assert.equal(confidenceOf(0, { clear_kwh: 0 }), 'high')
})
