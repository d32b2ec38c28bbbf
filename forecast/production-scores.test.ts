import assert from 'node:assert/strict'
import test from 'node:test'
import type { Plant } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import { quantile_levels } from './production-forecast.ts'
import type { ProductionSample } from './production-samples.ts'
import { scoreProduction, smartPersistence } from './production-scores.ts'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms
const plant: Plant = {
  rated_power_kw: 100,
  dc_capacity_kwp: 110,
  place: { latitude: 42.15, longitude: 24.75, elevation_m: 160 },
  arrays: [{ tilt_deg: 25, azimuth_deg: 180, dc_capacity_kwp: 110 }],
}
const noon_ms = Date.UTC(2024, 5, 10, 10)
const stepAt = (start_ms: number) => ({ start_ms, end_ms: start_ms + hour_ms })

function measured(start_ms: number, available_kwh: number | null): ProductionSample {
  return {
    ...stepAt(start_ms),
    weather: null,
    lead_time_h: 0,
    available_kwh,
    completeness_pct: 100,
    is_curtailed: false,
    is_clipped: false,
    is_faulty: false,
  }
}

/** What the clear-sky index of a noon's energy gives at the noon of the forecast. */
function carried(available_kwh: number, days_back: number): number {
  const clear = (start_ms: number) =>
    plantPhysics(plant, [stepAt(start_ms)], [null]).clear_ratio[0]!
  return (available_kwh / 100 / clear(noon_ms - days_back * day_ms)) * clear(noon_ms)
}

const persisted = (lead_time_h: number, known: ProductionSample[]) =>
  smartPersistence(plant, [stepAt(noon_ms)], [lead_time_h], known)[0]!

test('smart persistence carries on the last sky that was known when the forecast was issued', () => {
  const known = [measured(noon_ms - 2 * day_ms, 30), measured(noon_ms - day_ms, 60)]
  assert.ok(Math.abs(persisted(10, known) - carried(60, 1)) < 1e-9)
  // Issued 23.5 hours before: the same hour of yesterday was not over.
  assert.ok(Math.abs(persisted(23.5, known) - carried(30, 2)) < 1e-9)
})

test('it leaves out days that were not measured as they were, and gives nothing without any', () => {
  const curtailed = { ...measured(noon_ms - day_ms, 10), is_curtailed: true }
  const known = [
    measured(noon_ms - 3 * day_ms, 40),
    curtailed,
    measured(noon_ms - 2 * day_ms, null),
  ]
  assert.ok(Math.abs(persisted(10, known) - carried(40, 3)) < 1e-9)
  assert.ok(Number.isNaN(persisted(10, [measured(noon_ms - 9 * day_ms, 40)])))
  assert.equal(smartPersistence(plant, [stepAt(noon_ms + 12 * hour_ms)], [10], known)[0], 0)
})

test('scores are what they are by hand', () => {
  const rows = [
    { from: 0.2, to: 0.6, actual: 0.5, persistence: 0.3 },
    { from: 0.1, to: 0.3, actual: 0.6, persistence: Number.NaN },
  ]
  const column = (of: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, of)
  const scores = scoreProduction({
    quantiles: quantile_levels.map((level) => column(({ from, to }) => from + (to - from) * level)),
    actual: column(({ actual }) => actual),
    persistence: column(({ persistence }) => persistence),
    rated_power_kw: 100,
  })!
  const close = (value: number | null, by_hand: number) =>
    assert.ok(Math.abs(value! - by_hand) < 1e-9, `${value} for ${by_hand}`)
  assert.equal(scores.sample_count, 2)
  close(scores.mae_kw, 25)
  close(scores.nmae_pct, 25)
  close(scores.rmse_kw, Math.sqrt((10 ** 2 + 40 ** 2) / 2))
  close(scores.mbe_kw, -25)
  close(scores.p10_p90_coverage_pct, 50)
  // The first row missed by 10 and persistence by 20; the second has none.
  close(scores.skill_vs_persistence_pct, 50)
  close(
    scores.pinball_loss_kw,
    (0.1 * 26 + 0.5 * 10 + 0.1 * 6 + 0.1 * 48 + 0.5 * 40 + 0.9 * 32) / 6,
  )
  close(scores.r2, 1 - (10 ** 2 + 40 ** 2) / 2 / 25)
})

test('nothing to score is no score', () => {
  const none = new Float64Array(0)
  const quantiles = quantile_levels.map(() => none)
  const forecasts = { quantiles, actual: none, persistence: none, rated_power_kw: 1 }
  assert.equal(scoreProduction(forecasts), null)
})
