import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Plant, Step } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import type { Measurement } from './production-samples.ts'
import { productionScorer } from './production-scores.ts'
import { scoresOf } from './score-sums.ts'

const plant: Plant = {
  rated_power_kw: 100,
  dc_capacity_kwp: 110,
  place: { latitude: 42.15, longitude: 24.75, elevation_m: 160 },
  arrays: [{ tilt_deg: 25, azimuth_deg: 180, dc_capacity_kwp: 110 }],
}
const noon_ms = Date.UTC(2024, 5, 10, 10)

type Given = Partial<Measurement> & { at_ms: number }

/** What is given by the hour, whole and undisturbed where nothing else is said. */
function scorerOf(given: readonly Given[]) {
  const usual = { completeness_pct: 100, is_curtailed: false, is_clipped: false, is_faulty: false }
  const known = new Map(
    given.map(({ at_ms, ...one }) => [at_ms, { available_kwh: null, ...usual, ...one }]),
  )
  const score = productionScorer(plant, ({ start_ms }) => known.get(start_ms) ?? null)
  return (step: Partial<Step> & { lead_h?: number } = {}) => {
    const { start_ms = noon_ms, end_ms = start_ms + hour_ms, lead_h = 10 } = step
    const quantiles = { p10_kw: 40, p50_kw: 50, p90_kw: 60 }
    const known_ms = start_ms - lead_h * hour_ms
    return score({ start_ms, end_ms, ...quantiles, known_ms, is_hindcast: false })
  }
}

const noon = (available_kwh: number | null, days_back = 0): Given => ({
  at_ms: noon_ms - days_back * day_ms,
  available_kwh,
})

const clearAt = (start_ms: number) =>
  plantPhysics(plant, [{ start_ms, end_ms: start_ms + hour_ms }], [null]).clear_ratio[0]!

/** What persistence would have said of noon, by its error where the plant gave nothing. */
function persisted(lead_h: number, ...given: Given[]): number | null {
  const sums = scorerOf([noon(0), ...given])({ lead_h })
  assert.equal(sums.count, 1)
  return sums.persistence_count === 0 ? null : sums.persistence_abs_error
}

/** What the clear-sky index of an hour's energy gives at noon. */
const carried = (available_kwh: number, from_ms: number) =>
  (available_kwh / clearAt(from_ms)) * clearAt(noon_ms)

const assertNear = (value: number | null, by_hand: number) =>
  assert.ok(value !== null && Math.abs(value - by_hand) < 1e-9, `${value}, not ${by_hand}`)

test('smart persistence uses the last sky known at the issue of the forecast', () => {
  const known = [noon(30, 2), noon(60, 1)]
  assertNear(persisted(10, ...known), carried(60, noon_ms - day_ms))
  // Issued 23.5 hours before: the same hour of yesterday was not over.
  assertNear(persisted(23.5, ...known), carried(30, noon_ms - 2 * day_ms))
  assert.equal(persisted(10, noon(60, 5)), null)
})

test('shortly before the step it uses the last hour', () => {
  const morning = { at_ms: noon_ms - 2 * hour_ms, available_kwh: 20 }
  assertNear(persisted(1, noon(60, 1), morning), carried(20, noon_ms - 2 * hour_ms))
  assertNear(persisted(1, noon(60, 1)), carried(60, noon_ms - day_ms))
  assertNear(persisted(3, noon(60, 1), morning), carried(60, noon_ms - day_ms))
})

test('it does not use incomplete or reduced measurements', () => {
  const spoilt: Partial<Measurement>[] = [
    { is_curtailed: true },
    { is_faulty: true },
    { completeness_pct: 90 },
    { available_kwh: null },
  ]
  for (const change of spoilt) {
    const known = [noon(40, 2), { ...noon(10, 1), ...change }]
    assertNear(persisted(10, ...known), carried(40, noon_ms - 2 * day_ms))
  }
})

test('only known daylight is scored, and curtailed steps are counted', () => {
  const counts = (change: Partial<Measurement>) => {
    const { count, curtailed } = scorerOf([{ ...noon(50), ...change }])()
    return [count, curtailed]
  }
  assert.deepEqual(counts({}), [1, 0])
  assert.deepEqual(counts({ is_clipped: true }), [1, 0])
  assert.deepEqual(counts({ is_curtailed: true }), [0, 1])
  for (const change of [{ is_faulty: true }, { completeness_pct: 94 }, { available_kwh: null }]) {
    assert.deepEqual(counts(change), [0, 0])
  }
  assert.equal(scorerOf([])().count, 0)
  const midnight_ms = noon_ms + 12 * hour_ms
  const night = scorerOf([{ at_ms: midnight_ms, available_kwh: 0 }])
  assert.equal(night({ start_ms: midnight_ms }).count, 0)
})

test('the sky of a short step is not that of a longer one with the same start', () => {
  const dawn_ms = Date.UTC(2024, 5, 10, 2)
  const score = scorerOf([{ at_ms: dawn_ms, available_kwh: 0 }])
  // In its first quarter of an hour the sun is still down.
  assert.equal(score({ start_ms: dawn_ms, end_ms: dawn_ms + hour_ms / 4 }).count, 0)
  assert.equal(score({ start_ms: dawn_ms }).count, 1)
})

test('power is independent of the length of the step, and consumption counts as 0', () => {
  const short = scorerOf([noon(12)])({ end_ms: noon_ms + hour_ms / 4 })
  assertNear(scoresOf(short).bias, 50 - 48)
  assertNear(scoresOf(scorerOf([noon(-1)])()).bias, 50)
})
