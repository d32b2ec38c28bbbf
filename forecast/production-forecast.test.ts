import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { history_plant } from './fixtures/plant-history.ts'
import { plantPhysics } from './plant-physics.ts'
import {
  confidenceOf,
  conformalScale,
  type ProductionPoint,
  productionForecast,
  quantile_levels,
  stretchQuantiles,
  threeQuantiles,
  totalQuantiles,
} from './production-forecast.ts'
import { seededRandom } from './seeded-random.ts'

test('P10, P50 and P90 are found among the levels', () => {
  const { p10, p50, p90 } = threeQuantiles(quantile_levels.map((level) => Float64Array.of(level)))
  assert.deepEqual([p10[0], p50[0], p90[0]], [0.1, 0.5, 0.9])
})

test('a spread told too narrow is stretched until one in ten lies beyond each side', () => {
  const random = seededRandom(4)
  // Errors are even from -2 to 1; told was -0.5 to 0.5.
  const outcome = () => ({ p10: 9.5, p50: 10, p90: 10.5, actual: 8 + 3 * random() })
  const { below, above } = conformalScale(Array.from({ length: 4000 }, outcome), 0.01)
  // 1.7 / 0.5 would be needed.
  assert.equal(below, 3)
  assert.ok(Math.abs(above - 0.7 / 0.5) < 0.05, `${above}`)
})

test('a few outcomes vouch for little: the widest of them counts', () => {
  const outcomes = [0.4, 1.5].map((actual) => ({ p10: -1, p50: 0, p90: 1, actual }))
  assert.deepEqual(conformalScale(outcomes, 0.01), { below: 0.2, above: 1.5 })
  assert.deepEqual(conformalScale([], 0.01), { below: 1, above: 1 })
})

test('stretching moves both sides of the median apart, within what is possible', () => {
  const quantiles = quantile_levels.map((level) => Float64Array.of(0.2 + 0.6 * level))
  stretchQuantiles(quantiles, { below: 2, above: 0.5 })
  const { p10, p50, p90 } = threeQuantiles(quantiles)
  assert.ok(Math.abs(p10[0]! - (0.5 - 2 * 0.24)) < 1e-12)
  assert.equal(p50[0], 0.5)
  assert.ok(Math.abs(p90[0]! - (0.5 + 0.5 * 0.24)) < 1e-12)
  assert.equal(quantiles[0]![0], 0)
})

const pointOf = (p10_kwh: number, p50_kwh: number, p90_kwh: number) =>
  ({ p10_kwh, p50_kwh, p90_kwh }) as ProductionPoint

test('the total spreads as much as its scale says of what all steps together would', () => {
  const points = [pointOf(2, 5, 6), pointOf(0, 4, 9)]
  const scale = { below: 0.5, above: 0.25 }
  assert.deepEqual(totalQuantiles(points, scale), { p10_kwh: 5.5, p50_kwh: 9, p90_kwh: 10.5 })
  const all = totalQuantiles(points, { below: 1, above: 1 })
  assert.deepEqual(all, { p10_kwh: 2, p50_kwh: 9, p90_kwh: 15 })
})

test('totals stay in order and not below 0 whatever the scale', () => {
  const kwh = fc.double({ min: 0, max: 100, noNaN: true })
  const factor = fc.double({ min: 0.2, max: 3, noNaN: true })
  fc.assert(
    fc.property(fc.array(fc.tuple(kwh, kwh, kwh)), factor, factor, (rows, below, above) => {
      const points = rows.map((row) => {
        const [p10, p50, p90] = row.toSorted((a, b) => a - b)
        return pointOf(p10!, p50!, p90!)
      })
      const { p10_kwh, p50_kwh, p90_kwh } = totalQuantiles(points, { below, above })
      return 0 <= p10_kwh && p10_kwh <= p50_kwh && p50_kwh <= p90_kwh
    }),
  )
})

test('a total is never more than the rated power for all of the time', () => {
  const start_ms = Date.UTC(2024, 5, 1, 9)
  const steps = [0, 1].map((hour) => ({
    start_ms: start_ms + hour * 3_600_000,
    end_ms: start_ms + (hour + 1) * 3_600_000,
  }))
  const weather = steps.map(() => null)
  const forecast = productionForecast({
    plant: history_plant,
    steps,
    weather,
    physics: plantPhysics(history_plant, steps, weather),
    quantiles: quantile_levels.map((level) => Float64Array.of(0.2 + 0.8 * level, level)),
    total_scale: { below: 3, above: 3 },
    is_trained: true,
  })
  assert.equal(forecast.total_p50_kwh, 1100)
  // 1100 and three times 720 more would not fit into two hours.
  assert.equal(forecast.total_p90_kwh, 2000)
  assert.equal(forecast.total_p10_kwh, 0)
  assert.deepEqual([Math.round(forecast.peak_p50_kw), forecast.peak_at_ms], [600, start_ms])
})

test('confidence falls with the spread, without a model of the plant and without weather', () => {
  const basis = { spread_kwh: 25, clear_kwh: 100, is_trained: true, has_all_weather: true }
  assert.equal(confidenceOf(basis), 'high')
  assert.equal(confidenceOf({ ...basis, is_trained: false }), 'medium')
  assert.equal(confidenceOf({ ...basis, spread_kwh: 45 }), 'medium')
  assert.equal(confidenceOf({ ...basis, spread_kwh: 65 }), 'low')
  assert.equal(confidenceOf({ ...basis, has_all_weather: false }), 'low')
  assert.equal(confidenceOf({ ...basis, spread_kwh: 0, clear_kwh: 0 }), 'high')
})
