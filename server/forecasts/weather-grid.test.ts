import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { KnownStep } from './weather/run.ts'
import { onGrid, packSteps, unpackSteps } from './weather-grid.ts'

function step(start_h: number, hours: number, ghi_w_m2: number | null, issued_h = -24): KnownStep {
  return {
    start_ms: start_h * hour_ms,
    end_ms: (start_h + hours) * hour_ms,
    ghi_w_m2,
    dni_w_m2: null,
    dhi_w_m2: 50,
    temperature_c: 20,
    wind_speed_m_s: 2,
    cloud_cover_pct: 30,
    relative_humidity_pct: 60,
    ghi_p10_w_m2: 100,
    ghi_p90_w_m2: 356.3,
    issued_at: new Date(issued_h * hour_ms),
    source: 'open_meteo',
  }
}
const grid = (to_h: number, step_h: number) => ({
  from_ms: 0,
  to_ms: to_h * hour_ms,
  step_ms: step_h * hour_ms,
})

test('steps become those of the grid, by their mean', () => {
  const quarters = [100, 200, 300, 400].map((ghi, nth) => step(nth / 4, 1 / 4, ghi, -nth))
  const [hour] = onGrid(quarters, grid(1, 1))
  assert.deepEqual([hour!.ghi_w_m2, hour!.temperature_c, hour!.dni_w_m2], [250, 20, null])
  // As old as the oldest of them.
  assert.equal(hour!.issued_ms, -3 * hour_ms)
  assert.ok(Math.abs(hour!.ghi_spread_w_m2! - 100) < 0.01)
  const split = onGrid([step(0, 1, 100), step(1, 1, 300)], grid(2, 0.5))
  assert.deepEqual(
    split.map(({ ghi_w_m2 }) => ghi_w_m2),
    [100, 100, 300, 300],
  )
})

test('what is not known over a whole step is left out', () => {
  const known = [step(0, 1, 100), step(2, 0.5, 300), step(3, 1, null)]
  const found = onGrid(known, grid(5, 1))
  assert.deepEqual(
    found.map(({ start_ms, ghi_w_m2 }) => [start_ms / hour_ms, ghi_w_m2]),
    [
      [0, 100],
      [3, null],
    ],
  )
})

test('packed steps come out as they were', () => {
  const steps = onGrid([step(0, 1, 100), step(1, 1, null)], grid(2, 1))
  assert.deepEqual(unpackSteps(packSteps(steps)), steps)
  assert.deepEqual(unpackSteps(packSteps([])), [])
})
